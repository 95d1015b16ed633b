// The interface of an agent that the server can offer to clients of the Agent Communication
// Protocol. The extension implements it for each agent that the user chose.
import type { Message, MessagePart, SessionDescriptor } from '../model/model';

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
