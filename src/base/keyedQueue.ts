// Asynchronous jobs, in order or a few at a time.

/** Jobs with the same key run one after another; jobs with different keys run concurrently. */
export class KeyedQueue<K> {
  readonly #tails = new Map<K, Promise<unknown>>();

  get size(): number {
    return this.#tails.size;
  }

  run<T>(key: K, job: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(job);
    const ended = result.then(ignore, ignore).then(() => {
      // A later job of the key may be waiting.
      if (this.#tails.get(key) === ended) this.#tails.delete(key);
    });
    this.#tails.set(key, ended);
    return result;
  }
}

function ignore(): void {}

/** Results are in the order of the items. After a failure, no further run starts. */
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
