// Tells windows that another one has written to the journal file. Writers touch the file, because
// systems report writes to an open file late or not at all; the other windows watch it.
import { type FSWatcher, utimesSync, watch } from 'node:fs';
import type { Disposable } from '../base/disposable';

/** Writes within this time, in milliseconds, are announced and read together. */
const TOGETHER_MS = 300;
/** Interval in milliseconds of looks at a file whose changes the system does not report. */
const POLL_MS = 1000;

export interface ChangeSignalOptions {
  readonly path: string;
  /** Returns whether another machine may write to the file, which is not reported here. */
  readonly isShared: () => boolean;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** Called after another window may have written. */
  readonly onChange: () => void;
}

export class ChangeSignal implements Disposable {
  readonly #options: ChangeSignalOptions;
  #watcher: FSWatcher | undefined;
  #looking: Disposable | undefined;
  #touching: Disposable | undefined;

  constructor(options: ChangeSignalOptions) {
    this.#options = options;
    this.watch();
  }

  /** Watches the file that has this path now. */
  watch(): void {
    const { path, isShared } = this.#options;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      if (!isShared()) {
        this.#watcher = watch(path, { persistent: false }, () => this.#lookIn(TOGETHER_MS));
        this.#watcher.on('error', () => this.#unwatched());
      }
    } catch {
      // Too many files are watched: it is looked at instead.
    }
    this.#lookIn(POLL_MS);
  }

  /** Call after a write. */
  touch(): void {
    this.#touching ??= this.#options.schedule(() => this.#touch(), TOGETHER_MS);
  }

  dispose(): void {
    if (this.#touching) this.#touch();
    this.#touching?.dispose();
    this.#looking?.dispose();
    this.#watcher?.close();
  }

  #touch(): void {
    this.#touching?.dispose();
    this.#touching = undefined;
    const now = new Date();
    try {
      utimesSync(this.#options.path, now, now);
    } catch {
      // The next write to the journal reports what is wrong with the file.
    }
  }

  #unwatched(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#lookIn(POLL_MS);
  }

  #lookIn(ms: number): void {
    this.#looking ??= this.#options.schedule(() => {
      this.#looking = undefined;
      this.#options.onChange();
      if (!this.#watcher) this.#lookIn(POLL_MS);
    }, ms);
  }
}
