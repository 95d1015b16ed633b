// Decides when buffered data is written: to the stream file after a moment, to the journal in bulk.
import { type Disposable, toDisposable } from '../base/disposable';

/** How long data may be in the stream file only, in ms. */
const BULK_MS = 30_000;
/** Idle time after the end of a turn before a bulk write, in milliseconds. */
const REST_MS = 1000;
/** Minimum time between two bulk writes, in milliseconds. */
const BULK_GAP_MS = 1000;
/** Delay before a bulk write is retried while another window writes, in milliseconds. */
const BUSY_RETRY_MS = 100;
const MAX_BUSY = 20;

export interface WriteTimersOptions {
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** How long chunks are collected before they are appended, in milliseconds. */
  readonly streamMs: number;
  /** Returns whether another window is writing to the file. */
  readonly isBusy: () => boolean;
  readonly stream: () => void;
  readonly write: () => void;
}

export class WriteTimers {
  readonly #options: WriteTimersOptions;
  #stream: Disposable | undefined;
  #bulk: Disposable | undefined;
  #rest: Disposable | undefined;
  #isSoon = false;
  #last = Number.NEGATIVE_INFINITY;
  #busy = 0;

  constructor(options: WriteTimersOptions) {
    this.#options = options;
  }

  streamLater(): void {
    this.#stream ??= this.#options.schedule(() => {
      this.#stream = undefined;
      this.#options.stream();
    }, this.#options.streamMs);
    this.bulkLater();
  }

  bulkLater(): void {
    this.#rest?.dispose();
    this.#rest = undefined;
    this.#bulk ??= this.#options.schedule(() => this.#onBulk(), BULK_MS);
  }

  /** A turn has ended in the stream file: other windows see it once nothing follows. */
  bulkAtRest(): void {
    this.bulkLater();
    this.#rest = this.#options.schedule(() => {
      this.#rest = undefined;
      this.bulkSoon();
    }, REST_MS);
  }

  bulkSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#bulk?.dispose();
    const wait = this.#last + BULK_GAP_MS - performance.now();
    this.#bulk = this.#options.schedule(() => this.#onBulk(), Math.max(0, wait));
  }

  /** Stops all timers. Called when everything is being written, or after the last write. */
  end(): void {
    this.#stream?.dispose();
    this.#bulk?.dispose();
    this.#rest?.dispose();
    this.#stream = undefined;
    this.#bulk = undefined;
    this.#rest = undefined;
    this.#isSoon = false;
    this.#busy = 0;
    this.#last = performance.now();
  }

  #onBulk(): void {
    this.#bulk = undefined;
    this.#isSoon = false;
    if (this.#busy < MAX_BUSY && this.#options.isBusy()) {
      this.#busy++;
      this.#isSoon = true;
      this.#bulk = this.#options.schedule(() => this.#onBulk(), BUSY_RETRY_MS);
      return;
    }
    this.#options.write();
  }
}

/** Runs something after a number of milliseconds without keeping the process alive. */
export function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return toDisposable(() => clearTimeout(timer));
}
