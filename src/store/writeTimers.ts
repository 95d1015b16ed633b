// When what waits is written: to the stream's file after a moment, to the journal in bulk and without hurry.
import type { Disposable } from '../base/disposable';

/** How long what streams may be in the stream's own file only, in milliseconds: other windows see it then. */
const BULK_MS = 30_000;
/** How long nothing may come after the end of a turn until it is written in bulk, in milliseconds. */
const REST_MS = 1000;
/** Between two bulk writes, in milliseconds. */
const BULK_GAP_MS = 1000;
/** How long a write that may wait is tried again while another window writes, in milliseconds. */
const BUSY_RETRY_MS = 100;
const MAX_BUSY = 20;

export interface WriteTimersOptions {
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** How long chunks wait to be appended together, in milliseconds. */
  readonly streamMs: number;
  /** Whether another window writes to the file now. */
  readonly isBusy: () => boolean;
  /** Appends what came to the stream's file. */
  readonly stream: () => void;
  /** Writes all that waits to the journal. */
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

  /** Something waits that is in no file yet. */
  streamLater(): void {
    this.#stream ??= this.#options.schedule(() => {
      this.#stream = undefined;
      this.#options.stream();
    }, this.#options.streamMs);
    this.bulkLater();
  }

  /** Something waits that the stream's file has. */
  bulkLater(): void {
    this.#rest?.dispose();
    this.#rest = undefined;
    this.#bulk ??= this.#options.schedule(() => this.#onBulk(), BULK_MS);
  }

  /** A turn has ended, which the stream's file has: other windows see it as soon as nothing follows. */
  bulkAtRest(): void {
    this.bulkLater();
    this.#rest = this.#options.schedule(() => {
      this.#rest = undefined;
      this.bulkSoon();
    }, REST_MS);
  }

  /** Much waits: it is written as soon as the last bulk write is long enough ago. */
  bulkSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#bulk?.dispose();
    const wait = this.#last + BULK_GAP_MS - performance.now();
    this.#bulk = this.#options.schedule(() => this.#onBulk(), Math.max(0, wait));
  }

  /** Everything is being written now, or nothing will be any more. */
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
