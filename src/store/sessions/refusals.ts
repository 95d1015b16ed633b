// Errors of the journal, and its default timer.
import { type Disposable, toDisposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';

/** Returns the error for a key that the journal does not have. */
export function unknown(key: string): ParleyError {
  return new ParleyError('journal-unknown-session', `The journal knows no session ${key}.`);
}

/** Returns the error for a session that another window owns. */
export function held(): ParleyError {
  return new ParleyError('session-held', 'Another window has this session.', { hint: 'Go on with it there.' });
}

/** Returns whether an error comes from {@link held}. */
export function isHeld(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'session-held';
}

/** Runs something after a number of milliseconds without keeping the process alive. */
export function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return toDisposable(() => clearTimeout(timer));
}
