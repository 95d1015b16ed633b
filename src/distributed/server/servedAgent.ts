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
   * Replaces the state.
   * @param previous URL of the state that this one continues; absent: there was none
   * @returns its URL; undefined if the session has another state than `previous` by now
   * @throws ParleyError of the stores
   */
  store(content: Uint8Array, previous: string | undefined): Promise<string | undefined>;
}

export interface ServedRunContext {
  readonly runId: string;
  readonly session: SessionDescriptor;
  history(signal: AbortSignal): Promise<readonly PastMessage[]>;
  /**
   * The messages with the short texts in them that lie behind addresses of their own; where one
   * can't be read, the reason stands behind it.
   */
  withTexts(messages: readonly Message[], signal: AbortSignal): Promise<readonly Message[]>;
  readonly state: RunState;
}

/**
 * Takes what an agent produces, in order. All methods throw once the run has ended, or has produced
 * more than is kept.
 */
export interface RunEmitter {
  part(part: MessagePart): void;
  message(parts: readonly MessagePart[]): void;
  generic(value: Readonly<Record<string, unknown>>): void;
  /**
   * Asks the caller of the run (`run.awaiting`). Permission requests come this way: they are never
   * answered by the server itself.
   * @param withdrawn aborts when the question is no longer to be answered: the run continues
   * without an answer
   * @returns the answer
   * @throws the reason of `withdrawn`, or of the run's own signal where it is cancelled instead
   */
  ask(question: readonly MessagePart[], withdrawn?: AbortSignal): Promise<Message>;
}

export interface ServedAgent {
  readonly name: string;
  readonly description: string;
  readonly inputContentTypes: readonly string[];
  readonly outputContentTypes: readonly string[];
  /**
   * Works on one prompt. Runs of one session come one after another.
   * @param signal aborts when the run is cancelled; whatever was produced is kept
   * @throws ParleyError, whose sentence the client is told (code `invalid-input` where the input
   * was at fault); of other errors it learns nothing
   */
  run(input: readonly Message[], context: ServedRunContext, out: RunEmitter, signal: AbortSignal): Promise<void>;
}
