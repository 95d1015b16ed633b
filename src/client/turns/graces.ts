// How long the turn engine waits for what an agent should send and may never send, in milliseconds.

export const GRACES = {
  /** Between the answer and the promised turn_complete. */
  barrierMs: 10_000,
  /** The same while updates show no progress. */
  longestBarrierMs: 60_000,
  /** Between turn_complete and the answer. */
  answerMs: 10_000,
  /** Until an unclear answer, idle or turn_complete counts. */
  unclearMs: 1000,
};

export type Graces = Readonly<typeof GRACES>;
