// Small, frequently replaced values of sessions: a draft being typed, the scroll position, how far
// the lines of a background agent were read. The stream file has every version; their tables get
// the latest with the next bulk write.
import type { Sql } from '../file/sql';

export type SideTable = 'drafts' | 'views' | 'progress';

export function isSideTable(name: unknown): name is SideTable {
  return name === 'drafts' || name === 'views' || name === 'progress';
}

export type Notes = ReadonlyMap<SideTable, string>;

export class SideNotes {
  readonly #sessions = new Map<string, Map<SideTable, string>>();

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  get(key: string, table: SideTable): string | undefined {
    return this.#sessions.get(key)?.get(table);
  }

  set(key: string, table: SideTable, json: string): void {
    const notes = this.#sessions.get(key) ?? new Map<SideTable, string>();
    this.#sessions.set(key, notes.set(table, json));
  }

  get keys(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  has(key: string): boolean {
    return this.#sessions.has(key);
  }

  take(keys: readonly string[]): ReadonlyMap<string, Notes> {
    const taken = new Map<string, Notes>();
    for (const key of keys) {
      const notes = this.#sessions.get(key);
      if (notes) taken.set(key, notes);
      this.#sessions.delete(key);
    }
    return taken;
  }

  forget(key: string): void {
    this.#sessions.delete(key);
  }
}

export function writeNotes(sql: Sql, key: string, notes: Notes): void {
  for (const [table, json] of notes) sql.insert(table, { key, json }, 'INSERT OR REPLACE');
}
