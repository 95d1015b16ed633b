// Reloads missing messages of a history, and content on request.
import { KeyedQueue } from '../../base/keyedQueue';
import { within } from '../../base/within';
import type { SessionEvent } from '../../session/events/event';
import type { GapEntry } from '../../session/model/state';
import { isRemote, isRemoteText, loadingPart, missingPart, partGapId, unloadedPart } from '../ports/agentServers';
import { type Message, type MessagePart, remotePart, timestamp } from '../ports/messages';
import {
  type Gap,
  type HistoryEntry,
  OriginHealth,
  type PartOptions,
  type ResolvedMessage,
  type Resolver,
} from '../ports/resources';
import { filling, gapPosition, type HistoryPlace, LateArrivals, loading, PREFIX, partFilling } from './historyEvents';
import { remotePartsOf } from './pastEvents';

const MAX_TEXT_BYTES = 256 * 1024;
const MAX_TEXTS = 200;
const TEXTS_MS = 60_000;
export class PartTexts {
  readonly #resolver: Pick<Resolver, 'resolvePart'>;
  readonly #now: () => number;
  readonly #emit: (event: SessionEvent) => void;
  readonly #late = new AbortController();
  readonly #signal: AbortSignal;
  readonly #health = new OriginHealth();
  readonly #loading: Promise<Gap | undefined>[] = [];

  constructor(
    resolver: Pick<Resolver, 'resolvePart'>,
    now: () => number,
    emit: (event: SessionEvent) => void,
    signal: AbortSignal,
  ) {
    this.#resolver = resolver;
    this.#now = now;
    this.#emit = emit;
    this.#signal = AbortSignal.any([signal, this.#late.signal]);
  }

  load(entry: ResolvedMessage): void {
    for (const number of remotePartsOf(entry.message)) {
      const part = entry.message.parts[number];
      if (!part || !isRemoteText(part) || this.#loading.length >= MAX_TEXTS) continue;
      this.#loading.push(this.#loadOne(entry, part, partGapId(`${PREFIX}${entry.index}`, number)));
    }
  }

  async settled(): Promise<readonly Gap[]> {
    const all = Promise.all(this.#loading);
    if (!(await within(TEXTS_MS, all))) this.#late.abort();
    const missing = (await all).filter((gap) => gap !== undefined);
    return [...new Map(missing.map((gap) => [gap.index, gap])).values()];
  }

  async #loadOne({ index, message }: ResolvedMessage, part: MessagePart, gapId: string): Promise<Gap | undefined> {
    const placing = { message, part, gapId, now: this.#now(), emit: this.#emit };
    const missing = await readText(placing, this.#resolver, { health: this.#health }, this.#signal);
    return missing && { ...missing, index };
  }
}

export interface Placing {
  readonly message: Pick<Message, 'role' | 'created_at'>;
  readonly part: MessagePart;
  readonly gapId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly emit: (event: SessionEvent) => void;
}

/** Returns why a short text is missing; undefined if it was loaded or waits for a click. */
async function readText(
  { message, part, gapId, now, emit }: Placing,
  resolver: Pick<Resolver, 'resolvePart'>,
  options: Omit<PartOptions, 'maxBytes'>,
  signal: AbortSignal,
): Promise<Gap | undefined> {
  emit(loadingPart(part, gapId));
  const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES, ...options }, signal);
  if (found.kind === 'content') {
    emit(partFilling(message, part, found.bytes, gapId, now));
    return undefined;
  }
  const isLarge = found.reason === 'too-large';
  emit(isLarge ? unloadedPart(part, gapId) : missingPart(part, gapId, found));
  return isLarge ? undefined : found;
}

/** Failures of servers never reject. */
export async function readLivePart(
  gapId: string,
  {
    place,
    resolver,
    now,
  }: {
    readonly place: HistoryPlace;
    readonly resolver: Pick<Resolver, 'resolvePart'>;
    readonly now: () => number;
  },
  signal: AbortSignal,
): Promise<void> {
  const gap = gapIn(place, gapId);
  if (gap?.remote === undefined) return;
  const part = remotePart(gap.remote);
  if (!isRemoteText(part)) return;
  const emit = (event: SessionEvent): void => place.note([{ at: now(), event }]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TEXTS_MS)]);
  await readText({ message: saidAt(gap), part, gapId, now: now(), emit }, resolver, { isNew: true }, limit);
}

