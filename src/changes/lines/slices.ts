// Splits long computations into slices, so that the extension host stays responsive.
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 8;
const STEPS_PER_PAUSE = 256;

export class Slices {
  #startedAt = performance.now();
  #steps = 0;

  step(): Promise<void> | undefined {
    this.#steps += 1;
    return this.#steps % STEPS_PER_PAUSE === 0 ? this.pause() : undefined;
  }

  /** Yields if the slice is used up. Call it about every thousand small steps. */
  async pause(): Promise<void> {
    if (performance.now() - this.#startedAt < SLICE_MS) return;
    await setImmediate();
    this.#startedAt = performance.now();
  }

  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.pause();
    }
  }
}
