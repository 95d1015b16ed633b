// The table of events: writes them in order with derived values (title, size, position in the
// history) and reads pages of them.
import type { EventOf, SessionEvent, TimedEvent } from '../../session/events/event';
import { numberOf, type Sql } from '../file/sql';
import { join, type PendingRow, unjoin } from './eventBuffer';
import { decode, encode } from './rowCodec';
import { Superseded } from './superseded';

const PREVIEW_CHARS = 200;
const MIN_REWRITTEN_CHARS = 2048;

export class WrittenRows {
  tail: { readonly seq: number; readonly row: PendingRow; readonly bytes: number } | undefined;
  written: number | undefined;
  #sql: Sql | undefined;
  #saved = 0;
  hasCleared = false;
  readonly superseded: Superseded<number>;

  constructor(key: string) {
    this.superseded = new Superseded<number>((seq, event) => {
      const left = encode(event ?? NOTHING);
      const size = 'SELECT octet_length(json) AS size FROM events WHERE key = ? AND seq = ?';
      const bytes = numberOf(this.#sql?.get(size, key, seq)?.size);
      if (bytes === undefined) return;
      this.#sql?.run('UPDATE events SET json = ? WHERE key = ? AND seq = ?', left, key, seq);
      this.#saved += bytes - bytesOf(left);
    }, MIN_REWRITTEN_CHARS);
  }

  add(sql: Sql, event: SessionEvent, seq: number): number {
    this.#sql = sql;
    this.#saved = 0;
    this.superseded.add(event, seq);
    this.#sql = undefined;
    return this.#saved;
  }
}

const NOTHING: SessionEvent = { type: 'info' };

/**
 * @param memory earlier writes of this process: its last row can grow, superseded rows shrink
 * @returns whether the session exists
 */
export function appendRows(sql: Sql, key: string, rows: readonly PendingRow[], memory = new WrittenRows(key)): boolean {
  const session = sql.get('SELECT last_seq, preview, written FROM sessions WHERE key = ?', key);
  let seq = numberOf(session?.last_seq);
  if (!session || seq === undefined) return false;
  let bytes = 0;
  let updated = 0;
  let cleared: number | undefined;
  let title: string | null | undefined;
  let preview: string | undefined;
  let last = memory.tail?.seq === seq ? memory.tail : undefined;
  for (const [index, next] of rows.entries()) {
    const joined = index === 0 && last ? join(last.row, next) : undefined;
    const row = joined ?? next;
    if (!joined) seq++;
    const { at, until, event, mark } = row;
    const json = encode(event);
    const size = bytesOf(json);
    if (joined) {
      sql.run('UPDATE events SET until = ?, json = ? WHERE key = ? AND seq = ?', until ?? null, json, key, seq);
      bytes -= last?.bytes ?? 0;
    } else {
      const sentence = 'INSERT INTO events (key, seq, at, until, type, json, mark) VALUES (?, ?, ?, ?, ?, ?, ?)';
      sql.run(sentence, key, seq, at, until ?? null, event.type, json, mark ? JSON.stringify(mark) : null);
      bytes -= memory.add(sql, event, seq);
    }
    bytes += size;
    updated = Math.max(updated, until ?? at);
    if (event.type === 'cleared') cleared = seq;
    if (event.type === 'info' && event.title !== undefined) title = event.title;
    if (event.type === 'prompt_sent') preview ??= previewOf(event);
    last = { seq, row, bytes: size };
  }
  const written = (numberOf(session.written) ?? 0) + 1;
  sql.run(
    `UPDATE sessions SET last_seq = ?, written = ?, bytes = bytes + ?, updated = max(updated, ?),
       cleared_seq = coalesce(?, cleared_seq), title = CASE WHEN ? THEN ? ELSE title END,
       preview = coalesce(preview, ?) WHERE key = ?`,
    seq,
    written,
    bytes,
    updated,
    cleared ?? null,
    title === undefined ? 0 : 1,
    title ?? null,
    preview ?? null,
    key,
  );
  memory.tail = last;
  if (cleared !== undefined) memory.hasCleared = true;
  memory.written = written;
  return true;
}

function bytesOf(column: string | Uint8Array): number {
  return typeof column === 'string' ? Buffer.byteLength(column) : column.length;
}

export interface Cursor {
  readonly seq: number;
  readonly chars: number;
}

export interface EventPage {
  readonly events: readonly TimedEvent[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly cursor: Cursor;
}

export interface RowRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Two rows are read in any case, so that a reader gets past its known row. */
  readonly maxBytes?: number;
  /** A row that the reader has and that cannot grow; its event is not read again. */
  readonly known?: number;
  readonly types?: readonly SessionEvent['type'][];
}

export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly until: number | undefined;
  readonly json: unknown;
}

export const READ_SIZE = "octet_length(json) * iif(typeof(json) = 'blob', 8, 1)";
const OF_TYPES = 'AND type IN (SELECT value FROM json_each(?))';

