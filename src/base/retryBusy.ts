// Changes of files that Windows refuses for a moment, as a virus scanner, an indexer or another
// window has the file open.

/** In milliseconds; 1.3 s together. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 160, 320, 640];
const BUSY: ReadonlySet<unknown> = new Set(['EPERM', 'EBUSY', 'EACCES']);

/**
 * Makes a change, such as a rename over a file. On Windows it is tried again while a file is in
 * use; elsewhere the same errors mean that it is not allowed.
 * @throws what the last attempt has thrown
 */
export async function retryBusy<T>(
  change: () => Promise<T>,
  platform: string = process.platform,
  waits: readonly number[] = WAITS_MS,
): Promise<T> {
  for (const ms of platform === 'win32' ? waits : []) {
    try {
      return await change();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  return change();
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && BUSY.has(error.code);
}
