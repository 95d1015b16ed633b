// The turns and tool calls of a session with their times, for the timeline.

/** Times are in ms since 1970. */
export interface TimelineTurn {
  /** From 1. */
  readonly number: number;
  readonly at: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  /** Of its first entry, if among the requested ones. */
  readonly index?: number;
  readonly waits?: readonly { readonly from: number; readonly until: number }[];
  readonly tokens?: number;
  /** Context used at its end, 0 to 1. */
  readonly context?: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A call or subagent. Times are in ms since 1970. */
export interface TimelineCall {
  readonly index: number;
  readonly at: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  readonly kind: string;
  readonly status: string;
  /** The first line, shortened. */
  readonly title: string;
  readonly turn?: number;
  readonly waitedMs?: number;
}

/** Replaces everything from the entry `from` on. */
export interface TimelineView {
  readonly from: number;
  readonly turns: readonly TimelineTurn[];
  readonly calls: readonly TimelineCall[];
  /** The host's clock, ms since 1970. */
  readonly now: number;
  readonly isDone: boolean;
}
