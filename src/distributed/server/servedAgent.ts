// The interface of an agent that the server can offer to clients of the Agent Communication
// Protocol. The extension implements it for each agent that the user chose.
import { isRemoteText, withBytes } from '../client/runParts';
import type { Resolver } from '../fetch/resolver';
import { gapSentence } from '../model/gap';
import { type Message, type MessagePart, type SessionDescriptor, textPart } from '../model/model';

/** An entry of a session's past, in its place: a message, or why there is none. */
export type PastMessage =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'gap'; readonly reason: string };

/** The state of a session, which belongs to its agents and is opaque to everybody else. */
export interface SessionState {
  readonly url: string;
  readonly content: Uint8Array | string;
}

export interface RunState {
  read(signal: AbortSignal): Promise<SessionState | undefined>;
  /**
   * @param previous URL of the state that this one continues
   * @returns its URL; undefined if there is another state by now
   */
  store(content: Uint8Array, previous: string | undefined): Promise<string | undefined>;
}

export interface ServedRunContext {
  readonly runId: string;
  readonly session: SessionDescriptor;
  history(signal: AbortSignal): Promise<readonly PastMessage[]>;
  withTexts(messages: readonly Message[], signal: AbortSignal): Promise<readonly Message[]>;
  readonly state: RunState;
}

/** Takes output in order. Throws once the run has ended or has produced too much. */
export interface RunEmitter {
  part(part: MessagePart): void;
  message(parts: readonly MessagePart[]): void;
  generic(value: Readonly<Record<string, unknown>>): void;
  /**
   * Asks the caller (`run.awaiting`); permissions are never answered by the server itself.
   * @param withdrawn aborts when the question is obsolete
   * @throws its reason, or that of the run's signal
   */
  ask(question: readonly MessagePart[], withdrawn?: AbortSignal): Promise<Message>;
}

export interface ServedAgent {
  readonly name: string;
  readonly description: string;
  readonly inputContentTypes: readonly string[];
  readonly outputContentTypes: readonly string[];
  /**
   * Works on one prompt; runs of a session come one after another.
   * @throws ParleyError, whose sentence the client gets; of other errors it learns nothing
   */
  run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void>;
}

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

/** An unreadable part is replaced by the reason: agents can't use its address. */
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
