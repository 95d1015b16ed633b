// Long computations in slices, so that the extension host answers in between.
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 8;
const STEPS_AT_ONCE = 256;

export class Slices {
  #began = performance.now();
  #steps = 0;

  /** As {@link pause}, after each small step. */
  step(): Promise<void> | undefined {
    this.#steps += 1;
    return this.#steps % STEPS_AT_ONCE === 0 ? this.pause() : undefined;
  }

  /** Lets other work run if the slice is used up. Call it about every thousand small steps. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await setImmediate();
    this.#began = performance.now();
  }

  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.pause();
    }
  }
}
