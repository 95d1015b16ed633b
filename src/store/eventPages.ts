// Which events of a session are read: all, from a point on, what came since, or the last page.
import type { Backing } from './backing';
import { type Cursor, type EventPage, readRows, toPage } from './eventRows';
import { numberOf, type Sql } from './sql';

export interface EventQuery {
  /** First sequence number. */
  readonly from?: number;
  /** Rows at most; a row is one event, or a stretch of up to 8 KiB of one message. */
  readonly limit?: number;
  /** Only what came since a page was read; `from` is not used then. */
  readonly after?: Cursor;
  /** The last rows, about so many; `from` and `after` are not used then. */
  readonly last?: number;
  /** With `last`: only rows before this sequence number, for the page before a page. */
  readonly before?: number;
}

/** A last page grows to the beginning of its first turn, up to this many times its size. */
const MAX_GROWTH = 4;

/**
 * Reads events in their order.
 *
 * The last page costs the same however long the session is: events lie in the order of their session and number, and the turns know their first event. It begins
 * where a turn begins (unless that turn alone is four times the page), so that the reducer makes the same entries of it as of the whole; `firstSeq` tells whether
 * there is more before it. Entry numbers of such a page count from its own beginning. Nothing before the last `cleared` is part of a last page.
 */
export function readEvents(backing: Backing, key: string, query: EventQuery): EventPage {
  const { after, last, limit = Number.MAX_SAFE_INTEGER } = query;
  if (last !== undefined) {
    const to = query.before === undefined ? Number.MAX_SAFE_INTEGER : query.before - 1;
    const from = backing.read(key, (sql) => startOfPage(sql, key, Math.max(1, last), to));
    return readBetween(backing, key, from, to, Number.MAX_SAFE_INTEGER, undefined);
  }
  return readBetween(backing, key, after ? after.seq : (query.from ?? 1), Number.MAX_SAFE_INTEGER, limit, after);
}

function readBetween(
  backing: Backing,
  key: string,
  from: number,
  to: number,
  limit: number,
  after: Cursor | undefined,
): EventPage {
  let room = limit;
  const rows = backing
    .readAll(key, (sql, end) => {
      const part = readRows(sql, key, { from, to: Math.min(to, end), limit: room });
      room -= part.length;
      return part;
    })
    .flat();
  return toPage(rows, after);
}

function startOfPage(sql: Sql, key: string, rows: number, to: number): number {
  const session = sql.get('SELECT last_seq, cleared_seq FROM sessions WHERE key = ?', key);
  const end = Math.min(to, numberOf(session?.last_seq) ?? 0);
  const first = Math.max(1, end - rows + 1);
  const sentence = 'SELECT max(first_seq) AS seq FROM turns WHERE key = ? AND first_seq <= ?';
  const turn = numberOf(sql.get(sentence, key, first)?.seq) ?? 1;
  const aligned = end - turn < MAX_GROWTH * rows ? turn : first;
  return Math.max(aligned, numberOf(session?.cleared_seq) ?? 0);
}
