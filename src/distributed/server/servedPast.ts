// The past of a session for an agent that the local server runs: its messages, with short texts
// from other addresses included.
import { isRemoteText, withBytes } from '../client/runParts';
import type { Resolver } from '../fetch/resolver';
import { gapSentence } from '../model/gap';
import { type Message, type MessagePart, type SessionDescriptor, textPart } from '../model/model';
import type { PastMessage } from './servedAgent';

/** Bytes of one remote text, and how many are fetched for a session: the newest. */
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_TEXTS = 20;

/** The history of a session, full length. A part that cannot be fetched stays an address. */
export async function servedPast(
  resolver: Resolver,
  session: SessionDescriptor,
  signal: AbortSignal,
): Promise<readonly PastMessage[]> {
  const entries = await resolver.resolveHistory(session, {}, signal);
  let left = MAX_TEXTS;
  const past: PastMessage[] = [];
  for (const entry of [...entries].reverse()) {
    if (entry.kind !== 'message') {
      past.push({ kind: 'gap', reason: gapSentence(entry.reason, entry.host) });
      continue;
    }
    const wanted = entry.message.parts.filter(isRemoteText).slice(0, left);
    left -= wanted.length;
    past.push({ kind: 'message', message: await withTexts(resolver, entry.message, new Set(wanted), signal) });
  }
  return past.reverse();
}

/** An unreadable part is replaced by the reason: agents can't use its address. */
export async function readTexts(
  resolver: Pick<Resolver, 'resolvePart'>,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<readonly Message[]> {
  let left = MAX_TEXTS;
  const read = messages.map(async (message): Promise<Message> => {
    const parts = message.parts.map(async (part): Promise<readonly MessagePart[]> => {
      if (!isRemoteText(part)) return [part];
      if (left === 0) return [part, textPart(`[unavailable: more than ${MAX_TEXTS} texts lie elsewhere]`)];
      left -= 1;
      const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES, isNew: true }, signal);
      if (found.kind === 'content') return [withBytes(part, found.bytes)];
      return [part, textPart(`[unavailable: ${gapSentence(found.reason, found.host)}]`)];
    });
    return { ...message, parts: (await Promise.all(parts)).flat() };
  });
  return await Promise.all(read);
}

async function withTexts(
  resolver: Resolver,
  message: Message,
  wanted: ReadonlySet<MessagePart>,
  signal: AbortSignal,
): Promise<Message> {
  if (wanted.size === 0) return message;
  const parts = message.parts.map(async (part): Promise<MessagePart> => {
    if (!wanted.has(part)) return part;
    const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES }, signal);
    return found.kind === 'content' ? withBytes(part, found.bytes) : part;
  });
  return { ...message, parts: await Promise.all(parts) };
}
