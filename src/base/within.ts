// Waiting with a limit.

/**
 * Waits for a promise, but not longer than a time.
 * @param ms milliseconds
 * @returns whether it resolved in time @throws what it rejects with in time
 */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
