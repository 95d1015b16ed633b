// When an agent that went away is started again without being asked, and when that stops: a few times with growing pauses, then it is the user's turn.

/** Pauses before the first, second, third start in a row, in milliseconds. */
const PAUSES_MS = [100, 1_000, 4_000] as const;
/** An agent that lived longer than this has started well, in milliseconds: its end begins a new row. */
const LIVED_WELL_MS = 60_000;

export type RecoveryStep =
  | { readonly kind: 'restart'; readonly attempt: number; readonly of: number; readonly afterMs: number }
  | { readonly kind: 'give-up'; readonly attempts: number };

/** Counts the ends of one conversation's agents. Pure but for its count; times are milliseconds since 1970. */
export class RecoveryPolicy {
  #row = 0;
  #readyAt: number | undefined;

  /** The session could be used again. */
  ready(now: number): void {
    this.#readyAt = now;
  }

  /** The user started it after it was given up: what went before does not count. */
  reset(): void {
    this.#row = 0;
  }

  /** The agent ended by itself. */
  ended(now: number): RecoveryStep {
    if (this.#readyAt !== undefined && now - this.#readyAt >= LIVED_WELL_MS) this.#row = 0;
    this.#readyAt = undefined;
    const afterMs = PAUSES_MS[this.#row];
    if (afterMs === undefined) return { kind: 'give-up', attempts: this.#row };
    this.#row++;
    return { kind: 'restart', attempt: this.#row, of: PAUSES_MS.length, afterMs };
  }
}
