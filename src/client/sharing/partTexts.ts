// Loads short texts that a message has behind addresses of their own, without being asked.
import { within } from '../../base/within';
import type { SessionEvent } from '../../session/events/event';
import type { GapEntry } from '../../session/model/state';
import { isRemoteText, loadingPart, missingPart, partGapId, unloadedPart } from '../ports/agentServers';
import { type Message, type MessagePart, remotePart, timestamp } from '../ports/messages';
import { type Gap, OriginHealth, type PartOptions, type ResolvedMessage, type Resolver } from '../ports/resources';
import { PREFIX, partFilling } from './historyEvents';
import type { HistoryPlace } from './lateArrivals';
import { remotePartsOf } from './pastEvents';

/** Limits of remote texts that are loaded with their messages, newest first. */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_TEXTS = 200;
/** How long such texts are waited for once all messages are there, in milliseconds. */
const TEXTS_MS = 60_000;
export class PartTexts {
  readonly #resolver: Pick<Resolver, 'resolvePart'>;
  readonly #now: () => number;
  readonly #tell: (event: SessionEvent) => void;
  readonly #late = new AbortController();
  readonly #signal: AbortSignal;
  readonly #health = new OriginHealth();
  readonly #loading: Promise<Gap | undefined>[] = [];

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

  /** @returns one gap for each message that lacks texts */
  async settled(): Promise<readonly Gap[]> {
    const all = Promise.all(this.#loading);
    if (!(await within(TEXTS_MS, all))) this.#late.abort();
    const missing = (await all).filter((gap) => gap !== undefined);
    return [...new Map(missing.map((gap) => [gap.index, gap])).values()];
  }

  async #loadOne({ index, message }: ResolvedMessage, part: MessagePart, gapId: string): Promise<Gap | undefined> {
    const says = { message, part, gapId, now: this.#now(), tell: this.#tell };
    const missing = await readText(says, this.#resolver, { health: this.#health }, this.#signal);
    return missing && { ...missing, index };
  }
}

export interface Placing {
  readonly message: Pick<Message, 'role' | 'created_at'>;
  readonly part: MessagePart;
  readonly gapId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly tell: (event: SessionEvent) => void;
}

/**
 * Reads a short text.
 * @returns why it is missing; undefined if it is there or waits for a click
 */
async function readText(
  { message, part, gapId, now, tell }: Placing,
  resolver: Pick<Resolver, 'resolvePart'>,
  options: Omit<PartOptions, 'maxBytes'>,
  signal: AbortSignal,
): Promise<Gap | undefined> {
  tell(loadingPart(part, gapId));
  const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES, ...options }, signal);
  if (found.kind === 'content') {
    tell(partFilling(message, part, found.bytes, gapId, now));
    return undefined;
  }
  const isLarge = found.reason === 'too-large';
  tell(isLarge ? unloadedPart(part, gapId) : missingPart(part, gapId, found));
  return isLarge ? undefined : found;
}

/** Fills a gap of a running answer if it is a short text. Never rejects for what servers do. */
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
  const tell = (event: SessionEvent): void => place.note([{ at: now(), event }]);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TEXTS_MS)]);
  await readText({ message: saidAt(gap), part, gapId, now: now(), tell }, resolver, { isNew: true }, limit);
}

export function gapIn({ model }: HistoryPlace, gapId: string): GapEntry | undefined {
  return model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId) as GapEntry | undefined;
}

export function saidAt({ at }: GapEntry): Placing['message'] {
  return { role: 'agent', created_at: timestamp(at) };
}