export function readRows(sql: Sql, key: string, range: RowRange): EventRow[] {
  const { from, limit, known = 0, types } = range;
  const to = range.maxBytes === undefined ? range.to : lastWithin(sql, key, range, range.maxBytes);
  const sentence = `SELECT seq, at, until, CASE WHEN seq = ? THEN NULL ELSE json END FROM events
    WHERE key = ? AND seq BETWEEN ? AND ? ${types ? OF_TYPES : ''} ORDER BY seq LIMIT ?`;
  const wanted = types ? [JSON.stringify(types)] : [];
  return sql.lists(sentence, known, key, from, to, ...wanted, limit).map(([seq, at, until, json]) => ({
    seq: numberOf(seq) ?? 0,
    at: numberOf(at) ?? 0,
    until: numberOf(until),
    json,
  }));
}

/** Estimates the decoded size of rows: a deflated one is mostly repetitive text. */
function lastWithin(sql: Sql, key: string, { from, to, limit, known }: RowRange, maxBytes: number): number {
  const sentence = `SELECT seq, ${READ_SIZE} FROM events WHERE key = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`;
  let last = from;
  let bytes = 0;
  for (const [index, [seq, size]] of sql.lists(sentence, key, from, to, limit).entries()) {
    bytes += seq === known ? 0 : (numberOf(size) ?? 0);
    if (bytes > maxBytes && index > 1) break;
    last = numberOf(seq) ?? last;
  }
  return last;
}

/** Leaves out damaged rows, and the part of the first one that the reader has. */
export function toPage(rows: readonly EventRow[], after: Cursor | undefined): EventPage {
  const events: TimedEvent[] = [];
  let cursor: Cursor = after ?? { seq: 0, chars: 0 };
  for (const { seq, at, until, json } of rows) {
    const event = decode(json);
    const chars = event?.type === 'message_chunk' && event.block.type === 'text' ? event.block.text.length : 0;
    const seen = after?.seq === seq ? after.chars : undefined;
    cursor = { seq, chars };
    if (!event || (seen !== undefined && seen >= chars)) continue;
    if (seen !== undefined && event.type === 'message_chunk' && event.block.type === 'text') {
      const text = event.block.text.slice(seen);
      events.push({ at: until ?? at, event: { ...event, block: { ...event.block, text } } });
    } else if (until === undefined) events.push({ at, event });
    else events.push(...unjoin({ at, until, event }));
  }
  return { events, firstSeq: rows[0]?.seq ?? 0, lastSeq: rows.at(-1)?.seq ?? 0, cursor };
}

/** Event types that the model discards on `cleared`. */
const WIPED = [
  ...[
    'message_chunk',
    'message_ended',
    'message',
    'prompt_sent',
    'prompt_inserted',
    'tool_call',
    'tool_content',
    'terminal',
    'plan',
  ],
  ...['plan_document', 'plan_removed', 'subagent', 'subagent_said', 'subagent_did', 'subagents_ended'],
  ...[
    'session_message',
    'notice',
    'unknown_update',
    'error',
    'compaction',
    'turn_started',
    'turn_ended',
    'turn_reason',
  ],
  ...[
    'cancel_requested',
    'cleared',
    'ids_renewed',
    'gap',
    'gaps',
    'gap_filled',
    'gaps_filled',
    'restored',
    'replay_resumed',
    'replay_ended',
    'replayed_turn',
    'replayed_end',
    'prompt_suggestion',
  ],
];

const DROPPED_AT_ONCE = 300;

/** Deletes some events before the last `cleared`. Returns whether there are more. */
export function dropCleared(sql: Sql, key: string): boolean {
  const end = numberOf(sql.get('SELECT cleared_seq AS seq FROM sessions WHERE key = ?', key)?.seq) ?? 0;
  const wiped = WIPED.map((type) => `'${type}'`).join(', ');
  const some = `SELECT seq, octet_length(json) FROM events WHERE key = ? AND seq < ? AND type IN (${wiped}) LIMIT ?`;
  const rows = sql.lists(some, key, end, DROPPED_AT_ONCE);
  for (const [seq] of rows) sql.run('DELETE FROM events WHERE key = ? AND seq = ?', key, seq ?? null);
  const texts = 'DELETE FROM texts WHERE id IN (SELECT id FROM texts WHERE key = ? AND seq < ? LIMIT ?)';
  const deleted = sql.run(texts, key, end, DROPPED_AT_ONCE);
  const bytes = rows.reduce((sum, [, size]) => sum + (numberOf(size) ?? 0), 0);
  sql.run('UPDATE sessions SET bytes = max(0, bytes - ?) WHERE key = ?', bytes, key);
  return rows.length === DROPPED_AT_ONCE || deleted === DROPPED_AT_ONCE;
}

function previewOf(event: EventOf<'prompt_sent'>): string | undefined {
  const text = event.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
  return (
    text
      .slice(0, 4 * PREVIEW_CHARS)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, PREVIEW_CHARS) || undefined
  );
}
