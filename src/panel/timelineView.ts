// The turns and tool calls of a session with their times, for the timeline.

/** A turn. Times are in ms since 1970. */
export interface TimelineTurn {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly at: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  /** Transcript index of its first entry, if that is among the requested ones. */
  readonly index?: number;
  /** When it waited for the user. */
  readonly waits?: readonly { readonly from: number; readonly until: number }[];
  readonly tokens?: number;
  /** How much of the agent's context was used at its end, 0 to 1. */
  readonly context?: number;
  /** What the turn has cost, as far as the agent tells. */
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A tool call or subagent. Times are in ms since 1970. */
export interface TimelineCall {
  /** Transcript index. */
  readonly index: number;
  readonly at: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  readonly kind: string;
  readonly status: string;
  /** Its first line, shortened. */
  readonly title: string;
  /** The number of its turn; absent outside of turns. */
  readonly turn?: number;
  /** ms */
  readonly waitedMs?: number;
}

/** A part of the timeline. It replaces everything known of entries at `from` and after. */
export interface TimelineView {
  readonly from: number;
  readonly turns: readonly TimelineTurn[];
  readonly calls: readonly TimelineCall[];
  /** The host's clock, ms since 1970. */
  readonly now: number;
  /** The last part of the response. */
  readonly isDone: boolean;
}
