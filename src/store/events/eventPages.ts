// Which events of a session are read: all, from a point on, what came since, or the end.
import * as z from 'zod/mini';
import type { Mark } from '../../session/events/event';
import { readJson } from '../file/json';
import { numberOf, type Sql, textOf } from '../file/sql';
import { type Cursor, type EventPage, readRows, toPage } from './eventRows';

export interface EventQuery {
  /** First sequence number. */
  readonly from?: number;
  /** Last sequence number. */
  readonly to?: number;
  /** Rows at most; a row is one event, or a stretch of one message. */
  readonly limit?: number;
  /** Bytes of all rows at most; one row is read in any case. */
  readonly maxBytes?: number;
  /** Only what came since a page was read; `from` is not used then. */
  readonly after?: Cursor;
}

/** Where the events of sessions are: on the disk, in memory, or in both. */
export interface EventSource {
  /** Reads of a session where its newest state is. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  /** Reads of all places that have something of a session, in the order of its events; `to` is the last event to be read there. */
  readAll<T>(key: string, query: (sql: Sql, to: number) => T): readonly T[];
}

/** Rows that are looked at to find where the end of a session begins. */
const MAX_TAIL_ROWS = 5000;
/** About the bytes of text of an end after which it is long enough, however few entries it has. */
const MAX_TAIL_BYTES = 1024 * 1024;
/** Bytes of text of a deflated row, by each of its own: outputs of tools shrink to about so much. */
const DEFLATED = 8;

const markSchema = z.optional(z.object({ entries: z.number(), turns: z.number(), turn: z.optional(z.string()) }));

/** The mark of a column; undefined where there is none. */
export function readMark(json: string | undefined): Mark | undefined {
  const mark = readJson(json, markSchema, undefined);
  if (!mark) return undefined;
  const { entries, turns, turn } = mark;
  return { entries, turns, ...(turn !== undefined && { turn }) };
}

/** Reads events in their order. */
export function readEvents(source: EventSource, key: string, query: EventQuery): EventPage {
  const { after, limit = Number.MAX_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER, maxBytes } = query;
  const from = after ? after.seq : (query.from ?? 1);
  let room = limit;
  const rows = source
    .readAll(key, (sql, end) => {
      const range = {
        from,
        to: Math.min(to, end),
        limit: room,
        ...(maxBytes !== undefined && { maxBytes }),
        // Of all rows, only those of a text can grow.
        ...(after?.chars === 0 && { known: after.seq }),
      };
      const part = readRows(sql, key, range);
      room -= part.length;
      return part;
    })
    .flat();
  return toPage(rows, after);
}

/**
 * Where the end of a session begins that has at least so many entries, or is a megabyte of text: the number of its first row,
 * and what stands before it. Nothing before the last `cleared` is part of it. It costs the same however long the session is.
 * @returns undefined where the session is shorter, or of a version that noted no marks
 */
export function readTail(source: EventSource, key: string, entries: number): { from: number; mark: Mark } | undefined {
  return source.read(key, (sql) => {
    const cleared = numberOf(sql.get('SELECT cleared_seq FROM sessions WHERE key = ?', key)?.cleared_seq) ?? 0;
    const sentence = `SELECT seq, octet_length(json) * iif(typeof(json) = 'blob', ${DEFLATED}, 1), mark FROM events WHERE key = ? AND seq > ?
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
