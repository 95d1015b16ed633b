// Long computations in slices, so that the extension host answers in between.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of one slice. */
const SLICE_MS = 8;

/** Divides one computation into slices. */
export class Slices {
  #began = performance.now();

  /** Lets other work run if the slice is used up. Call it every thousand small steps or so. */
  async pause(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await setImmediate();
    this.#began = performance.now();
  }

  /** Runs a computation that yields every thousand small steps or so. */
  async run<T>(steps: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.pause();
    }
  }
}
