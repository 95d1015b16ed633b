// Runs jobs with the same key one after another, in order; jobs with different keys run
// concurrently.

/** Serialises jobs by key. If a job fails, the next one still runs. */
export class KeyedQueue<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** The number of keys with a running or waiting job. */
  get size(): number {
    return this.#last.size;
  }

  /** Runs `job` after all earlier jobs of the key. Settles as the job does. */
  run<T>(key: K, job: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(job);
    const ended = mine.then(ignore, ignore).then(() => {
      // Only the last job of a key removes it; otherwise a new job would overtake waiting ones.
      if (this.#last.get(key) === ended) this.#last.delete(key);
    });
    this.#last.set(key, ended);
    return mine;
  }
}

function ignore(): void {}
