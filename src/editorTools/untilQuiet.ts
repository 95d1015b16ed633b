// Waits until something that changes in bursts has come to rest.

/** Times in milliseconds. */
export interface QuietTimes {
  /** Without any change, this long after the start. */
  readonly first: number;
  /** Without a further change, this long after one. */
  readonly quiet: number;
  readonly last: number;
}

/**
 * Resolves when changes have ended.
 * @param watch calls its argument for each change
 * @throws the reason of `signal`
 */
export async function untilQuiet(
  watch: (changed: () => void) => { dispose(): unknown },
  { first, quiet, last }: QuietTimes,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      watching.dispose();
      clearTimeout(rest);
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
    };
    const done = (): void => {
      end();
      resolve();
    };
    const abort = (): void => {
      end();
      reject(signal.reason);
    };
    let rest = setTimeout(done, first);
    const limit = setTimeout(done, last);
    const watching = watch(() => {
      clearTimeout(rest);
      rest = setTimeout(done, quiet);
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
