// Loads missing messages of a history again, and content that the user asks for.
import { KeyedQueue } from '../../base/keyedQueue';
import type { SessionEvent } from '../../session/events/event';
import { isRemote, loadingPart, missingPart } from '../ports/agentServers';
import { type MessagePart, remotePart } from '../ports/messages';
import type { HistoryEntry, Resolver } from '../ports/resources';
import { filling, loading, PREFIX, partFilling, placeOf } from './historyEvents';
import { type HistoryPlace, LateArrivals } from './lateArrivals';
import { gapIn, type Placing, saidAt } from './partTexts';

/** Bytes of what the user asks for. */
const MAX_PART_BYTES = 5 * 1024 * 1024;

export interface RetryOptions {
  readonly place: HistoryPlace;
  readonly resolver: Pick<Resolver, 'resolveHistory' | 'resolveEntry' | 'resolvePart'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface GapUnlock {
  /**
   * Asks for a token for this URL.
   * @returns whether to try again
   */
  readonly unlock?: ((url: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

const retries = new KeyedQueue<HistoryPlace>();

/**
 * Loads the message or part of one gap again.
 * @param url unused if the gap has its own address
 */
export function retryGap(
  gapId: string,
  url: string,
  { place, resolver, now, unlock }: RetryOptions & GapUnlock,
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

/** Loads the messages of many gaps again. Never rejects for what servers do. */
export function retryGaps(
  gaps: readonly { readonly index: number; readonly url: string }[],
  { place, resolver, now }: RetryOptions,
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

async function readWanted(
  { message, part, gapId, now, tell }: Placing,
  url: string,
  { resolver, unlock }: Pick<RetryOptions, 'resolver'> & GapUnlock,
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
