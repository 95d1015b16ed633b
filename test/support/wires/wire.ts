// A wire: what the two sides of a connection do and when, as data. The agent of a wire
// (wireAgent.ts) answers what a client asks of any agent; all else stands in the acts.
import type { STEERING } from '../../../src/acp/proposals/steering';

/**
 * An `update` of `session/update`. `promptRequestId: '#2'` becomes the JSON-RPC id of the second
 * prompt.
 */
export type Update = Readonly<Record<string, unknown>>;

export interface Repetition {
  readonly beforeAnswer?: readonly Update[];
  readonly afterAnswer?: readonly Update[];
  readonly afterReady?: readonly Update[];
}

/** One thing that happens. `after`: milliseconds since the act before. */
export type Act = { readonly after?: number } & (
  | { readonly user: 'prompt'; readonly text: string }
  /** Queues a message and puts it into the running turn; without one it is a prompt. */
  | { readonly user: 'steer'; readonly text: string }
  | { readonly user: 'cancel' }
  /** Answers the oldest question; null dismisses it. */
  | { readonly user: 'allow'; readonly optionId: string | null }
  /** The agent is started again, if need be after its end; `repeats` is for its next session. */
  | { readonly user: 'restart'; readonly repeats?: Repetition }
  /** `withNext`: it arrives in one piece with what the agent sends next. */
  | { readonly says: Update; readonly withNext?: true }
  /**
   * The answer to the prompt or steered message of this number, counted from 1, or to the oldest of
   * a method that has none; nothing where that has not arrived.
   */
  | {
      readonly answers: number | 'session/prompt' | typeof STEERING;
      readonly result?: unknown;
      readonly error?: { readonly code: number; readonly message: string };
      readonly withNext?: true;
    }
  /** The oldest prompt or steered message that was not repeated yet, as a message of the user. */
  | { readonly echoes: true }
  | { readonly asks: Readonly<Record<string, unknown>> }
  | { readonly exits: true }
);

export interface Wire {
  readonly protocol: 1 | 2;
  readonly can: Readonly<Record<string, unknown>>;
  readonly steers?: boolean;
  /** Absent: a new session. */
  readonly opens?: 'load' | 'resume';
  readonly repeats?: Repetition;
  readonly offer?: Readonly<Record<string, unknown>>;
  readonly initialize?: unknown;
  readonly status?: unknown;
  readonly acts: readonly Act[];
}

export const text = (words: string) => ({ type: 'text', text: words });
export const agentSays = (words: string, more: Update = {}): Update => ({
  sessionUpdate: 'agent_message_chunk',
  content: text(words),
  ...more,
});
export const state = (word: string, more: Update = {}): Update => ({
  sessionUpdate: 'state_update',
  state: word,
  ...more,
});
export const complete = (more: Update = {}): Update => ({ sessionUpdate: 'turn_complete', ...more });
