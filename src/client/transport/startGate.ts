// Limits the number of agents that start at the same time. Each start is CPU-bound: dozens would
// delay each other, the window and the panel.
import { availableParallelism } from 'node:os';

/** A longer start waits for something other than the CPU. */
const LONGEST_MS = 1000;

export class StartGate {
  readonly #longestMs: number;
  readonly #queue = new Set<() => void>();
  #free: number;

  constructor(slots = Math.max(2, availableParallelism()), longestMs = LONGEST_MS) {
    this.#free = slots;
    this.#longestMs = longestMs;
  }

  /**
   * Runs a start when a slot is free, the latest request first: the user waits for it.
   * @throws what `start` throws; `signal`'s reason
   */
  async run<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#acquireSlot(signal);
    let hasSlot = true;
    const release = (): void => {
      if (!hasSlot) return;
      hasSlot = false;
      const next = [...this.#queue].at(-1);
      if (next) next();
      else this.#free++;
    };
    const timer = setTimeout(release, this.#longestMs);
    try {
      return await start();
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  #acquireSlot(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      this.#queue.delete(enter);
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = (): void => {
      this.#queue.delete(enter);
      reject(signal.reason);
    };
    this.#queue.add(enter);
    signal.addEventListener('abort', giveUp, { once: true });
    return promise;
  }
}
