// Events that show the messages of a history, and gaps in place of missing ones.
import type { GapFilling, SessionEvent, TimedEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionState } from '../../session/model/state';
import { missingPart, withBytes } from '../ports/agentServers';
import { type Message, type MessagePart, remotePart } from '../ports/messages';
import { type Gap, gapOf, type HistoryEntry, originOf, redactUrl } from '../ports/resources';
import { pastEvents } from './pastEvents';

export interface HistoryPlace {
  readonly model: { readonly state: Readonly<SessionState> };
  note(events: readonly TimedEvent[]): void;
}

const SLICE = 100;
const SLICE_BYTES = 128 * 1024;
/** Adds later messages in small steps: thousands at a time would block the window. */
export class LateArrivals {
  readonly #place: HistoryPlace;
  readonly #now: () => number;
  readonly #batchMs: number;
  #pending: { readonly event: SessionEvent; readonly bytes: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  readonly #whenEmpty: (() => void)[] = [];

  constructor(place: HistoryPlace, now: () => number, batchMs = 100) {
    this.#place = place;
    this.#now = now;
    this.#batchMs = batchMs;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    // Parts of messages that are already shown may have arrived before.
    if (this.#pending.length > 0) this.#addSlice();
  }

  add(event: SessionEvent, bytes = 0): void {
    this.#pending.push({ event, bytes });
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.#addSlice(), this.#batchMs);
  }

  async settled(): Promise<void> {
    if (!this.#isOpen || this.#pending.length === 0) return;
    const empty = new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
    this.#addSlice();
    await empty;
  }

  #addSlice(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const slice: SessionEvent[] = [];
    let bytesLeft = SLICE_BYTES;
    while (slice.length < SLICE && bytesLeft > 0 && slice.length < this.#pending.length) {
      const next = this.#pending[slice.length];
      if (!next) break;
      slice.push(next.event);
      bytesLeft -= next.bytes;
    }
    this.#pending = this.#pending.slice(slice.length);
    this.#place.note(mergedMessages(slice).map((event) => ({ at: this.#now(), event })));
    if (this.#pending.length > 0) this.#timer = setTimeout(() => this.#addSlice(), 0);
    else for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

/** Merges consecutive messages into one event, so that its cost is paid once. */
function mergedMessages(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const all: SessionEvent[] = [];
  let fillings: GapFilling[] = [];
  for (const event of events) {
    if (event.type !== 'gap_filled') {
      fillings = [];
      all.push(event);
      continue;
    }
    if (fillings.length === 0) all.push({ type: 'gaps_filled', fillings });
    const { type: _type, ...filled } = event;
    fillings.push(filled);
  }
  return all;
}

export const PREFIX = 'past-';

export function abandonedGaps({ entries }: Readonly<SessionState>): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  let stopped: Extract<SessionEvent, { type: 'gaps' }> | undefined;
  for (const entry of entries) {
    if (entry.kind !== 'gap' || entry.state !== 'loading') continue;
    const { gapId, remote } = entry;
    const count = countOf(gapId);
    if (count !== undefined) events.push(unfolded(count, { said: ownText('history-stopped'), state: 'retryable' }));
    const where = gapPosition(gapId);
    const why = gapOf(where?.index ?? 0, '', 'cancelled');
    if (remote) events.push(missingPart(remotePart(remote), gapId, why));
    if (remote || !where) continue;
    const { index, part } = where;
    if (part !== undefined) events.push(missingPart(undefined, gapId, why));
    else if (stopped && index === stopped.first + stopped.count) {
      stopped = { ...stopped, count: stopped.count + 1 };
      events[events.length - 1] = stopped;
    } else {
      const notice = ownText('history-stopped');
      stopped = { type: 'gaps', prefix: PREFIX, first: index, count: 1, text: '', said: notice, state: 'retryable' };
      events.push(stopped);
    }
  }
  return events;
}

/** `index` is 0-based. */
export function gapPosition(gapId: string): { readonly index: number; readonly part?: number } | undefined {
  const [, index, part] = /^past-(\d{1,6})(?:\.(\d{1,6}))?$/.exec(gapId) ?? [];
  if (index === undefined) return undefined;
  return { index: Number(index), part: part !== undefined ? Number(part) : undefined };
}

/** One gap for the first messages of a history, until they are {@link unfolded}. */
export function folded(count: number): SessionEvent {
  return { type: 'gap', gapId: foldOf(count), text: '', said: ownText('history-loading'), state: 'loading' };
}

export function unfolded(
  count: number,
  as: Pick<Extract<SessionEvent, { type: 'gaps' }>, 'said' | 'state'>,
): SessionEvent {
  return { type: 'gaps', prefix: PREFIX, first: 0, count, inPlaceOf: foldOf(count), text: '', ...as };
}

function foldOf(count: number): string {
  return `${PREFIX}first-${count}`;
}

/** Undefined for one message or part. */
function countOf(gapId: string): number | undefined {
  const [, count] = /^past-first-(\d{1,6})$/.exec(gapId) ?? [];
  return count === undefined ? undefined : Number(count);
}

/** Never includes whole URLs. */
export function originsOf(history: readonly string[]): readonly { readonly host: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const url of history) {
    const origin = originOf(url) ?? url;
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts]
    .map(([origin, count]) => ({ host: hostOf(origin) ?? redactUrl(origin), count }))
    .sort((a, b) => b.count - a.count);
}

export function eventsOf(entry: HistoryEntry, now: number): readonly TimedEvent[] {
  if (entry.kind === 'gap') return [{ at: now, event: gapEvent(entry) }];
  const at = timeOf(entry.message.created_at, now);
  return pastEvents(entry.message, `${PREFIX}${entry.index}`).map((event) => ({ at, event }));
}

export function filling(entry: HistoryEntry, now: number): SessionEvent {
  if (entry.kind === 'gap') return gapEvent(entry);
  const gapId = `${PREFIX}${entry.index}`;
  const at = timeOf(entry.message.created_at, now);
  return { type: 'gap_filled', gapId, at, events: pastEvents(entry.message, gapId) };
}

export function partFilling(
  message: Pick<Message, 'role' | 'created_at'>,
  part: MessagePart,
  bytes: Uint8Array,
  gapId: string,
  now: number,
): SessionEvent {
  const alone: Message = { role: message.role, parts: [withBytes(part, bytes)] };
  return { type: 'gap_filled', gapId, at: timeOf(message.created_at, now), events: pastEvents(alone, gapId) };
}

function gapEvent({ index, host, retryable, reason }: Gap): SessionEvent {
  const notice = ownText('message-missing', index + 1, reason, host);
  return { type: 'gap', gapId: `${PREFIX}${index}`, text: '', said: notice, state: retryable ? 'retryable' : 'final' };
}

function hostOf(url: string): string | undefined {
  return originOf(url)?.replace(/^https?:\/\//, '');
}

export function loading(index: number, url: string): SessionEvent {
  const notice = ownText('message-loading', index + 1, hostOf(url) ?? '');
  return { type: 'gap', gapId: `${PREFIX}${index}`, text: '', said: notice, state: 'loading' };
}

function timeOf(text: string | undefined, now: number): number {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) && at > 0 && at <= now ? at : now;
}