export function gapIn({ model }: HistoryPlace, gapId: string): GapEntry | undefined {
  return model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId) as GapEntry | undefined;
}

export function saidAt({ at }: GapEntry): Placing['message'] {
  return { role: 'agent', created_at: timestamp(at) };
}

const MAX_PART_BYTES = 5 * 1024 * 1024;

export interface RetryOptions {
  readonly place: HistoryPlace;
  readonly resolver: Pick<Resolver, 'resolveHistory' | 'resolveEntry' | 'resolvePart'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface GapUnlock {
  /** Asks for a token for a URL. Returns whether to retry. */
  readonly unlock?: ((url: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

const retries = new KeyedQueue<HistoryPlace>();

export function retryGap(
  gapId: string,
  url: string,
  { place, resolver, now, unlock }: RetryOptions & GapUnlock,
  signal: AbortSignal,
): Promise<boolean> {
  return retries.run(place, async () => {
    const gap = gapIn(place, gapId);
    const where = gapPosition(gapId);
    const emit = (event: SessionEvent): void => place.note([{ at: now(), event }]);
    const load = (message: Placing['message'], part: MessagePart & { readonly content_url: string }) =>
      readWanted({ message, part, gapId, now: now(), emit }, part.content_url, { resolver, unlock }, signal);
    if (gap?.remote) return await load(saidAt(gap), remotePart(gap.remote));
    if (where === undefined || gap === undefined) return false;
    const { index, part: number } = where;
    if (number === undefined) emit(loading(index, url));
    let entry = await resolver.resolveEntry(url, index, {}, signal);
    if (entry.kind === 'gap' && entry.reason === 'unauthorized' && (await unlock?.(url, signal)))
      entry = await resolver.resolveEntry(url, index, {}, signal);
    if (number === undefined) {
      emit(filling({ ...entry, index }, now()));
      return entry.kind === 'message';
    }
    if (entry.kind === 'gap') {
      emit(missingPart(undefined, gapId, entry));
      return false;
    }
    const part = entry.message.parts[number];
    return part && isRemote(part) ? await load(entry.message, part) : false;
  });
}

/** Failures of servers never reject. */
export function retryGaps(
  gaps: readonly { readonly index: number; readonly url: string }[],
  { place, resolver, now }: RetryOptions,
  signal: AbortSignal,
): Promise<void> {
  return retries.run(place, async () => {
    const isHere = new Set(place.model.state.entries.map((entry) => (entry.kind === 'gap' ? entry.gapId : undefined)));
    const openGaps = gaps.filter(({ index }) => isHere.has(`${PREFIX}${index}`));
    place.note(openGaps.map(({ index, url }) => ({ at: now(), event: loading(index, url) })));
    const late = new LateArrivals(place, now);
    late.open();
    const onEntry = (entry: HistoryEntry): void => {
      const index = openGaps[entry.index]?.index ?? 0;
      late.add(filling({ ...entry, index }, now()), entry.kind === 'message' ? entry.bytes : 0);
    };
    await resolver.resolveHistory({ id: 'missing', history: openGaps.map(({ url }) => url) }, { onEntry }, signal);
    await late.settled();
  });
}

async function readWanted(
  { message, part, gapId, now, emit }: Placing,
  url: string,
  { resolver, unlock }: Pick<RetryOptions, 'resolver'> & GapUnlock,
  signal: AbortSignal,
): Promise<boolean> {
  emit(loadingPart(part, gapId));
  const load = () => resolver.resolvePart(part, { maxBytes: MAX_PART_BYTES, asks: true }, signal);
  let found = await load();
  if (found.kind === 'gap' && found.reason === 'unauthorized' && (await unlock?.(url, signal))) found = await load();
  if (found.kind === 'gap') emit(missingPart(part, gapId, found));
  else emit(partFilling(message, part, found.bytes, gapId, now));
  return found.kind === 'content';
}
