// Runs jobs with the same key one after another, in order; jobs with different keys run
// concurrently.

export class KeyedQueue<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  get size(): number {
    return this.#last.size;
  }

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
