// How long the turn engine waits for what an agent should send and may never send.

/** How long the engine waits, in milliseconds. */
export interface Graces {
  /** How long an agent may be quiet between the answer and the promised turn_complete. */
  readonly barrierMs: number;
  /** The same while it sends only what shows no progress, from the last progress on. */
  readonly longestBarrierMs: number;
  /** How long the answer may trail turn_complete before the next prompt goes without it. */
  readonly answerMs: number;
  /** How long it stays open what an unclear answer, idle or turn_complete means. */
  readonly unclearMs: number;
}

export const GRACES: Graces = {
  barrierMs: 10_000,
  longestBarrierMs: 60_000,
  answerMs: 10_000,
  unclearMs: 1000,
};
