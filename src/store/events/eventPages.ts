// Reads the events of a session: all, from a number, after an earlier page, or the end.
import * as z from 'zod/mini';
import type { Mark, SessionEvent } from '../../session/events/event';
import { numberOf, readJson, type Sql, textOf } from '../file/sql';
import { type Cursor, type EventPage, READ_SIZE, readRows, toPage } from './eventRows';

export interface EventQuery {
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  /** Maximum bytes of all rows; at least one row is read. */
  readonly maxBytes?: number;
  /** Only events after an earlier page; replaces `from`. */
  readonly after?: Cursor;
  readonly types?: readonly SessionEvent['type'][];
}

export interface EventSource {
  read<T>(key: string, query: (sql: Sql) => T): T;
  readAll<T>(key: string, query: (sql: Sql, to: number) => T): readonly T[];
}

const MAX_TAIL_ROWS = 5000;
const MAX_TAIL_BYTES = 1024 * 1024;

const markSchema = z.optional(z.object({ entries: z.number(), turns: z.number(), turn: z.optional(z.string()) }));

export function readMark(json: string | undefined): Mark | undefined {
  const mark = readJson(json, markSchema, undefined);
  if (!mark) return undefined;
  const { entries, turns, turn } = mark;
  return { entries, turns, turn };
}

export function readEvents(source: EventSource, key: string, query: EventQuery): EventPage {
  const { after, limit = Number.MAX_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER, maxBytes, types } = query;
  const from = after ? after.seq : (query.from ?? 1);
  let room = limit;
  const rows = source
    .readAll(key, (sql, end) => {
      const range = {
        from,
        to: Math.min(to, end),
        limit: room,
        maxBytes,
        types,
        known: after?.chars === 0 ? after.seq : undefined,
      };
      const part = readRows(sql, key, range);
      room -= part.length;
      return part;
    })
    .flat();
  return toPage(rows, after);
}

export function readSize(source: EventSource, key: string): number {
  const find = `SELECT sum(${READ_SIZE}) AS size FROM events WHERE key = ?`;
  return source.readAll(key, (sql) => numberOf(sql.get(find, key)?.size) ?? 0).reduce((sum, size) => sum + size, 0);
}

/**
 * Finds where the last `entries` or last megabyte start, without reading all.
 * @returns undefined if the session is shorter or was saved without marks
 */
export function readTail(source: EventSource, key: string, entries: number): { from: number; mark: Mark } | undefined {
  return source.read(key, (sql) => {
    const cleared = numberOf(sql.get('SELECT cleared_seq FROM sessions WHERE key = ?', key)?.cleared_seq) ?? 0;
    const sentence = `SELECT seq, ${READ_SIZE}, mark FROM events WHERE key = ? AND seq > ?
      ORDER BY seq DESC LIMIT ${MAX_TAIL_ROWS}`;
    let newest: Mark | undefined;
    let found: { from: number; mark: Mark } | undefined;
    let bytes = 0;
    for (const [seq, size, json] of sql.rows(sentence, key, cleared)) {
      bytes += numberOf(size) ?? 0;
      const mark = readMark(textOf(json));
      if (!mark) continue;
      newest ??= mark;
      found = { from: numberOf(seq) ?? 0, mark };
      if (newest.entries - mark.entries >= entries || bytes > MAX_TAIL_BYTES) return found;
    }
    return found;
  });
}
