// Runs an asynchronous function for many items, a few at a time.

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
