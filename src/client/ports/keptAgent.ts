// A process agent that a keeper owns: it outlives the window that started it, and one window after
// the other attaches to it. The keeper knows lines and bytes, and nothing of the protocol.
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import type { TimedEvent } from '../../session/events/event';
import type { KeptCommands } from './keptCommands';

/** What the keeper does while no window is attached. */
export interface KeeperLease {
  /**
   * Ids of requests of ours: the agent works until each has its response. Compared as JSON values,
   * at the top level of a line.
   */
  readonly endMarks: readonly (string | number)[];
  /** The agent works without an end mark: it is given the longest time. */
  readonly isAtWork: boolean;
  /** Written before stdin is closed: one message without its newline. */
  readonly goodbye?: string;
}

/** The keeper's side of a running agent. */
export interface KeptAgent {
  /** Names the keeper. Line numbers belong to one keeper. */
  readonly id: string;
  /** When the agent was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** It ran before this window attached. Its lines come from {@link deliver} on. */
  readonly ranBefore: boolean;
  /** It ended before this window attached: nothing can be sent to it. */
  readonly hasEnded: boolean;
  /** Runs commands that outlive this window as the agent does; undefined: its keeper is too old for that. */
  readonly commands: KeptCommands | undefined;
  /** What was set last by the windows before. */
  readonly facts: Uint8Array | undefined;
  /**
   * Replaces the facts. They go in one frame with the next message that is written, so that the
   * keeper has both or neither; where none is written in the same turn of the event loop, alone.
   * @param now they go alone, and at once
   * @throws RangeError above MAX_FACTS_BYTES
   */
  setFacts(bytes: Uint8Array, now?: boolean): void;
  /**
   * Begins delivery for an agent that ran before: first the lines of `open` whose request has no
   * answer yet, then all after `line`. A new agent's lines are delivered without it.
   */
  deliver(progress: LineProgress): void;
  /** The journal has stored so much: the keeper may forget it, but for `open`. */
  stored(progress: LineProgress): void;
  /** Replaces the lease; sent at once, since a window may end without a word. */
  lease(lease: KeeperLease): void;
  /** Lets go of the agent, which runs on. Resolves when the keeper has all that was written. */
  detach(): Promise<void>;
  /** Resolves when another window has attached; nothing more is delivered or taken then. */
  readonly lost: Promise<void>;
}

/** Bytes of the facts that a keeper takes. */
export const MAX_FACTS_BYTES = 1024 * 1024;

/** What a conversation tells its kept agent, and what an earlier window has left with it. */
export interface KeptSession {
  readonly agent: KeptAgent;
  /**
   * What an earlier window has left: the JSON-RPC ids of prompts that have left, by prompt.
   * Undefined: the agent began in this window.
   */
  readonly earlier: { readonly prompts: ReadonlyMap<string, string> } | undefined;
  /** Returns the ends of texts that the journal of the earlier window does not have at its last step. */
  takeHeldBack(step: number): readonly TimedEvent[];
  /** The session that another window would go on with; set once it is open for good. */
  sessionId: string | undefined;
  /** @param source returns the JSON-RPC ids of prompts without an answer, by prompt */
  promptsFrom(source: () => ReadonlyMap<string, string>): void;
  /**
   * Ends of texts are not in the journal as it will be at a step: the keeper has them for the next
   * window.
   */
  holdBack(step: number, heldBack: readonly TimedEvent[]): void;
  /** Returns the prompts that have left and are not among those that are awaited. */
  settled(awaited: ReadonlySet<string>): readonly string[];
  /**
   * The journal has reached a step.
   * @param settled prompts whose end it has: until then the next window would take them for such
   * as have not left, if the keeper did not know them
   */
  stored(step: number, settled: readonly string[]): void;
  /** Lets go of the agent, which runs on, and closes the connection to it. */
  detach(): Promise<void>;
}
