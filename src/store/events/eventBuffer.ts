// Buffered events, joined without effect on the session model. A row of joined chunks has the times
// of its first and last chunk, and is read as the whole text followed by an empty chunk at the last
// time.
import { roughSize, tail } from '../../base/text';
import type { EventOf, Mark, SessionEvent, TimedEvent } from '../../session/events/event';
import { MAX_TERMINAL_CHARS, Superseded, sizeOfPart } from './superseded';

const MAX_JOINED_CHARS = 32 * 1024;
/** Limit for the last row on disk: short enough to be rewritten cheaply. */
const MAX_ROW_CHARS = 8192;

export interface PendingRow {
  readonly at: number;
  readonly until?: number;
  readonly event: SessionEvent;
  readonly mark?: Mark;
}

type MessageChunk = EventOf<'message_chunk'>;
type ToolContent = EventOf<'tool_content'>;
type Terminal = EventOf<'terminal'>;

/**
 * Joins a row with the next one, or returns undefined. Never joins user chunks (each is compared
 * with the prompt), an empty first chunk, or events with unknown fields.
 */
export function join(row: PendingRow, next: PendingRow, limit = MAX_ROW_CHARS): PendingRow | undefined {
  const a = row.event;
  const b = next.event;
  if (isPiece(a) && isPiece(b)) {
    const text = a.toolCallId === b.toolCallId ? a.part.block.text + b.part.block.text : undefined;
    if (text === undefined || text.length > limit) return undefined;
    return { ...row, event: { ...a, part: { ...a.part, block: { ...a.part.block, text } } } };
  }
  if (!isTextChunk(a) || !isTextChunk(b) || a.role !== b.role || a.messageId !== b.messageId) return undefined;
  const { text } = a.block;
  if (text === '' || text.length + b.block.text.length > limit) return undefined;
  return {
    at: row.at,
    until: next.until ?? next.at,
    event: { ...a, block: { ...a.block, text: text + b.block.text } },
  };
}

export function* unjoin({ at, until, event }: PendingRow): Generator<TimedEvent> {
  yield { at, event };
  if (until !== undefined && event.type === 'message_chunk') {
    yield { at: until, event: { ...event, block: { type: 'text', text: '' } } };
  }
}

const CHUNK_FIELDS: ReadonlySet<string> = new Set(['type', 'role', 'messageId', 'block']);

function isTextChunk(event: SessionEvent): event is MessageChunk & { readonly block: { readonly type: 'text' } } {
  if (event.type !== 'message_chunk' || event.role === 'user' || event.block.type !== 'text') return false;
  for (const field in event)
    if (!CHUNK_FIELDS.has(field) && event[field as keyof MessageChunk] !== undefined) return false;
  return true;
}

type Piece = ToolContent & {
  readonly part: { readonly type: 'content'; readonly block: { readonly type: 'text'; readonly text: string } };
};

function isPiece(event: SessionEvent): event is Piece {
  return event.type === 'tool_content' && event.part.type === 'content' && event.part.block.type === 'text';
}

function countOfFields(event: SessionEvent): number {
  return Object.values(event).filter((value) => value !== undefined).length;
}

function isOutput(event: SessionEvent): event is Terminal & { readonly append: string } {
  return event.type === 'terminal' && event.append !== undefined && countOfFields(event) === 3;
}

function sizeOf(event: SessionEvent): number {
  switch (event.type) {
    case 'message_chunk':
      return 100 + (event.block.type === 'text' ? event.block.text.length : 10_000);
    case 'terminal':
      return 100 + (event.output?.length ?? 0) + (event.append?.length ?? 0);
    case 'tool_call':
      return 200 + (event.patch.content ?? []).reduce((sum, part) => sum + sizeOfPart(part), 0);
    case 'tool_content':
      return 100 + sizeOfPart(event.part);
    default:
      return 200 + roughSize(event, MAX_ROW_CHARS * 8);
  }
}

class SessionRows {
  readonly rows: (PendingRow | undefined)[] = [];
  chars = 0;
  readonly #outputs = new Map<string, number>();
  readonly #superseded = new Superseded<number>((place, event, before) => {
    const row = this.rows[place];
    this.chars += (event ? sizeOf(event) : 0) - sizeOf(before);
    this.rows[place] = row && event && { ...row, event };
  });

  add(next: PendingRow): void {
    const { event } = next;
    if (isOutput(event) && this.#addOutput(event)) return;
    const last = this.rows.at(-1);
    const joined = last && join(last, next, MAX_JOINED_CHARS);
    if (joined) {
      this.chars += sizeOf(joined.event) - sizeOf(last.event);
      this.rows[this.rows.length - 1] = joined;
      return;
    }
    this.chars += sizeOf(event);
    this.rows.push(next);
    const place = this.rows.length - 1;
    if (event.type === 'cleared') this.#outputs.clear();
    if (event.type === 'terminal') {
      if (isOutput(event)) this.#outputs.set(event.terminalId, place);
      else this.#outputs.delete(event.terminalId);
    } else this.#superseded.add(event, place);
  }

  /** Returns false if no output of the same terminal is buffered. */
  #addOutput(next: Terminal & { readonly append: string }): boolean {
    const place = this.#outputs.get(next.terminalId) ?? -1;
    const row = this.rows[place];
    if (row?.event.type !== 'terminal') return false;
    const { append, output, ...rest } = row.event;
    const text = (output ?? append ?? '') + next.append;
    const isCut = text.length > 1.25 * MAX_TERMINAL_CHARS;
    const event: Terminal = isCut
      ? { ...rest, output: tail(text, MAX_TERMINAL_CHARS), truncated: true }
      : { ...row.event, ...(output === undefined ? { append: text } : { output: text }) };
    this.chars += sizeOf(event) - sizeOf(row.event);
    this.rows[place] = { ...row, event };
    return true;
  }
}

export class EventBuffer {
  #sessions = new Map<string, SessionRows>();

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  get chars(): number {
    let sum = 0;
    for (const { chars } of this.#sessions.values()) sum += chars;
    return sum;
  }

  add(key: string, events: readonly PendingRow[]): void {
    let session = this.#sessions.get(key);
    if (!session) {
      session = new SessionRows();
      this.#sessions.set(key, session);
    }
    for (const event of events) session.add(event);
  }

  get keys(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  charsOf(key: string): number {
    return this.#sessions.get(key)?.chars ?? 0;
  }

  take(keys = this.keys): ReadonlyMap<string, readonly PendingRow[]> {
    const taken = new Map<string, readonly PendingRow[]>();
    for (const key of keys) {
      const rows = this.#sessions.get(key)?.rows.filter((row) => row !== undefined);
      if (rows) taken.set(key, rows);
      this.#sessions.delete(key);
    }
    return taken;
  }

  forget(key: string): void {
    this.#sessions.delete(key);
  }
}
