// What the journal says where it refuses, and its timers where nobody holds them.
import { type Disposable, toDisposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';

/** Nothing was kept under a key. */
export function unknown(key: string): ParleyError {
  return new ParleyError('journal-unknown-session', `The journal knows no session ${key}.`);
}

/** Another window writes the session. */
export function held(): ParleyError {
  return new ParleyError('session-held', 'Another window has this session.', { hint: 'Go on with it there.' });
}

/** Whether an error is {@link held}. */
export function isHeld(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'session-held';
}

/** Runs something after so many milliseconds; it does not keep the process alive. */
export function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return toDisposable(() => clearTimeout(timer));
}
