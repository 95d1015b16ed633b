// How long the turn engine waits for what an agent should send and may never send, in milliseconds.

export const GRACES = {
  /** How long an agent may be quiet between the answer and the promised turn_complete. */
  barrierMs: 10_000,
  /** The same while it sends only what shows no progress, from the last progress on. */
  longestBarrierMs: 60_000,
  /** How long the answer may trail turn_complete before the next prompt goes without it. */
  answerMs: 10_000,
  /** How long it stays open what an unclear answer, idle or turn_complete means. */
  unclearMs: 1000,
};

export type Graces = Readonly<typeof GRACES>;
