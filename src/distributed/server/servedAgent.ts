// The interface of an agent that the server offers to clients of the Agent Communication Protocol.
import { isRemoteText, withBytes } from '../client/runParts';
import type { Resolver } from '../fetch/resolver';
import { gapSentence } from '../model/gap';
import { type Message, type MessagePart, type SessionDescriptor, textPart } from '../model/model';

/** A message at its position, or why it is missing. */
export type PastMessage =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'gap'; readonly reason: string };

/** Opaque to everyone but the agents of the session. */
export interface SessionState {
  readonly url: string;
  readonly content: Uint8Array | string;
}

export interface RunState {
  read(signal: AbortSignal): Promise<SessionState | undefined>;
  /** Returns the URL; undefined if the state `previous` was replaced in the meantime. */
  store(content: Uint8Array, previous: string | undefined): Promise<string | undefined>;
}

export interface ServedRunContext {
  readonly runId: string;
  readonly session: SessionDescriptor;
  history(signal: AbortSignal): Promise<readonly PastMessage[]>;
  withTexts(messages: readonly Message[], signal: AbortSignal): Promise<readonly Message[]>;
  readonly state: RunState;
}

/** In order. Throws once the run has ended or has produced too much. */
export interface RunEmitter {
  part(part: MessagePart): void;
  message(parts: readonly MessagePart[]): void;
  generic(value: Readonly<Record<string, unknown>>): void;
  /**
   * Asks the caller (`run.awaiting`); the server never answers permissions itself. Throws the
   * reason of `withdrawn` or of the run's signal.
   */
  ask(question: readonly MessagePart[], withdrawn?: AbortSignal): Promise<Message>;
}

export interface ServedAgent {
  readonly name: string;
  readonly description: string;
  readonly inputContentTypes: readonly string[];
  readonly outputContentTypes: readonly string[];
  /** Runs of a session are sequential. Clients see only messages of ParleyErrors. */
  run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void>;
}

/** Limits of remote texts per session; the newest are fetched. */
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_TEXTS = 20;

/** In full length. A part that can't be fetched stays a URL. */
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
    const read = async (part: MessagePart): Promise<readonly MessagePart[]> => {
      if (!wanted.includes(part)) return [part];
      const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES }, signal);
      return [found.kind === 'content' ? withBytes(part, found.bytes) : part];
    };
    const message = wanted.length === 0 ? entry.message : await withParts(entry.message, read);
    past.push({ kind: 'message', message });
  }
  return past.reverse();
}

/** Replaces unreadable parts by the reason, because agents can't use the URL. */
export async function readTexts(
  resolver: Pick<Resolver, 'resolvePart'>,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<readonly Message[]> {
  let left = MAX_TEXTS;
  const read = async (part: MessagePart): Promise<readonly MessagePart[]> => {
    if (!isRemoteText(part)) return [part];
    if (left === 0) return [part, textPart(`[unavailable: more than ${MAX_TEXTS} texts lie elsewhere]`)];
    left -= 1;
    const found = await resolver.resolvePart(part, { maxBytes: MAX_TEXT_BYTES, isNew: true }, signal);
    if (found.kind === 'content') return [withBytes(part, found.bytes)];
    return [part, textPart(`[unavailable: ${gapSentence(found.reason, found.host)}]`)];
  };
  return await Promise.all(messages.map((message) => withParts(message, read)));
}

async function withParts(
  message: Message,
  read: (part: MessagePart) => Promise<readonly MessagePart[]>,
): Promise<Message> {
  return { ...message, parts: (await Promise.all(message.parts.map(read))).flat() };
}
