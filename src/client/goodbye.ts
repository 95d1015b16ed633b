// What is said to an agent that is about to go: its answer is waited for, but not for long.
import { Deferred } from '../base/deferred';
import { ParleyError } from '../base/errors';

/**
 * Runs one last request. @param limit milliseconds
 * @throws ParleyError `no-answer` after that, with the request cancelled; what `run` throws
 */
export async function withinLimit(limit: number, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  const late = new Deferred<never>();
  const timer = setTimeout(() => {
    abort.abort();
    late.reject(new ParleyError('no-answer', `there was no answer within ${limit / 1000} s`));
  }, limit);
  try {
    await Promise.race([run(abort.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
