// A process agent owned by a keeper: it outlives the window that started it, and later windows
// attach to it. The keeper handles lines and bytes, not the protocol.
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import type { TimedEvent } from '../../session/events/event';
import type { KeptCommands } from './keptCommands';

export interface KeeperLease {
  /**
   * Ids of our requests: the agent is working until each has a response. Compared as JSON values,
   * at the top level of a line.
   */
  readonly endMarks: readonly (string | number)[];
  /** The agent works without an end mark, up to the maximum time. */
  readonly isAtWork: boolean;
  /** Written before stdin is closed. */
  readonly goodbye?: string;
}

export interface KeptAgent {
  /** Line numbers are valid for one keeper only. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Its lines arrive after {@link deliver}. */
  readonly ranBefore: boolean;
  readonly hasEnded: boolean;
  /** Undefined if the keeper is too old. */
  readonly commands: KeptCommands | undefined;
  readonly facts: Uint8Array | undefined;
  /**
   * Replaces the facts, in one frame with the next message, so that the keeper gets both or
   * neither; alone if no message follows in this turn of the event loop.
   * @param now sends them immediately and alone
   */
  setFacts(bytes: Uint8Array, now?: boolean): void;
  /**
   * Delivers the unanswered lines of `open`, then all after `line`. Only for an agent that ran
   * before.
   */
  deliver(progress: LineProgress): void;
  /** The journal has stored this: the keeper may discard it, except `open`. */
  stored(progress: LineProgress): void;
  /** Sent immediately, as a window may end without notice. */
  lease(lease: KeeperLease): void;
  /** Detaches; the agent keeps running. Resolves when the keeper has received everything. */
  detach(): Promise<void>;
  readonly lost: Promise<void>;
}

export const MAX_FACTS_BYTES = 1024 * 1024;

export interface KeptSession {
  readonly agent: KeptAgent;
  /**
   * JSON-RPC ids of prompts sent by an earlier window, by prompt. Undefined if the agent was
   * started by this window.
   */
  readonly earlier: { readonly prompts: ReadonlyMap<string, string> } | undefined;
  /** Returns the ends of texts that the earlier window's journal lacks. */
  takeHeldBack(step: number): readonly TimedEvent[];
  /** Set once another window could continue the session. */
  sessionId: string | undefined;
  /** @param source returns the JSON-RPC ids of unanswered prompts, by prompt */
  promptsFrom(source: () => ReadonlyMap<string, string>): void;
  /** Leaves ends of texts that the journal lacks with the keeper, for the next window. */
  holdBack(step: number, heldBack: readonly TimedEvent[]): void;
  settled(awaitedPrompts: ReadonlySet<string>): readonly string[];
  /**
   * The journal has reached a step.
   * @param settled prompts whose end is stored; until then the keeper must keep them, or the next
   * window would send them again
   */
  stored(step: number, settled: readonly string[]): void;
  detach(): Promise<void>;
}
