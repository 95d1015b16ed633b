// A slow timer while a turn runs and is visible: without traffic, nothing else would update the
// elapsed time.
import type { Disposable } from '../../base/disposable';
import { later, type Schedule } from '../ports/grace';

/** Between two looks, in milliseconds. */
const TICK_MS = 5000;

export interface TickOptions {
  readonly isRunning: () => boolean;
  readonly onTick: () => void;
  /** Timers, so that tests can hold them. */
  readonly schedule?: Schedule | undefined;
}

export class LivenessTick implements Disposable {
  readonly #options: TickOptions;
  #timer: Disposable | undefined;

  constructor(options: TickOptions) {
    this.#options = options;
  }

  /** Somebody looks, or a turn may have begun or ended: keeps ticking as long as needed. */
  update(): void {
    if (!this.#options.isRunning()) this.dispose();
    else this.#timer ??= (this.#options.schedule ?? later)(() => this.#tick(), TICK_MS);
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
  }

  #tick(): void {
    this.#timer = undefined;
    if (this.#options.isRunning()) this.#options.onTick();
    this.update();
  }
}
