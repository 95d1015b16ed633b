// Waits for something that an agent should send but may never send.
import { type Disposable, toDisposable } from '../../base/disposable';

export type Schedule = (run: () => void, ms: number) => Disposable;

export interface GraceOptions {
  readonly quietMs: number;
  /** Absent: no limit. */
  readonly longestMs?: number;
  readonly schedule?: Schedule | undefined;
  readonly onOver: () => void;
}

export class Grace implements Disposable {
  readonly #options: GraceOptions;
  readonly #longest: Disposable | undefined;
  #quiet: Disposable;

  constructor(options: GraceOptions) {
    const { longestMs, schedule = later } = options;
    this.#options = options;
    this.#quiet = this.#begin();
    this.#longest = longestMs === undefined ? undefined : schedule(() => this.#over(), longestMs);
  }

  extend(): void {
    this.#quiet.dispose();
    this.#quiet = this.#begin();
  }

  dispose(): void {
    this.#quiet.dispose();
    this.#longest?.dispose();
  }

  #begin(): Disposable {
    const { quietMs, schedule = later } = this.#options;
    return schedule(() => this.#over(), quietMs);
  }

  #over(): void {
    this.dispose();
    this.#options.onOver();
  }
}

export function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  return toDisposable(() => clearTimeout(timer));
}
