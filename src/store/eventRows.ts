// Events in their table: written in order with what follows from them (turns, title, size), read by pages.
import type { SessionEvent, TimedEvent } from '../session/event';
import { join, type PendingRow, unjoin } from './eventBuffer';
import { numberOf, type Sql, textOf } from './sql';
import { TurnNotes } from './turnRows';

/** Characters of the JSON of one event; a picture fits. What is larger is replaced by a notice that says so. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;
const PREVIEW_CHARS = 200;

/** The last row of a session, which may still grow. */
export interface Tail {
  readonly seq: number;
  readonly row: PendingRow;
}

/**
 * Adds rows to a session.
 * @param tail the row that this process wrote last; grown in place where the first new row continues it
 * @returns the new tail, or undefined where there is no such session
 */
export function appendRows(
  sql: Sql,
  key: string,
  rows: readonly PendingRow[],
  tail: Tail | undefined,
): Tail | undefined {
  const session = sql.get('SELECT last_seq, preview FROM sessions WHERE key = ?', key);
  let seq = numberOf(session?.last_seq);
  if (!session || seq === undefined) return undefined;
  const turns = new TurnNotes(sql, key);
  let written = 0;
  let updated = 0;
  let cleared: number | undefined;
  let title: string | null | undefined;
  let preview: string | undefined;
  let last = tail?.seq === seq ? tail : undefined;
  for (const [index, next] of rows.entries()) {
    const joined = index === 0 && last ? join(last.row, next) : undefined;
    const row = joined ?? next;
    if (!joined) seq++;
    const { at, until, event } = row;
    const json = encode(event);
    if (joined) {
      sql.run('UPDATE events SET until = ?, json = ? WHERE key = ? AND seq = ?', until ?? null, json, key, seq);
      written += json.length - encode(last?.row.event ?? event).length;
    } else {
      const sentence = 'INSERT INTO events (key, seq, at, until, type, json) VALUES (?, ?, ?, ?, ?, ?)';
      sql.run(sentence, key, seq, at, until ?? null, event.type, json);
      written += json.length;
    }
    turns.take(event, at, seq);
    updated = Math.max(updated, until ?? at);
    if (event.type === 'cleared') cleared = seq;
    if (event.type === 'info' && event.title !== undefined) title = event.title;
    if (event.type === 'prompt_sent') preview ??= previewOf(event);
    last = { seq, row };
  }
  turns.finish();
  sql.run(
    `UPDATE sessions SET last_seq = ?, bytes = bytes + ?, updated = max(updated, ?), cleared_seq = coalesce(?, cleared_seq),
       title = CASE WHEN ? THEN ? ELSE title END, preview = coalesce(preview, ?) WHERE key = ?`,
    seq,
    written,
    updated,
    cleared ?? null,
    title === undefined ? 0 : 1,
    title ?? null,
    preview ?? null,
    key,
  );
  return last;
}

/** Where a reader is: a row and how much of a text it has seen there, as a row may still grow. */
export interface Cursor {
  readonly seq: number;
  readonly chars: number;
}

export interface EventPage {
  readonly events: readonly TimedEvent[];
  /** First and last sequence number of the page; 0 where it is empty. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Give it as `after` to read only what came since. */
  readonly cursor: Cursor;
}

export interface RowRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** A row as it lies in the table. */
export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly until: number | undefined;
  readonly json: string | undefined;
}

/** Rows of a session in their order. */
export function readRows(sql: Sql, key: string, { from, to, limit }: RowRange): EventRow[] {
  const sentence = 'SELECT seq, at, until, json FROM events WHERE key = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?';
  return sql.lists(sentence, key, from, to, limit).map(([seq, at, until, json]) => ({
    seq: numberOf(seq) ?? 0,
    at: numberOf(at) ?? 0,
    until: numberOf(until),
    json: textOf(json),
  }));
}

/**
 * The events of some rows. A row that is damaged is left out.
 * @param after skips what that reader has seen of the first row
 */
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

/** What the reducer forgets at a `cleared`; a kind that is not named here is kept. */
const WIPED = [
  ...['message_chunk', 'message', 'prompt_sent', 'prompt_inserted', 'tool_call', 'tool_content', 'terminal', 'plan'],
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
  ...['cancel_requested', 'cleared', 'ids_renewed', 'gap', 'gap_filled'],
];

/** Removes the events before the last `cleared` that it wiped, and their text from the search. */
export function dropCleared(sql: Sql, key: string): void {
  const seq = numberOf(sql.get('SELECT cleared_seq AS seq FROM sessions WHERE key = ?', key)?.seq) ?? 0;
  const wiped = WIPED.map((type) => `'${type}'`).join(', ');
  sql.run(`DELETE FROM events WHERE key = ? AND seq < ? AND type IN (${wiped})`, key, seq);
  sql.run('DELETE FROM texts WHERE key = ? AND seq < ?', key, seq);
  const size = 'SELECT coalesce(sum(length(json)), 0) FROM events WHERE key = ?';
  sql.run(`UPDATE sessions SET bytes = (${size}) WHERE key = ?`, key, key);
}

/** The JSON text of an event. Never throws: what has no JSON text, or too much of it, becomes a notice. */
function encode(event: SessionEvent): string {
  let problem = 'it cannot be written as JSON';
  try {
    const json = JSON.stringify(event);
    if (json.length <= MAX_EVENT_CHARS) return json;
    problem = `it has ${json.length} characters`;
  } catch {
    // The notice says it.
  }
  const notice: SessionEvent = {
    type: 'notice',
    severity: 'warning',
    title: 'A part of this session was not kept',
    description: `An event of kind ${event.type}: ${problem}.`,
    own: true,
  };
  return JSON.stringify(notice);
}

/** The event of a row; undefined where it is damaged. */
export function decode(json: string | undefined): SessionEvent | undefined {
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is SessionEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function previewOf(event: Extract<SessionEvent, { type: 'prompt_sent' }>): string | undefined {
  const text = event.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
  return (
    text
      .slice(0, 4 * PREVIEW_CHARS)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, PREVIEW_CHARS) || undefined
  );
}
