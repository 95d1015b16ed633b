// Brings the search index up to date in small steps: some events of some sessions at a time, the
// sessions with the newest events first.
import { decode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';
import type { IndexedKind } from './indexedKind';
import { MESSAGES } from './searchText';
import { TOOL_CALLS } from './searchTools';

/** What one step reads at most. It reads at least one row, however large, to make progress. */
export interface IndexLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Limits of a step that nobody waits for; a few milliseconds. */
export const INDEX_STEP: IndexLimits = { rows: 500, bytes: 512 * 1024 };

/** Rows of any type that are passed in one step. */
const MAX_PASSED = 5000;
const KINDS: readonly IndexedKind[] = [MESSAGES, TOOL_CALLS];

/**
 * Indexes new events. A session whose last message can still grow is indexed without its last row.
 * @returns whether there is more
 */
export function indexNew(sql: Sql, limits: IndexLimits): boolean {
  const left = { ...limits };
  for (const kind of KINDS) {
    for (const { key } of sql.all(waiting(kind))) {
      if (left.rows <= 0 || left.bytes <= 0) return true;
      while (indexSome(sql, kind, textOf(key) ?? '', false, left)) if (left.rows <= 0 || left.bytes <= 0) return true;
    }
  }
  return false;
}

/**
 * Indexes new events of a session that no window writes to, with its last row.
 * @returns whether there is more
 */
export function indexRest(sql: Sql, key: string, limits: IndexLimits): boolean {
  return indexSome(sql, MESSAGES, key, true, { ...limits });
}

/** Sessions with something to index, newest first. A message that can still grow waits. */
function waiting({ progress }: IndexedKind): string {
  return `SELECT key FROM sessions WHERE ${progress} < last_seq AND NOT ('${progress}' = 'indexed_seq'
      AND indexed_seq = last_seq - 1
      AND (SELECT type FROM events WHERE key = sessions.key AND seq = sessions.last_seq) = 'message_chunk')
    ORDER BY updated DESC`;
}

/** @returns whether there is more of this session */
function indexSome(
  sql: Sql,
  { progress, types, textsOf }: IndexedKind,
  key: string,
  final: boolean,
  left: { rows: number; bytes: number },
): boolean {
  return sql.transaction(() => {
    const session = sql.get(`SELECT ${progress} AS done, last_seq FROM sessions WHERE key = ?`, key);
    const from = (numberOf(session?.done) ?? 0) + 1;
    const last = numberOf(session?.last_seq) ?? 0;
    const passed = Math.min(last, from + MAX_PASSED - 1);
    const fits = fitting(sql, types, key, from, passed, left);
    const sentence = `SELECT seq, type, json FROM events WHERE key = ? AND seq BETWEEN ? AND ? AND type IN (${types}) ORDER BY seq`;
    const read = sql.all(sentence, key, from, fits);
    const isGrowing = !final && read.at(-1)?.seq === last && read.at(-1)?.type === 'message_chunk';
    const rows = read.slice(0, isGrowing ? -1 : undefined).flatMap(({ seq, json }) => {
      const event = decode(json);
      return event ? [{ seq: numberOf(seq) ?? 0, event }] : [];
    });
    const { texts, next } = textsOf(rows, fits < last);
    for (const text of texts) sql.insert('texts', { key, ...text });
    const done = next !== undefined ? next - 1 : isGrowing ? last - 1 : fits;
    if (done >= from) sql.run(`UPDATE sessions SET ${progress} = ? WHERE key = ?`, done, key);
    return done >= from && done < last && !isGrowing;
  });
}

/** Returns the position up to which a step reads, and takes what it reads from the limits. */
function fitting(
  sql: Sql,
  types: string,
  key: string,
  from: number,
  to: number,
  left: { rows: number; bytes: number },
): number {
  const sentence = `SELECT seq, octet_length(json) AS bytes FROM events
    WHERE key = ? AND seq BETWEEN ? AND ? AND type IN (${types}) ORDER BY seq LIMIT ?`;
  const sizes = sql.all(sentence, key, from, to, left.rows + 1);
  let until = from - 1;
  for (const [index, { seq, bytes }] of sizes.entries()) {
    const size = numberOf(bytes) ?? 0;
    if (index > 0 && (left.rows <= 0 || size > left.bytes)) return until;
    left.rows--;
    left.bytes -= size;
    until = numberOf(seq) ?? until;
  }
  return to;
}
