// Time limits combined with the caller's signal.
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';

/** A signal that aborts with the caller's or on timeout. Dispose it afterwards. */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onCallerAbort = (): void => this.#controller.abort(this.#caller.reason);

  constructor(what: LocalizableText, ms: number, caller: AbortSignal) {
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      const seconds = Math.round(ms / 100) / 10;
      this.#controller.abort(
        new ParleyError('timeout', localizable("{0} didn't respond within {1} seconds.", what, seconds)),
      );
    }, ms);
    if (caller.aborted) this.#onCallerAbort();
    else caller.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  lift(): void {
    clearTimeout(this.#timer);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
  }
}

/** Throws the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Rejects with the signal's reason if that comes first; the promise itself continues. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export function isBrokenConnection(error: unknown): boolean {
  return BROKEN.has(systemCode(error));
}

/** Of an error or its cause, such as `ECONNREFUSED`; '' if none. */
export function systemCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z_]{3,40}$/.test(at.code)) return at.code;
  }
  return '';
}
