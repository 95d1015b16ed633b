// Brings the search index up to date in small steps: some events of some sessions at a time, the
// sessions with the newest events first.
import { roughSize } from '../../base/text';
import { decode } from '../events/rowCodec';
import { numberOf, type Sql, textOf } from '../file/sql';
import type { IndexedKind, IndexedRow } from './indexedKind';
import { MESSAGES } from './searchText';
import { TOOL_CALLS } from './searchTools';

/** What one step reads at most. It reads at least one row, however large, to make progress. */
export interface IndexLimits {
  readonly rows: number;
  readonly chars: number;
}

/** Limits of a background step, which takes a few milliseconds. */
export const INDEX_STEP: IndexLimits = { rows: 500, chars: 64 * 1024 };

const MAX_PASSED = 5000;
const KINDS: readonly IndexedKind[] = [MESSAGES, TOOL_CALLS];

/**
 * Indexes all but the last row, which can still grow.
 * @returns whether there is more
 */
export function indexNew(sql: Sql, limits: IndexLimits): boolean {
  const left = { ...limits };
  for (const kind of KINDS) {
    for (const { key } of sql.all(waiting(kind))) {
      if (left.rows <= 0 || left.chars <= 0) return true;
      while (indexSome(sql, kind, textOf(key) ?? '', false, left)) if (left.rows <= 0 || left.chars <= 0) return true;
    }
  }
  return false;
}

/**
 * Indexes a session that no window writes to.
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

function indexSome(
  sql: Sql,
  { progress, types, textsOf }: IndexedKind,
  key: string,
  final: boolean,
  left: { rows: number; chars: number },
): boolean {
  return sql.transaction(() => {
    const session = sql.get(`SELECT ${progress} AS done, last_seq FROM sessions WHERE key = ?`, key);
    const from = (numberOf(session?.done) ?? 0) + 1;
    const last = numberOf(session?.last_seq) ?? 0;
    const passed = Math.min(last, from + MAX_PASSED - 1);
    const { rows, end, isGrowing } = readSome(
      sql,
      types,
      { key, from, to: passed, last: final ? undefined : last },
      left,
    );
    const { texts, next } = textsOf(rows, end < last);
    for (const text of texts) sql.insert('texts', { key, ...text });
    const done = next !== undefined ? next - 1 : isGrowing ? last - 1 : end;
    if (done >= from) sql.run(`UPDATE sessions SET ${progress} = ? WHERE key = ?`, done, key);
    return done >= from && done < last && !isGrowing;
  });
}

interface Range {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly last: number | undefined;
}

/**
 * Takes a step's reading from the limits, by decoded size: a row deflates up to a hundredfold.
 */
function readSome(
  sql: Sql,
  types: string,
  { key, from, to, last }: Range,
  left: { rows: number; chars: number },
): { rows: IndexedRow[]; end: number; isGrowing: boolean } {
  const rows: IndexedRow[] = [];
  let end = from - 1;
  const sentence = `SELECT seq, type, json FROM events
    WHERE key = ? AND seq BETWEEN ? AND ? AND type IN (${types}) ORDER BY seq`;
  for (const [number, type, json] of sql.rows(sentence, key, from, to)) {
    const seq = numberOf(number) ?? 0;
    if (rows.length > 0 && (left.rows <= 0 || left.chars <= 0)) return { rows, end, isGrowing: false };
    if (seq === last && type === 'message_chunk') return { rows, end, isGrowing: true };
    left.rows--;
    end = seq;
    const event = decode(json);
    if (!event) continue;
    left.chars -= roughSize(event, INDEX_STEP.chars);
    rows.push({ seq, event });
  }
  return { rows, end: to, isGrowing: false };
}
