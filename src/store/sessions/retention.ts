// Deletes sessions by age and size, and frees their disk space.
import type { SessionEvent } from '../../session/events/event';
import { decode, encode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';
import { type LeaseContext, ownerOf } from './leases';
import { deleteSession } from './sessionRows';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Time for which a session must have been too old, so that a wrong clock deletes nothing. */
const GRACE_MS = 3 * DAY_MS;
/** At most this fraction of all sessions is deleted per run, but always up to this number. */
const MAX_SHARE = 4;
const ALWAYS_ALLOWED = 10;
/** Maximum fraction for one session, so that it doesn't push out others. */
const SESSION_SHARE = 8;
const LARGE_ROW_BYTES = 4096;
const SHRUNK_AT_ONCE = 200;
const VACUUM_PAGES = 2000;

export interface PruneOptions {
  /** Sessions without events for longer are deleted, three days after this was first detected. */
  readonly maxAgeDays?: number;
  readonly maxBytes?: number;
}

export interface Pruned {
  readonly keys: readonly string[];
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface PruneHost {
  readonly file: () => Sql | undefined;
  readonly context: () => LeaseContext;
  readonly quietly: <T>(run: () => T) => T | undefined;
}

/**
 * Deletes old sessions in small steps.
 * @throws the reason of the signal
 */
export async function prune(host: PruneHost, options: PruneOptions, signal: AbortSignal): Promise<Pruned> {
  const keys: string[] = [];
  const file = host.file();
  if (!file) return { keys, bytesBefore: 0, bytesAfter: 0 };
  const bytesBefore = usedBytes(file);
  const { now } = host.context();
  host.quietly(() => markExpiring(file, options, now));
  await shrinkLarge(host, (options.maxBytes ?? Number.POSITIVE_INFINITY) / SESSION_SHARE, signal);
  for (const key of chooseOld(file, options, host.context())) {
    await pause(signal);
    const sql = host.file();
    if (sql && host.quietly(() => forget(sql, key, host.context()))) keys.push(key);
  }
  for (let more = true; more; ) {
    await pause(signal);
    const sql = host.file();
    more = sql !== undefined && host.quietly(() => giveBack(sql)) === true;
  }
  const sql = host.file();
  return { keys, bytesBefore, bytesAfter: sql ? usedBytes(sql) : 0 };
}

/** Removes the oldest outputs of calls and terminals from oversized sessions; messages stay. */
async function shrinkLarge(host: PruneHost, maxBytes: number, signal: AbortSignal): Promise<void> {
  const large = host.file()?.all('SELECT key, bytes FROM sessions WHERE bytes > ?', maxBytes) ?? [];
  for (const row of large) {
    const key = textOf(row.key) ?? '';
    let over = (numberOf(row.bytes) ?? 0) - maxBytes;
    for (let seq: number | undefined = 0; seq !== undefined && over > 0; ) {
      await pause(signal);
      const sql = host.file();
      const from: number = seq;
      const step = sql && host.quietly(() => shrink(sql, key, from, over, host.context()));
      over -= step?.freed ?? 0;
      seq = step?.next;
    }
  }
}

function shrink(
  sql: Sql,
  key: string,
  from: number,
  over: number,
  context: LeaseContext,
): { readonly freed: number; readonly next: number | undefined } {
  return sql.transaction(() => {
    const owner = ownerOf(sql, key, context);
    if (owner && !context.owns(key, owner.windowId)) return { freed: 0, next: undefined };
    const sentence = `SELECT seq, octet_length(json), type FROM events WHERE key = ? AND seq > ?
      ORDER BY seq LIMIT ${SHRUNK_AT_ONCE}`;
    const rows = sql.lists(sentence, key, from);
    let freed = 0;
    for (const [seq, size, type] of rows) {
      if (freed >= over) break;
      if ((numberOf(size) ?? 0) < LARGE_ROW_BYTES || !SHRUNK_TYPES.has(textOf(type) ?? '')) continue;
      const row = sql.get('SELECT json FROM events WHERE key = ? AND seq = ?', key, seq ?? null);
      const event = decode(row?.json);
      if (!event) continue;
      const json = encode(withoutOutput(event));
      sql.run('UPDATE events SET json = ? WHERE key = ? AND seq = ?', json, key, seq ?? null);
      freed += (numberOf(size) ?? 0) - json.length;
    }
    sql.run('UPDATE sessions SET bytes = max(0, bytes - ?) WHERE key = ?', freed, key);
    const last = rows.at(-1)?.[0];
    return { freed, next: rows.length === SHRUNK_AT_ONCE ? numberOf(last) : undefined };
  });
}

const SHRUNK_TYPES: ReadonlySet<string> = new Set(['tool_call', 'tool_content', 'terminal', 'unknown_update']);

function withoutOutput(event: SessionEvent): SessionEvent {
  const text = '[no longer kept: this session took too much room]';
  const note = { type: 'content', block: { type: 'text', text } } as const;
  switch (event.type) {
    case 'tool_call': {
      const { content, rawInput: _input, rawOutput: _output, ...patch } = event.patch;
      return { ...event, patch: { ...patch, content: content ? [note] : undefined } };
    }
    case 'tool_content':
      return { ...event, part: note };
    case 'terminal': {
      const { output: _output, append: _append, ...rest } = event;
      return { ...rest, output: '', truncated: true };
    }
    case 'unknown_update':
      return { ...event, raw: text };
    default:
      return event;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/** Notes since when sessions are too old, and forgets those that no longer are (wrong clock). */
function markExpiring(sql: Sql, { maxAgeDays }: PruneOptions, now: number): void {
  const oldest = maxAgeDays === undefined ? Number.NEGATIVE_INFINITY : now - maxAgeDays * DAY_MS;
  sql.transaction(() => {
    sql.run(
      'DELETE FROM expiring WHERE since > ? OR key NOT IN (SELECT key FROM sessions WHERE updated < ?)',
      now,
      oldest,
    );
    sql.run('INSERT OR IGNORE INTO expiring (key, since) SELECT key, ? FROM sessions WHERE updated < ?', now, oldest);
  });
}

/**
 * Ended ones first, oldest first; without owned ones and, if only the size is exceeded, those with
 * unsent messages or a draft.
 */
function chooseOld(sql: Sql, { maxBytes }: PruneOptions, context: LeaseContext): readonly string[] {
  const rows = sql.all(
    `SELECT key, bytes, (SELECT since FROM expiring x WHERE x.key = s.key) AS since,
       EXISTS (SELECT 1 FROM queue q WHERE q.key = s.key AND q.state != 'accepted')
         OR EXISTS (SELECT 1 FROM drafts d WHERE d.key = s.key AND json_extract(d.json, '$.text') IS NOT NULL) AS unsent
       FROM sessions s ORDER BY ended_at IS NULL, updated, key`,
  );
  const most = Math.max(ALWAYS_ALLOWED, Math.floor(rows.length / MAX_SHARE));
  const total = rows.reduce((sum, row) => sum + (numberOf(row.bytes) ?? 0), 0);
  // Indexes and free space within pages are attributed to sessions in proportion to their size.
  const scale = total === 0 ? 1 : Math.max(1, usedBytes(sql) / total);
  let left = total * scale;
  const chosen: string[] = [];
  for (const row of rows) {
    const key = textOf(row.key) ?? '';
    if (chosen.length >= most) break;
    const since = numberOf(row.since);
    const isOld = since !== undefined && context.now - since >= GRACE_MS;
    const isTooMuch = maxBytes !== undefined && left > maxBytes && row.unsent === 0;
    if ((!isOld && !isTooMuch) || ownerOf(sql, key, context)) continue;
    chosen.push(key);
    left -= (numberOf(row.bytes) ?? 0) * scale;
  }
  return chosen;
}

/** Does nothing if it was opened since. @returns whether it was deleted */
function forget(sql: Sql, key: string, context: LeaseContext): boolean {
  return sql.transaction(() => {
    if (ownerOf(sql, key, context)) return false;
    deleteSession(sql, key);
    return true;
  });
}

function usedBytes(sql: Sql): number {
  return (sql.pragma('page_count') - sql.pragma('freelist_count')) * sql.pragma('page_size');
}

function giveBack(sql: Sql): boolean {
  const before = sql.pragma('freelist_count');
  sql.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
  const after = sql.pragma('freelist_count');
  return after > 0 && after < before;
}
