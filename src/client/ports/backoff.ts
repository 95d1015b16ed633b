// When to try again after a lost connection: soon at first, then less often, not all clients at the same moment, and not for ever.
import type { Disposable } from '../../base/disposable';

/** Waiting times in milliseconds; about a minute and a half together. */
const DELAYS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 30_000] as const;

/** Which attempt comes next, of how many. */
export interface Attempt {
  readonly attempt: number;
  readonly of: number;
}

/** A row of attempts, each after a longer wait. */
export class Backoff implements Disposable {
  readonly #delays: readonly number[];
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(delays: readonly number[] = DELAYS) {
    this.#delays = delays;
  }

  /** A row of attempts has begun and has not led to anything yet. */
  get isUnderWay(): boolean {
    return this.#used > 0;
  }

  /** Runs the next attempt after its wait, of which up to a half is left out at random. @returns undefined where all attempts are used up */
  next(run: () => void): Attempt | undefined {
    clearTimeout(this.#timer);
    const delay = this.#delays[this.#used];
    if (delay === undefined) return undefined;
    this.#used++;
    this.#timer = setTimeout(run, delay * (1 - Math.random() / 2));
    return { attempt: this.#used, of: this.#delays.length };
  }

  /** The attempt that waits is not waited for: it is made now by whoever calls, or not at all. */
  skipWait(): void {
    clearTimeout(this.#timer);
  }

  /** The row is over; the next one begins from the start. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#used = 0;
  }
}
