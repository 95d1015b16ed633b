// Asynchronous jobs in order or a few at a time.

/** Runs jobs with the same key one after another; jobs with different keys run concurrently. */
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

/**
 * Returns what `run` gives for each item, in their order.
 * @throws what the first failing run throws; no further one starts then
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index] as T);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  } finally {
    next = items.length;
  }
  return results;
}
