// Waits until a burst of changes is over.

/** In milliseconds. */
export interface QuietTimes {
  /** Limit for the first change. */
  readonly first: number;
  /** Limit for each further change. */
  readonly quiet: number;
  readonly last: number;
}

/** `watch` calls its argument for each change. Throws the reason of `signal`. */
export async function untilQuiet(
  watch: (changed: () => void) => { dispose(): unknown },
  { first, quiet, last }: QuietTimes,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      watcher.dispose();
      clearTimeout(quietTimer);
      clearTimeout(limitTimer);
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
    let quietTimer = setTimeout(done, first);
    const limitTimer = setTimeout(done, last);
    const watcher = watch(() => {
      clearTimeout(quietTimer);
      quietTimer = setTimeout(done, quiet);
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
