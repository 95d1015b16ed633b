// The past of a session that was held elsewhere, in the transcript of a conversation: its newest messages first, the rest when it is there, and gaps with their reasons
// where it cannot be had. A gap can be asked for again at any time.
import { Deferred } from '../base/deferred';
import { KeyedQueue } from '../base/keyedQueue';
import { type Gap, gapOf } from '../distributed/gap';
import type { SessionDescriptor } from '../distributed/model';
import type { HistoryEntry, Resolver } from '../distributed/resolver';
import { redactUrl } from '../distributed/resourceUrl';
import type { SessionEvent, TimedEvent } from '../session/event';
import type { SessionState } from '../session/state';
import { pastEvents } from './pastEvents';

/** Where the past is shown. */
export interface HistoryPlace {
  readonly model: { readonly state: Readonly<SessionState> };
  note(events: readonly TimedEvent[]): void;
}

export interface OpenedHistoryOptions {
  readonly place: HistoryPlace;
  readonly resolver: Pick<Resolver, 'resolveHistory' | 'resolveEntry'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long the newest messages are waited for before those that are there are shown, in milliseconds (1,000). */
  readonly patienceMs?: number;
  /** Between two looks at what has come since, in milliseconds (250). */
  readonly batchMs?: number;
  /** How long the newest messages are asked for alone at most, and then left to be painted, in milliseconds (400). */
  readonly aloneMs?: number;
  /** Says what the conversation begins with, before any message. */
  readonly head: readonly SessionEvent[];
  /** The transcript has its first messages. @returns when they are on the screen, where somebody looks: the others are asked for then */
  readonly onDidShow?: () => Promise<void> | undefined;
}

/** What came of it. */
export interface OpenedSummary {
  readonly messages: number;
  readonly gaps: readonly Gap[];
}

/** Messages that are waited for before anything is shown. */
const FIRST_SHOWN = 20;
const PREFIX = 'past-';

/**
 * Shows the whole history of a descriptor. Resolves when everything is there or is a gap; never rejects for what servers do.
 * @param signal what is missing when it aborts becomes a gap
 */
export async function openHistory(
  descriptor: SessionDescriptor,
  options: OpenedHistoryOptions,
  signal: AbortSignal,
): Promise<OpenedSummary> {
  const { place, resolver, now } = options;
  const { history } = descriptor;
  const known = new Map<number, HistoryEntry>();
  /** Messages that have come since the last look; undefined before the first one. */
  let fresh: HistoryEntry[] | undefined;
  let newestMissing = Math.min(FIRST_SHOWN, history.length);
  let batch: ReturnType<typeof setTimeout> | undefined;
  /** Settles when it is time for the others. */
  const others = new Deferred<void>();
  const aloneMs = options.aloneMs ?? 400;
  let alone = setTimeout(() => others.resolve(), aloneMs);

  const show = (): void => {
    if (fresh) return;
    fresh = [];
    const events = history.map((url, index) => {
      const entry = known.get(index);
      return entry ? shown(entry, now()) : [{ at: now(), event: loading(index, history.length, url) }];
    });
    place.note([...options.head.map((event) => ({ at: now(), event })), ...events.flat()]);
    const painted = options.onDidShow?.();
    clearTimeout(alone);
    // What is on this machine is there before anything could be painted.
    const isHere = [...known.values()].every((entry) => entry.kind === 'message' && entry.source !== 'network');
    if (isHere || !painted) others.resolve();
    else {
      alone = setTimeout(() => others.resolve(), aloneMs);
      void painted.then(() => others.resolve());
    }
  };
  const flush = (): void => {
    batch = undefined;
    const events = (fresh ?? []).splice(0).map((entry) => ({ at: now(), event: filling(entry, now()) }));
    if (events.length > 0) place.note(events);
  };
  const take = (entry: HistoryEntry): void => {
    known.set(entry.index, entry);
    if (fresh) {
      fresh.push(entry);
      batch ??= setTimeout(flush, options.batchMs ?? 250);
    } else if (entry.index >= history.length - FIRST_SHOWN && --newestMissing === 0) show();
  };

  const newest = { count: FIRST_SHOWN, others: others.promise };
  const patience = setTimeout(show, options.patienceMs ?? 1000);
  try {
    const entries = await resolver.resolveHistory(descriptor, { onEntry: take, newest }, signal);
    for (const entry of entries) if (!known.has(entry.index)) take(entry);
    show();
    const gaps = entries.filter((entry) => entry.kind === 'gap');
    return { messages: entries.length - gaps.length, gaps };
  } finally {
    clearTimeout(patience);
    clearTimeout(alone);
    clearTimeout(batch);
    flush();
  }
}

