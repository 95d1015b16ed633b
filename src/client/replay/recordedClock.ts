// The time of a recording: it passes from message to message, and what waits for a silence happens
// when it would have happened live.
import { type Disposable, toDisposable } from '../../base/disposable';
import type { Schedule } from '../ports/grace';

const MAX_WAITS = 1000;

interface Wait {
  readonly at: number;
  readonly run: () => void;
}

export class RecordedClock {
  /** Ms since 1970. */
  now = 0;
  #isRunning = false;
  readonly #waits = new Set<Wait>();

  readonly schedule: Schedule = (run, ms): Disposable => {
    const wait = { at: this.now + ms, run };
    this.#waits.add(wait);
    return toDisposable(() => this.#waits.delete(wait));
  };

  /** In ms since 1970. */
  get dueAt(): number | undefined {
    return this.#next()?.at;
  }

  /** @param to ms since 1970 */
  advance(to: number): void {
    if (!this.#isRunning) this.now = to;
    this.#isRunning = true;
    for (let wait = this.#next(); wait && wait.at <= to; wait = this.#next()) this.#carryOut(wait);
    this.now = Math.max(this.now, to);
  }

  finish(): void {
    for (let count = 0; count < MAX_WAITS; count++) {
      const wait = this.#next();
      if (!wait) return;
      this.#carryOut(wait);
    }
  }

  #next(): Wait | undefined {
    let next: Wait | undefined;
    for (const wait of this.#waits) if (!next || wait.at < next.at) next = wait;
    return next;
  }

  #carryOut(wait: Wait): void {
    this.#waits.delete(wait);
    this.now = Math.max(this.now, wait.at);
    wait.run();
  }
}
