// Runs that are asked for while one waits for its turn are one run.
import { Deferred } from '../../base/deferred';
import type { KeyedQueue } from '../../base/keyedQueue';

interface Waiting<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  callers: number;
}

/** Serialises one operation, and shares a run that has not begun. */
export class SharedRun<T> {
  readonly #queue: KeyedQueue<'store'>;
  readonly #operation: (signal: AbortSignal) => Promise<T>;
  #waiting: Waiting<T> | undefined;

  /** @param queue what else must not run at the same time */
  constructor(queue: KeyedQueue<'store'>, operation: (signal: AbortSignal) => Promise<T>) {
    this.#queue = queue;
    this.#operation = operation;
  }

  /**
   * The result of a run that begins after this call. It is aborted when all that wait for it are.
   * @throws what the operation throws; the reason of `signal`
   */
  run(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#waiting ??= this.#start();
    const waiting = this.#waiting;
    waiting.callers += 1;
    if (!signal) return waiting.promise;
    const left = new Deferred<T>();
    const leave = (): void => {
      left.reject(signal.reason);
      waiting.callers -= 1;
      if (waiting.callers === 0) {
        waiting.abort.abort();
        if (this.#waiting === waiting) this.#waiting = undefined;
      }
    };
    signal.addEventListener('abort', leave, { once: true });
    return Promise.race([waiting.promise, left.promise]).finally(() => signal.removeEventListener('abort', leave));
  }

  #start(): Waiting<T> {
    const abort = new AbortController();
    const promise = this.#queue.run('store', () => {
      if (this.#waiting === waiting) this.#waiting = undefined;
      return this.#operation(abort.signal);
    });
    promise.catch(() => undefined);
    const waiting: Waiting<T> = { promise, abort, callers: 0 };
    return waiting;
  }
}