export interface GapUnlock {
  /** Called where a server wants a token for this URL. @returns whether there is one now: the server is asked once more */
  readonly unlock?: (url: string, signal: AbortSignal) => Promise<boolean>;
}

const retries = new KeyedQueue<HistoryPlace>();

/**
 * Asks again for the message of one gap, and shows it in its place or why it is still missing.
 * @param url of the message, now
 * @returns whether it is there; false also where there is no such gap
 */
export function retryGap(
  gapId: string,
  url: string,
  { place, resolver, now, unlock }: Pick<OpenedHistoryOptions, 'place' | 'resolver' | 'now'> & GapUnlock,
  signal: AbortSignal,
): Promise<boolean> {
  return retries.run(place, async () => {
    const index = indexOf(gapId);
    const gap = place.model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId);
    if (index === undefined || gap === undefined) return false;
    place.note([{ at: now(), event: loading(index, undefined, url) }]);
    let entry = await resolver.resolveEntry(url, index, {}, signal);
    if (entry.kind === 'gap' && entry.reason === 'unauthorized' && (await unlock?.(url, signal)))
      entry = await resolver.resolveEntry(url, index, {}, signal);
    place.note([{ at: now(), event: filling({ ...entry, index }, now()) }]);
    return entry.kind === 'message';
  });
}

/** Gaps that a window left while they were loading: nobody loads them any more. */
export function abandonedGaps({ entries }: Readonly<SessionState>): readonly SessionEvent[] {
  return entries.flatMap((entry): SessionEvent[] => {
    if (entry.kind !== 'gap' || entry.state !== 'loading') return [];
    const index = indexOf(entry.gapId) ?? 0;
    return [gapEvent(gapOf(index, '', 'cancelled'))];
  });
}

/** The position in the history that a gap stands for, from 0. */
export function indexOf(gapId: string): number | undefined {
  const digits = gapId.startsWith(PREFIX) ? gapId.slice(PREFIX.length) : '';
  return /^\d{1,6}$/.test(digits) ? Number(digits) : undefined;
}

/** Where messages of a history come from, by the number of messages: hosts, never whole addresses. */
export function originsOf(history: readonly string[]): readonly { readonly host: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const url of history) {
    const host = URL.canParse(url) ? new URL(url).host : redactUrl(url);
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return [...counts].map(([host, count]) => ({ host, count })).sort((a, b) => b.count - a.count);
}

function shown(entry: HistoryEntry, now: number): readonly TimedEvent[] {
  if (entry.kind === 'gap') return [{ at: now, event: gapEvent(entry) }];
  const at = timeOf(entry.message.created_at, now);
  return pastEvents(entry.message, `${PREFIX}${entry.index}`).map((event) => ({ at, event }));
}

function filling(entry: HistoryEntry, now: number): SessionEvent {
  if (entry.kind === 'gap') return gapEvent(entry);
  const gapId = `${PREFIX}${entry.index}`;
  const at = timeOf(entry.message.created_at, now);
  return { type: 'gap_filled', gapId, at, events: pastEvents(entry.message, gapId) };
}

function gapEvent({ index, sentence, retryable, reason }: Gap): SessionEvent {
  const advice = reason === 'unauthorized' ? ' “Retry” asks you for it.' : '';
  const text = `Message ${index + 1} is missing. ${sentence}${advice}`;
  return { type: 'gap', gapId: `${PREFIX}${index}`, text, state: retryable ? 'retryable' : 'final' };
}

function loading(index: number, total: number | undefined, url: string): SessionEvent {
  const which = total === undefined ? `Message ${index + 1}` : `Message ${index + 1} of ${total}`;
  const host = URL.canParse(url) ? ` from ${new URL(url).host}` : '';
  return { type: 'gap', gapId: `${PREFIX}${index}`, text: `${which} is being loaded${host}.`, state: 'loading' };
}

/** A time that somebody else wrote: nothing of the past is later than now. */
function timeOf(text: string | undefined, now: number): number {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) && at > 0 && at <= now ? at : now;
}
