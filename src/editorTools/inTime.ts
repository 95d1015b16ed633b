// Bounds the wait for answers that may never come, such as those of a hung language server.

/** Throws the reason of `signal`; after `ms`, an Error with a sentence for the model. */
export async function inTime<T>(answer: PromiseLike<T>, ms: number, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const never = new Promise<never>((_, reject) => {
    const late = (): void => reject(new Error(`The editor did not answer within ${ms / 1000} s: try again.`));
    const timer = setTimeout(late, ms);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([answer, never]);
  } finally {
    stop();
  }
}
