// Waiting with a timeout.

import { Deferred } from './deferred';
import { ParleyError } from './errors';
import { localizable } from './localizable';

/** Returns whether the promise resolved within `ms`. Throws its rejection in time. */
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

/** @throws ParleyError `no-answer` after `ms`, with the request aborted */
export async function withTimeout(ms: number, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  const late = new Deferred<never>();
  const timer = setTimeout(() => {
    abort.abort();
    late.reject(new ParleyError('no-answer', localizable('no response within {0} s', ms / 1000)));
  }, ms);
  try {
    await Promise.race([run(abort.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
