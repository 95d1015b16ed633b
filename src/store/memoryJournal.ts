// An in-memory database for use while the file cannot be written. It has the sessions changed
// since; their earlier events stay in the file if it is readable. Everything is merged into the
// file once that is writable.
import type { SessionEvent } from '../session/events/event';
import { appendRows } from './events/eventRows';
import { prepare } from './file/journalFile';
import { migrate, SIDE_TABLES } from './file/schema';
import { numberOf, type Row, Sql, textOf } from './file/sql';
import { deleteSession } from './sessions/sessionRows';

const PAGE = 4096;

interface Adopted {
  readonly base: number;
  readonly blind: boolean;
}

export class MemoryJournal {
  readonly sql = new Sql(':memory:');
  readonly #adopted = new Map<string, Adopted>();
  readonly #deleted = new Set<string>();
  readonly #lostEvents = new Map<string, number>();

  constructor(maxBytes: number) {
    prepare(this.sql, 0);
    migrate(this.sql);
    this.sql.exec(`PRAGMA max_page_count = ${Math.max(64, Math.ceil(maxBytes / PAGE))}`);
  }

  holds(key: string): boolean {
    return this.#adopted.has(key) || this.#deleted.has(key);
  }

  get keys(): Iterable<string> {
    return [...this.#adopted.keys(), ...this.#deleted];
  }

  baseOf(key: string): number {
    return this.#adopted.get(key)?.base ?? 0;
  }

  adopt(key: string, file: Sql | undefined, refill: (sql: Sql) => void): void {
    if (this.#adopted.has(key)) return;
    if (this.#deleted.has(key)) {
      this.#adopted.set(key, { base: 0, blind: false });
      return;
    }
    if (!file) {
      this.#adoptBlind(key, refill);
      return;
    }
    let rows: readonly (readonly [table: string, row: Row])[];
    try {
      // A window of a later version may have added columns; they stay in the file.
      rows = ['sessions', ...SIDE_TABLES].flatMap((table) =>
        file
          .all(`SELECT ${this.#columnsOf(table)} FROM ${table} WHERE key = ?`, key)
          .map((row) => [table, row] as const),
      );
    } catch {
      this.#adoptBlind(key, refill);
      return;
    }
    this.sql.transaction(() => {
      for (const [table, row] of rows) this.sql.insert(table, row);
    });
    this.#adopted.set(key, { base: numberOf(rows[0]?.[1].last_seq) ?? 0, blind: false });
  }

  delete(key: string): void {
    deleteSession(this.sql, key);
    this.#adopted.delete(key);
    this.#deleted.add(key);
  }

  noteLost(key: string, count: number): void {
    this.#lostEvents.set(key, (this.#lostEvents.get(key) ?? 0) + count);
  }

  /** @throws the error of the file, which is then unchanged */
  mergeInto(file: Sql, now: number): void {
    file.transaction(() => {
      for (const key of this.#deleted) deleteSession(file, key);
      for (const [key, adopted] of this.#adopted) this.#merge(file, key, adopted);
      for (const [key, count] of this.#lostEvents) {
        const event: SessionEvent = {
          type: 'notice',
          severity: 'warning',
          title: '',
          said: { code: 'events-lost', args: [count] },
          own: true,
        };
        appendRows(file, key, [{ at: now, event }], undefined);
      }
    });
  }

  close(): void {
    this.sql.close();
  }

  #columnsOf(table: string): string {
    const columns = this.sql.all('SELECT name FROM pragma_table_info(?)', table);
    return columns.map(({ name }) => textOf(name)).join(', ');
  }

  #adoptBlind(key: string, refill: (sql: Sql) => void): void {
    this.sql.transaction(() => refill(this.sql));
    this.#adopted.set(key, { base: 0, blind: true });
  }

  #merge(file: Sql, key: string, { base, blind }: Adopted): void {
    const row = this.sql.get('SELECT * FROM sessions WHERE key = ?', key);
    if (!row) return;
    const existing = file.get('SELECT * FROM sessions WHERE key = ?', key);
    const lastThere = numberOf(existing?.last_seq) ?? 0;
    const shift = lastThere - base;
    const lastHere = numberOf(row.last_seq) ?? 0;
    const bytes = existing ? (numberOf(existing.bytes) ?? 0) + this.#bytesOf(key) : (numberOf(row.bytes) ?? 0);
    const merged = {
      ...row,
      bytes,
      last_seq: lastHere + shift,
      indexed_seq: numberOf(existing?.indexed_seq) ?? 0,
      tools_seq: numberOf(existing?.tools_seq) ?? 0,
      cleared_seq: this.#lastClearedSeq(key, shift) ?? numberOf(existing?.cleared_seq) ?? 0,
      ...(blind && existing && { created: existing.created ?? 0, title: row.title ?? existing.title ?? null }),
    };
    file.upsert('sessions', merged);
    for (const table of SIDE_TABLES) this.#mergeSide(file, table, key, blind);
    const newest = this.sql.all('SELECT * FROM events WHERE key = ? AND seq > ? ORDER BY seq', key, base);
    for (const event of newest) file.insert('events', { ...event, seq: (numberOf(event.seq) ?? 0) + shift });
  }

  #mergeSide(file: Sql, table: string, key: string, blind: boolean): void {
    if (table === 'leases') {
      // A window that has taken over the session keeps it.
      for (const lease of this.sql.all('SELECT * FROM leases WHERE key = ?', key)) {
        file.insert(table, lease, 'INSERT OR IGNORE');
      }
      return;
    }
    if (!blind) file.run(`DELETE FROM ${table} WHERE key = ?`, key);
    for (const row of this.sql.all(`SELECT * FROM ${table} WHERE key = ?`, key)) {
      if (table === 'queue') file.insert(table, { ...row, id: freeId(file, key, textOf(row.id) ?? '') });
      else file.insert(table, row, 'INSERT OR REPLACE');
    }
  }

  #bytesOf(key: string): number {
    return numberOf(this.sql.get('SELECT sum(octet_length(json)) AS n FROM events WHERE key = ?', key)?.n) ?? 0;
  }

  #lastClearedSeq(key: string, shift: number): number | undefined {
    const row = this.sql.get("SELECT max(seq) AS n FROM events WHERE key = ? AND type = 'cleared'", key);
    const seq = numberOf(row?.n);
    return seq === undefined ? undefined : seq + shift;
  }
}

/** Never replaces a queued message by another one with the same id. */
function freeId(file: Sql, key: string, id: string): string {
  let free = id;
  while (file.get('SELECT 1 FROM queue WHERE key = ? AND id = ?', key, free)) free += '~';
  return free;
}
