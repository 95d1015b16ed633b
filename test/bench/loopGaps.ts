// How long the event loop stands still, as the processor's time between two turns of it: a busy
// machine says the same as a quiet one.

/** Measures from now on, until it is ended. */
export class LoopGaps {
  #longest = 0;
  #last = cpuMs();
  #isEnded = false;

  constructor() {
    const look = (): void => {
      this.#note();
      if (!this.#isEnded) setImmediate(look);
    };
    setImmediate(look);
  }

  #note(): void {
    const now = cpuMs();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  /** Forgets what was measured so far. */
  reset(): void {
    this.#longest = 0;
    this.#last = cpuMs();
  }

  /** Returns the longest block in milliseconds, and measures no longer. */
  end(): number {
    this.#isEnded = true;
    this.#note();
    return this.#longest;
  }
}

/** The processor's time of this thread, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
