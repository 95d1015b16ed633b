// One job at a time for each key, in the order they came; jobs of different keys do not wait for each other.

/** Runs jobs of one key strictly one after another. A job that fails does not keep the next one from running. */
export class KeyedQueue<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** Keys with a job that runs or waits. */
  get size(): number {
    return this.#last.size;
  }

  /** Runs `job` when all earlier jobs of the key have ended. Settles as the job does. */
  run<T>(key: K, job: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(job);
    const ended = mine.then(ignore, ignore).then(() => {
      // Only the newest job of a key forgets it, or the next one would overtake those that still wait.
      if (this.#last.get(key) === ended) this.#last.delete(key);
    });
    this.#last.set(key, ended);
    return mine;
  }
}

function ignore(): void {}
