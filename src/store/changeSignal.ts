// Notifies windows that another one has written to the journal file. Writers touch the file, which
// the others watch, as systems report writes to an open file late or not at all.
import { type FSWatcher, utimesSync, watch } from 'node:fs';
import type { Disposable } from '../base/disposable';

/** Writes within this time, in ms, are reported together. */
const COALESCE_MS = 300;
/** Poll interval in ms if the system does not report changes of the file. */
const POLL_MS = 1000;

export interface ChangeSignalOptions {
  readonly path: string;
  /** Returns whether another machine may write to the file, which the system does not report. */
  readonly isShared: () => boolean;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly onChange: () => void;
}

export class ChangeSignal implements Disposable {
  readonly #options: ChangeSignalOptions;
  #watcher: FSWatcher | undefined;
  #lookTimer: Disposable | undefined;
  #touchTimer: Disposable | undefined;

  constructor(options: ChangeSignalOptions) {
    this.#options = options;
    this.watch();
  }

  watch(): void {
    const { path, isShared } = this.#options;
    this.#watcher?.close();
    this.#watcher = undefined;
    try {
      if (!isShared()) {
        this.#watcher = watch(path, { persistent: false }, () => this.#lookIn(COALESCE_MS));
        this.#watcher.on('error', () => this.#stopWatching());
      }
    } catch {
      // With too many watched files, poll instead.
    }
    this.#lookIn(POLL_MS);
  }

  touch(): void {
    this.#touchTimer ??= this.#options.schedule(() => this.#touch(), COALESCE_MS);
  }

  dispose(): void {
    if (this.#touchTimer) this.#touch();
    this.#touchTimer?.dispose();
    this.#lookTimer?.dispose();
    this.#watcher?.close();
  }

  #touch(): void {
    this.#touchTimer?.dispose();
    this.#touchTimer = undefined;
    const now = new Date();
    try {
      utimesSync(this.#options.path, now, now);
    } catch {
      // The next write to the journal reports the problem.
    }
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#lookIn(POLL_MS);
  }

  #lookIn(ms: number): void {
    this.#lookTimer ??= this.#options.schedule(() => {
      this.#lookTimer = undefined;
      this.#options.onChange();
      if (!this.#watcher) this.#lookIn(POLL_MS);
    }, ms);
  }
}
