// The past of a session that was held elsewhere, in the transcript of a conversation: its newest
// messages first, the rest when it is there, and gaps with their reasons where it cannot be had. A
// gap can be asked for again at any time.
import { Deferred } from '../../base/deferred';
import { KeyedQueue } from '../../base/keyedQueue';
import { within } from '../../base/within';
import {
  isRemote,
  isRemoteText,
  loadingPart,
  missingPart,
  partGapId,
  unloadedPart,
  withBytes,
} from '../../distributed/client/remoteParts';
import { OriginHealth } from '../../distributed/fetch/originHealth';
import type { HistoryEntry, ResolvedMessage, Resolver } from '../../distributed/fetch/resolver';
import { type Gap, gapOf } from '../../distributed/model/gap';
import {
  type Message,
  type MessagePart,
  remotePart,
  type SessionDescriptor,
  timestamp,
} from '../../distributed/model/model';
import { originOf, redactUrl } from '../../distributed/model/resourceUrl';
import type { GapFilling, SessionEvent, TimedEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { GapEntry, SessionState } from '../../session/model/state';
import { pastEvents, remotePartsOf } from './pastEvents';

/** Where the past is shown. */
export interface HistoryPlace {
  readonly model: { readonly state: Readonly<SessionState> };
  note(events: readonly TimedEvent[]): void;
}

export interface OpenedHistoryOptions {
  readonly place: HistoryPlace;
  readonly resolver: Pick<Resolver, 'resolveHistory' | 'resolveEntry' | 'resolvePart'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * How long the newest messages are waited for before those that are there are shown, in
   * milliseconds (1,000).
   */
  readonly patienceMs?: number;
  /** Between two looks at what has come since, in milliseconds (100). */
  readonly batchMs?: number;
  /**
   * How long the newest messages are asked for alone at most, and then left to be painted, in
   * milliseconds (400).
   */
  readonly aloneMs?: number;
  /** Says what the conversation begins with, before any message. */
  readonly head: readonly SessionEvent[];
  /**
   * The transcript has its first messages.
   * @returns when they are on the screen, where somebody looks: the others are asked for then
   */
  readonly onDidShow?: () => Promise<void> | undefined;
}

/** What came of it. */
export interface OpenedSummary {
  readonly messages: number;
  /** One for each message that is not there, or not whole. */
  readonly gaps: readonly Gap[];
  /**
   * The name of the agent that spoke last, as its role has it; undefined where its role has none.
   */
  readonly speaker?: string;
}

/**
 * Bytes of a text behind an address of its own that is loaded with its message, and how many of
 * them: the newest.
 */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_TEXTS = 200;
/** How long such texts are waited for once all messages are there, in milliseconds. */
const TEXTS_MS = 60_000;
/** Bytes of what the user asks for. */
const MAX_PART_BYTES = 5 * 1024 * 1024;
/** Messages that are waited for before anything is shown. */
const FIRST_SHOWN = 20;
/** Messages that are put into the transcript at once, and bytes of them. */
const SLICE = 100;
const SLICE_BYTES = 128 * 1024;
/** Of the ids of gaps, see {@link placeOf}. */
const PREFIX = 'past-';

/**
 * Shows the whole history of a descriptor. Resolves when everything is there or is a gap; never
 * rejects for what servers do.
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
  const late = new LateArrivals(place, now, options.batchMs);
  let newestMissing = Math.min(FIRST_SHOWN, history.length);
  /** Settles when it is time for the others. */
  const others = new Deferred<void>();
  const aloneMs = options.aloneMs ?? 400;
  let alone = setTimeout(() => others.resolve(), aloneMs);

  const show = (): void => {
    if (late.isOpen) return;
    const events = pastOf(history.length, known, now());
    place.note([...options.head.map((event) => ({ at: now(), event })), ...events]);
    late.open();
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
  const texts = new PartTexts(resolver, now, (event) => late.add(event), signal);
  const take = (entry: HistoryEntry): void => {
    known.set(entry.index, entry);
    if (late.isOpen) late.add(filling(entry, now()), entry.kind === 'message' ? entry.bytes : 0);
    else if (entry.index >= history.length - FIRST_SHOWN && --newestMissing === 0) show();
    if (entry.kind === 'message') texts.load(entry);
  };

  const newest = { count: FIRST_SHOWN, others: others.promise };
  const patience = setTimeout(show, options.patienceMs ?? 1000);
  try {
    const entries = await resolver.resolveHistory(descriptor, { onEntry: take, newest }, signal);
    for (const entry of entries) if (!known.has(entry.index)) take(entry);
    show();
    const gaps = entries.filter((entry) => entry.kind === 'gap');
    const { length: all } = entries;
    const speaker = speakerOf(entries);
    return {
      messages: all - gaps.length,
      gaps: [...gaps, ...(await texts.settled())],
      ...(speaker !== undefined && { speaker }),
    };
  } finally {
    clearTimeout(patience);
    clearTimeout(alone);
    await late.settled();
  }
}

/** What is known of a history, with gaps in the places of the rest. */
function pastOf(length: number, known: ReadonlyMap<number, HistoryEntry>, now: number): readonly TimedEvent[] {
  const events: TimedEvent[] = [];
  for (let index = 0; index < length; index++) {
    const entry = known.get(index);
    if (entry) {
      events.push(...shown(entry, now));
      continue;
    }
    const first = index;
    while (index + 1 < length && !known.has(index + 1)) index++;
    const count = index + 1 - first;
    const said = ownText('history-loading');
    events.push({ at: now, event: { type: 'gaps', prefix: PREFIX, first, count, text: '', said, state: 'loading' } });
  }
  return events;
}

/**
 * Puts what comes after the first look into the transcript, a little at a time: thousands of
 * messages must not hold up the window.
 */
class LateArrivals {
  readonly #place: HistoryPlace;
  readonly #now: () => number;
  readonly #batchMs: number;
  #waiting: { readonly event: SessionEvent; readonly bytes: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;
  readonly #whenEmpty: (() => void)[] = [];

  constructor(place: HistoryPlace, now: () => number, batchMs = 100) {
    this.#place = place;
    this.#now = now;
    this.#batchMs = batchMs;
  }

  /** The transcript has the places into which it belongs. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    // Texts of messages that are there already may have come before.
    if (this.#waiting.length > 0) this.#putSome();
  }

  /** @param bytes of the message that the event shows */
  add(event: SessionEvent, bytes = 0): void {
    this.#waiting.push({ event, bytes });
    if (this.#isOpen) this.#timer ??= setTimeout(() => this.#putSome(), this.#batchMs);
  }

  /** When all that was added is in the transcript. */
  async settled(): Promise<void> {
    if (!this.#isOpen || this.#waiting.length === 0) return;
    const empty = new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
    this.#putSome();
    await empty;
  }

  #putSome(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const some: SessionEvent[] = [];
    let left = SLICE_BYTES;
    while (some.length < SLICE && left > 0 && some.length < this.#waiting.length) {
      const next = this.#waiting[some.length];
      if (!next) break;
      some.push(next.event);
      left -= next.bytes;
    }
    this.#waiting = this.#waiting.slice(some.length);
    this.#place.note(joined(some).map((event) => ({ at: this.#now(), event })));
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#putSome(), 0);
    else for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

/** The same with messages that follow each other in one event: what they cost is paid once. */
function joined(events: readonly SessionEvent[]): readonly SessionEvent[] {
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

function speakerOf(entries: readonly HistoryEntry[]): string | undefined {
  const last = entries.findLast((entry) => entry.kind === 'message' && entry.message.role !== 'user');
  return last?.kind === 'message' ? last.message.role.split('/')[1] : undefined;
}

/**
 * Loads the texts of messages that lie behind addresses of their own, as far as they are short and
 * not too many.
 */
class PartTexts {
  readonly #resolver: Pick<Resolver, 'resolvePart'>;
  readonly #now: () => number;
  readonly #tell: (event: SessionEvent) => void;
  readonly #late = new AbortController();
  readonly #signal: AbortSignal;
  readonly #health = new OriginHealth();
  readonly #loading: Promise<Gap | undefined>[] = [];

  /** @param tell shows what became of a text */
  constructor(
    resolver: Pick<Resolver, 'resolvePart'>,
    now: () => number,
    tell: (event: SessionEvent) => void,
    signal: AbortSignal,
  ) {
    this.#resolver = resolver;
    this.#now = now;
    this.#tell = tell;
    this.#signal = AbortSignal.any([signal, this.#late.signal]);
  }

  load(entry: ResolvedMessage): void {
    for (const number of remotePartsOf(entry.message)) {
      const part = entry.message.parts[number];
      if (!part || !isRemoteText(part) || this.#loading.length >= MAX_TEXTS) continue;
      this.#loading.push(this.#loadOne(entry, part, partGapId(`${PREFIX}${entry.index}`, number)));
    }
  }

  /**
   * When all of them are there, or it has taken too long.
   * @returns one gap for each message that lacks some of them
   */
  async settled(): Promise<readonly Gap[]> {
    const all = Promise.all(this.#loading);
    if (!(await within(TEXTS_MS, all))) this.#late.abort();
    const missing = (await all).filter((gap) => gap !== undefined);
    return [...new Map(missing.map((gap) => [gap.index, gap])).values()];
  }

  async #loadOne({ index, message }: ResolvedMessage, part: MessagePart, gapId: string): Promise<Gap | undefined> {
    const says = { message, part, gapId, now: this.#now(), tell: this.#tell };
    const missing = await readText(says, this.#resolver, this.#health, this.#signal);
    return missing && { ...missing, index };
  }
}

/** A part on its way into the place of its gap. */
interface Placing {
  /** That it is part of: who said it, and when. */
  readonly message: Pick<Message, 'role' | 'created_at'>;
  readonly part: MessagePart;
  readonly gapId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Shows what became of it. */
  readonly tell: (event: SessionEvent) => void;
}

/**
 * Reads a short text without being asked.
 * @returns why it is missing; undefined where it is there, or waits for a click
 */
async function readText(
  { message, part, gapId, now, tell }: Placing,
  resolver: Pick<Resolver, 'resolvePart'>,
  health: OriginHealth,
  signal: AbortSignal,
): Promise<Gap | undefined> {
  tell(loadingPart(part, gapId));
  const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES, health }, signal);
  if (found.kind === 'content') {
    tell(partFilling(message, part, found.bytes, gapId, now));
    return undefined;
  }
  // Larger parts are loaded on request.
  const isLarge = found.reason === 'too-large';
  tell(isLarge ? unloadedPart(part, gapId) : missingPart(part, gapId, found));
  return isLarge ? undefined : found;
}

/**
 * Reads the content behind a gap of an answer that is being given into its place, where it is a
 * short text. Anything else waits for a click. Never rejects for what servers do.
 */
export async function readLivePart(
  gapId: string,
  {
    place,
    resolver,
    now,
  }: Pick<OpenedHistoryOptions, 'place' | 'now'> & {
    readonly resolver: Pick<Resolver, 'resolvePart'>;
  },
  signal: AbortSignal,
): Promise<void> {
  const gap = gapIn(place, gapId);
  if (gap?.remote === undefined) return;
  const part = remotePart(gap.remote);
  if (!isRemoteText(part)) return;
  const tell = (event: SessionEvent): void => place.note([{ at: now(), event }]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TEXTS_MS)]);
  await readText({ message: saidAt(gap), part, gapId, now: now(), tell }, resolver, new OriginHealth(), limit);
}

export interface GapUnlock {
  /**
   * Called where a server wants a token for this URL.
   * @returns whether there is one now: the server is asked once more
   */
  readonly unlock?: ((url: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

const retries = new KeyedQueue<HistoryPlace>();

/**
 * Asks again for the message of one gap, and shows it in its place or why it is still missing.
 * @param url of the message, now; of no use where the gap knows the address itself
 * @returns whether it is there; false also where there is no such gap
 */
export function retryGap(
  gapId: string,
  url: string,
  { place, resolver, now, unlock }: Pick<OpenedHistoryOptions, 'place' | 'resolver' | 'now'> & GapUnlock,
  signal: AbortSignal,
): Promise<boolean> {
  return retries.run(place, async () => {
    const gap = gapIn(place, gapId);
    const where = placeOf(gapId);
    const tell = (event: SessionEvent): void => place.note([{ at: now(), event }]);
    const load = (message: Placing['message'], part: MessagePart & { readonly content_url: string }) =>
      readWanted({ message, part, gapId, now: now(), tell }, part.content_url, { resolver, unlock }, signal);
    if (gap?.remote) return await load(saidAt(gap), remotePart(gap.remote));
    if (where === undefined || gap === undefined) return false;
    const { index, part: number } = where;
    if (number === undefined) tell(loading(index, url));
    let entry = await resolver.resolveEntry(url, index, {}, signal);
    if (entry.kind === 'gap' && entry.reason === 'unauthorized' && (await unlock?.(url, signal)))
      entry = await resolver.resolveEntry(url, index, {}, signal);
    if (number === undefined) {
      tell(filling({ ...entry, index }, now()));
      return entry.kind === 'message';
    }
    if (entry.kind === 'gap') {
      tell(missingPart(undefined, gapId, entry));
      return false;
    }
    const part = entry.message.parts[number];
    return part && isRemote(part) ? await load(entry.message, part) : false;
  });
}

/**
 * Asks again for the messages of many gaps at once, and shows them in their places or why they are
 * still missing. Never rejects for what servers do.
 * @param gaps positions in the history, with the URLs of the messages, now
 */
export function retryGaps(
  gaps: readonly { readonly index: number; readonly url: string }[],
  { place, resolver, now }: Pick<OpenedHistoryOptions, 'place' | 'resolver' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  return retries.run(place, async () => {
    const isHere = new Set(place.model.state.entries.map((entry) => (entry.kind === 'gap' ? entry.gapId : undefined)));
    const wanted = gaps.filter(({ index }) => isHere.has(`${PREFIX}${index}`));
    place.note(wanted.map(({ index, url }) => ({ at: now(), event: loading(index, url) })));
    const late = new LateArrivals(place, now);
    late.open();
    const onEntry = (entry: HistoryEntry): void => {
      const index = wanted[entry.index]?.index ?? 0;
      late.add(filling({ ...entry, index }, now()), entry.kind === 'message' ? entry.bytes : 0);
    };
    await resolver.resolveHistory({ id: 'missing', history: wanted.map(({ url }) => url) }, { onEntry }, signal);
    await late.settled();
  });
}

/** Reads content that the user has asked for. @param url of it @returns whether it is there */
async function readWanted(
  { message, part, gapId, now, tell }: Placing,
  url: string,
  { resolver, unlock }: Pick<OpenedHistoryOptions, 'resolver'> & GapUnlock,
  signal: AbortSignal,
): Promise<boolean> {
  tell(loadingPart(part, gapId));
  const load = () => resolver.resolvePart(part, { maxBytes: MAX_PART_BYTES, asks: true }, signal);
  let found = await load();
  if (found.kind === 'gap' && found.reason === 'unauthorized' && (await unlock?.(url, signal))) found = await load();
  if (found.kind === 'gap') tell(missingPart(part, gapId, found));
  else tell(partFilling(message, part, found.bytes, gapId, now));
  return found.kind === 'content';
}

function gapIn({ model }: HistoryPlace, gapId: string): GapEntry | undefined {
  return model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId) as GapEntry | undefined;
}

/** Who says a part of an answer that is being given, and when. */
function saidAt({ at }: GapEntry): Placing['message'] {
  return { role: 'agent', created_at: timestamp(at) };
}

/** Returns events for gaps that were being loaded when their window ended. */
export function abandonedGaps({ entries }: Readonly<SessionState>): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  let stopped: Extract<SessionEvent, { type: 'gaps' }> | undefined;
  for (const entry of entries) {
    if (entry.kind !== 'gap' || entry.state !== 'loading') continue;
    const { gapId, remote } = entry;
    const where = placeOf(gapId);
    const why = gapOf(where?.index ?? 0, '', 'cancelled');
    if (remote) events.push(missingPart(remotePart(remote), gapId, why));
    if (remote || !where) continue;
    const { index, part } = where;
    if (part !== undefined) events.push(missingPart(undefined, gapId, why));
    else if (stopped && index === stopped.first + stopped.count) {
      stopped = { ...stopped, count: stopped.count + 1 };
      events[events.length - 1] = stopped;
    } else {
      const said = ownText('history-stopped');
      stopped = { type: 'gaps', prefix: PREFIX, first: index, count: 1, text: '', said, state: 'retryable' };
      events.push(stopped);
    }
  }
  return events;
}

/**
 * What a gap stands for: a message by its position in the history, from 0, or a part of it by its
 * number.
 */
export function placeOf(gapId: string): { readonly index: number; readonly part?: number } | undefined {
  const [, index, part] = /^past-(\d{1,6})(?:\.(\d{1,6}))?$/.exec(gapId) ?? [];
  if (index === undefined) return undefined;
  return { index: Number(index), ...(part !== undefined && { part: Number(part) }) };
}

/**
 * Where messages of a history come from, by the number of messages: hosts, never whole addresses.
 */
export function originsOf(history: readonly string[]): readonly { readonly host: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const url of history) {
    const host = hostOf(url) ?? redactUrl(url);
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

/** The content of one part, in the place of its gap. */
function partFilling(
  message: Placing['message'],
  part: MessagePart,
  bytes: Uint8Array,
  gapId: string,
  now: number,
): SessionEvent {
  const alone: Message = { role: message.role, parts: [withBytes(part, bytes)] };
  return { type: 'gap_filled', gapId, at: timeOf(message.created_at, now), events: pastEvents(alone, gapId) };
}

function gapEvent({ index, host, retryable, reason }: Gap): SessionEvent {
  const said = ownText('message-missing', index + 1, reason, host);
  return { type: 'gap', gapId: `${PREFIX}${index}`, text: '', said, state: retryable ? 'retryable' : 'final' };
}

/** The host of a URL with its port; undefined where it is no URL. */
function hostOf(url: string): string | undefined {
  return originOf(url)?.replace(/^https?:\/\//, '');
}

function loading(index: number, url: string): SessionEvent {
  const said = ownText('message-loading', index + 1, hostOf(url) ?? '');
  return { type: 'gap', gapId: `${PREFIX}${index}`, text: '', said, state: 'loading' };
}

/** A time that somebody else wrote: nothing of the past is later than now. */
function timeOf(text: string | undefined, now: number): number {
  const at = Date.parse(text ?? '');
  return Number.isFinite(at) && at > 0 && at <= now ? at : now;
}
