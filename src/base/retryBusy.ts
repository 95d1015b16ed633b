// Retries file changes that Windows refuses while a virus scanner or another window has the file
// open.

/** 1.3 s in total. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 160, 320, 640];
const BUSY: ReadonlySet<unknown> = new Set(['EPERM', 'EBUSY', 'EACCES']);

/** Only on Windows; elsewhere the same errors mean missing permission. Throws the last error. */
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
