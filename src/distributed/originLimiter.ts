// How many requests go out at a time: in all, and to one origin. A slow server holds up its own requests only.

interface Waiting {
  readonly origin: string;
  readonly start: () => void;
}

/** Runs jobs in the order they came, as far as both caps let them. */
export class OriginLimiter {
  readonly #maxTotal: number;
  readonly #maxPerOrigin: number;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(maxTotal: number, maxPerOrigin: number) {
    this.#maxTotal = maxTotal;
    this.#maxPerOrigin = maxPerOrigin;
  }

  /** Runs a job when there is room for its origin; settles as the job does. */
  async run<T>(origin: string, job: () => Promise<T>): Promise<T> {
    if (!this.#hasRoom(origin)) {
      await new Promise<void>((resolve) => this.#waiting.push({ origin, start: resolve }));
    } else this.#count(origin, 1);
    try {
      return await job();
    } finally {
      this.#count(origin, -1);
      this.#startNext();
    }
  }

  #hasRoom(origin: string): boolean {
    return this.#total < this.#maxTotal && (this.#running.get(origin) ?? 0) < this.#maxPerOrigin;
  }

  #startNext(): void {
    for (let at = 0; at < this.#waiting.length && this.#total < this.#maxTotal; ) {
      const next = this.#waiting[at];
      if (next === undefined || !this.#hasRoom(next.origin)) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      // Counted here, not when it runs, or two would take the same room.
      this.#count(next.origin, 1);
      next.start();
    }
  }

  #count(origin: string, by: number): void {
    this.#total += by;
    const left = (this.#running.get(origin) ?? 0) + by;
    if (left === 0) this.#running.delete(origin);
    else this.#running.set(origin, left);
  }
}
