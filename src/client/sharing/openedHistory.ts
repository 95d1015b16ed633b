// Shows the past of a session from elsewhere in a conversation's transcript: the newest messages
// first, the others as they arrive, and gaps with reasons for missing ones.
import { Deferred } from '../../base/deferred';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionDescriptor } from '../ports/messages';
import type { Gap, HistoryEntry, Resolver } from '../ports/resources';
import { eventsOf, filling, folded, type HistoryPlace, LateArrivals, PREFIX, unfolded } from './historyEvents';
import { PartTexts } from './historyRetries';

export interface OpenedHistoryOptions {
  readonly place: HistoryPlace;
  readonly resolver: Pick<Resolver, 'resolveHistory' | 'resolveEntry' | 'resolvePart'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long to wait for the newest messages before showing what has arrived, in ms (1,000). */
  readonly patienceMs?: number;
  /** How often arrived messages are added, in ms (100). */
  readonly batchMs?: number;
  /** How long the newest messages are loaded alone and may take to paint, in ms (400). */
  readonly aloneMs?: number;
  readonly head: readonly SessionEvent[];
  /** Resolves when they are painted. */
  readonly onDidShow?: () => Promise<void> | undefined;
}

export interface OpenedSummary {
  readonly messages: number;
  readonly gaps: readonly Gap[];
  readonly speaker?: string;
}

/** Messages to wait for before showing anything: as many as a window shows. */
const FIRST_SHOWN = 12;

/** Failures of servers never reject. */
export async function openHistory(
  descriptor: SessionDescriptor,
  options: OpenedHistoryOptions,
  signal: AbortSignal,
): Promise<OpenedSummary> {
  const { place, resolver, now } = options;
  const { history } = descriptor;
  const loaded = new Map<number, HistoryEntry>();
  const late = new LateArrivals(place, now, options.batchMs);
  let newestMissing = Math.min(FIRST_SHOWN, history.length);
  /** Messages before the newest ones; one gap stands for them until the newest are painted. */
  const earlier = Math.max(0, history.length - FIRST_SHOWN);
  const others = new Deferred<void>();
  const aloneMs = options.aloneMs ?? 400;
  let alone = setTimeout(() => others.resolve(), aloneMs);

  const showOthers = (): void => {
    if (late.isOpen) return;
    clearTimeout(alone);
    const loading = { said: ownText('history-loading'), state: 'loading' } as const;
    if (earlier > 0) place.note([{ at: now(), event: unfolded(earlier, loading) }]);
    late.open();
    others.resolve();
  };
  let isShown = false;
  const show = (): void => {
    if (isShown) return;
    isShown = true;
    const head = [...options.head, ...(earlier > 0 ? [folded(earlier)] : [])];
    place.note([...head.map((event) => ({ at: now(), event })), ...pastOf(earlier, history.length, loaded, now())]);
    const painted = options.onDidShow?.();
    clearTimeout(alone);
    // Messages on this machine are loaded before anything could be painted.
    const isHere = [...loaded.values()].every((entry) => entry.kind === 'message' && entry.source !== 'network');
    if (isHere || !painted) showOthers();
    else {
      alone = setTimeout(showOthers, aloneMs);
      void painted.then(showOthers);
    }
  };
  const texts = new PartTexts(resolver, now, (event) => late.add(event), signal);
  const take = (entry: HistoryEntry): void => {
    loaded.set(entry.index, entry);
    if (isShown || entry.index < earlier) late.add(filling(entry, now()), entry.kind === 'message' ? entry.bytes : 0);
    else if (--newestMissing === 0) show();
    if (entry.kind === 'message') texts.load(entry);
  };

  const newest = { count: FIRST_SHOWN, others: others.promise };
  const patience = setTimeout(show, options.patienceMs ?? 1000);
  try {
    const entries = await resolver.resolveHistory(descriptor, { onEntry: take, newest }, signal);
    for (const entry of entries) if (!loaded.has(entry.index)) take(entry);
    show();
    showOthers();
    const gaps = entries.filter((entry) => entry.kind === 'gap');
    const missing = [...gaps, ...(await texts.settled())];
    return { messages: entries.length - gaps.length, gaps: missing, speaker: speakerOf(entries) };
  } finally {
    clearTimeout(patience);
    clearTimeout(alone);
    await late.settled();
  }
}

function pastOf(
  from: number,
  to: number,
  loaded: ReadonlyMap<number, HistoryEntry>,
  now: number,
): readonly TimedEvent[] {
  const events: TimedEvent[] = [];
  for (let index = from; index < to; index++) {
    const entry = loaded.get(index);
    if (entry) {
      events.push(...eventsOf(entry, now));
      continue;
    }
    const first = index;
    while (index + 1 < to && !loaded.has(index + 1)) index++;
    const count = index + 1 - first;
    const notice = ownText('history-loading');
    events.push({
      at: now,
      event: { type: 'gaps', prefix: PREFIX, first, count, text: '', said: notice, state: 'loading' },
    });
  }
  return events;
}

function speakerOf(entries: readonly HistoryEntry[]): string | undefined {
  const last = entries.findLast((entry) => entry.kind === 'message' && entry.message.role !== 'user');
  return last?.kind === 'message' ? last.message.role.split('/')[1] : undefined;
}
