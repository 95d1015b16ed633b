// A process agent that a keeper owns: it outlives the window that started it, and one window after
// the other attaches to it. The keeper knows lines and bytes, and nothing of the protocol.
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import type { TimedEvent } from '../../session/events/event';
import type { KeptCommands } from './keptCommands';

/** What the keeper does while no window is attached. */
export interface KeeperLease {
  /**
   * Ids of our requests: the agent works until each has its response. Compared as JSON values, at
   * the top level of a line.
   */
  readonly endMarks: readonly (string | number)[];
  /** It works without an end mark, for the longest time. */
  readonly isAtWork: boolean;
  /** One message, written before stdin is closed. */
  readonly goodbye?: string;
}

export interface KeptAgent {
  /** Line numbers belong to one keeper. */
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Its lines come from {@link deliver} on. */
  readonly ranBefore: boolean;
  /** It ended before this window attached. */
  readonly hasEnded: boolean;
  /** Undefined: the keeper is too old. */
  readonly commands: KeptCommands | undefined;
  readonly facts: Uint8Array | undefined;
  /**
   * Replaces the facts, in one frame with the next message, so that the keeper has both or neither;
   * alone if none follows in this turn of the event loop.
   * @param now they go alone
   */
  setFacts(bytes: Uint8Array, now?: boolean): void;
  /**
   * Delivers the unanswered lines of `open`, then all after `line`. Only for an agent that ran
   * before.
   */
  deliver(progress: LineProgress): void;
  /** The journal has stored this: the keeper may forget it, except `open`. */
  stored(progress: LineProgress): void;
  /** Sent immediately: a window may end without notice. */
  lease(lease: KeeperLease): void;
  /** Detaches; the agent keeps running. Resolves when the keeper has everything. */
  detach(): Promise<void>;
  /** Resolves when another window has attached. */
  readonly lost: Promise<void>;
}

/** Bytes of the facts that a keeper takes. */
export const MAX_FACTS_BYTES = 1024 * 1024;

export interface KeptSession {
  readonly agent: KeptAgent;
  /**
   * JSON-RPC ids of prompts sent by an earlier window, by prompt. Undefined: the agent began in
   * this window.
   */
  readonly earlier: { readonly prompts: ReadonlyMap<string, string> } | undefined;
  /** Returns the ends of texts that the earlier window's journal lacks. */
  takeHeldBack(step: number): readonly TimedEvent[];
  /** Set once another window could continue the session. */
  sessionId: string | undefined;
  /** @param source returns the JSON-RPC ids of unanswered prompts, by prompt */
  promptsFrom(source: () => ReadonlyMap<string, string>): void;
  /** The keeper holds ends of texts that the journal lacks, for the next window. */
  holdBack(step: number, heldBack: readonly TimedEvent[]): void;
  settled(awaited: ReadonlySet<string>): readonly string[];
  /**
   * The journal has reached a step.
   * @param settled prompts whose end it has; until then the keeper must know them, or the next
   * window would send them again
   */
  stored(step: number, settled: readonly string[]): void;
  detach(): Promise<void>;
}
