// Events on their way to the disk. Neighbouring chunks of one message become one row before they are written, in a way that the reducer cannot tell:
// a row knows the times of its first and of its last chunk, and is read back as the whole text followed by an empty chunk at the last time.
import type { SessionEvent, TimedEvent } from '../session/event';

/** Characters of one row of joined chunks. Long enough that a stream makes few rows, short enough that writing a row again is cheap. */
export const MAX_ROW_CHARS = 8192;

/** What becomes one row. */
export interface PendingRow {
  readonly at: number;
  /** Time of the last chunk, where chunks were joined. */
  readonly until?: number;
  readonly event: SessionEvent;
}

type TextChunk = Extract<SessionEvent, { type: 'message_chunk' }> & { readonly block: { readonly type: 'text' } };

/**
 * A row with the next chunk joined to it, or undefined where it must stand alone. Never joined: the user's chunks (the reducer compares each of them with the
 * prompt), an empty beginning (it opens no message), and anything with fields that are not known here.
 */
export function join(row: PendingRow, next: PendingRow): PendingRow | undefined {
  const a = row.event;
  const b = next.event;
  if (!isTextChunk(a) || !isTextChunk(b) || a.role !== b.role || a.messageId !== b.messageId) return undefined;
  const { text } = a.block;
  if (text === '' || text.length + b.block.text.length > MAX_ROW_CHARS) return undefined;
  return {
    at: row.at,
    until: next.until ?? next.at,
    event: { ...a, block: { ...a.block, text: text + b.block.text } },
  };
}

/** The events that a row stands for. */
export function* unjoin({ at, until, event }: PendingRow): Generator<TimedEvent> {
  yield { at, event };
  if (until !== undefined && event.type === 'message_chunk') {
    yield { at: until, event: { ...event, block: { type: 'text', text: '' } } };
  }
}

const CHUNK_FIELDS: ReadonlySet<string> = new Set(['type', 'role', 'messageId', 'block']);

function isTextChunk(event: SessionEvent): event is TextChunk {
  if (event.type !== 'message_chunk' || event.role === 'user' || event.block.type !== 'text') return false;
  for (const field in event) if (!CHUNK_FIELDS.has(field)) return false;
  return true;
}

/** Rows of all sessions that wait for the next flush, each session's in its order. */
export class EventBuffer {
  #rows = new Map<string, PendingRow[]>();
  #count = 0;

  /** Rows that wait. */
  get count(): number {
    return this.#count;
  }

  add(key: string, events: readonly TimedEvent[]): void {
    let rows = this.#rows.get(key);
    if (!rows) {
      rows = [];
      this.#rows.set(key, rows);
    }
    for (const { at, event } of events) {
      const last = rows.at(-1);
      const joined = last && join(last, { at, event });
      if (joined) rows[rows.length - 1] = joined;
      else {
        rows.push({ at, event });
        this.#count++;
      }
    }
  }

  /** Takes everything out. */
  take(): ReadonlyMap<string, readonly PendingRow[]> {
    const rows = this.#rows;
    this.#rows = new Map();
    this.#count = 0;
    return rows;
  }

  forget(key: string): void {
    this.#count -= this.#rows.get(key)?.length ?? 0;
    this.#rows.delete(key);
  }
}
