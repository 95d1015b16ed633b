// The first touch of the user is told to the host: an idle session starts its agent then, and not before.
import { post } from '../host/host';

/** Waits for a key, a pointer or the focus in a field, and posts `wake` once. Events made by scripts do not count. */
export function watchWake(): void {
  const abort = new AbortController();
  const options = { capture: true, passive: true, signal: abort.signal };
  const wake = (event: Event): void => {
    if (!event.isTrusted) return;
    if (event.type === 'focusin' && (isQuiet || !(event.target instanceof HTMLTextAreaElement))) return;
    abort.abort();
    post({ type: 'wake' });
  };
  for (const type of ['keydown', 'pointerdown', 'focusin']) window.addEventListener(type, wake, options);
}

let isQuiet = false;

/** Gives the focus to something without the user: an old session that is shown is read, and its agent is not needed for that. */
export function withoutWaking(focus: () => void): void {
  isQuiet = true;
  focus();
  isQuiet = false;
}
