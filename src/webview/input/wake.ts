// Reports the user's first interaction to the host, which then starts the agent of an idle session.
import { isCtrl } from '../dom/ctrlKey';
import { post } from '../host/host';
import { messageField } from './typing';

export function watchWake(): void {
  const abort = new AbortController();
  const options = { capture: true, passive: true, signal: abort.signal };
  const wake = (event: Event): void => {
    if (!event.isTrusted) return;
    if (isReading(event)) return;
    if (event.type === 'focusin' && (isQuiet || !(event.target instanceof HTMLTextAreaElement))) return;
    abort.abort();
    post({ type: 'wake' });
  };
  for (const type of ['keydown', 'pointerdown', 'focusin']) window.addEventListener(type, wake, options);
}

const MODIFIERS: ReadonlySet<string> = new Set(['Control', 'Meta', 'Shift', 'Alt']);

/** Find and the timeline need no agent. */
function isReading(event: Event): boolean {
  if (event instanceof KeyboardEvent && (MODIFIERS.has(event.key) || isCtrl(event, 'f'))) return true;
  return event.target instanceof Element && event.target.closest('.find, .timeline') !== null;
}

let isQuiet = false;

/** Moves the focus by code, which is not an interaction. */
export function quietly(move: () => void): void {
  isQuiet = true;
  move();
  isQuiet = false;
}

export function focusComposer(): void {
  messageField()?.focus();
}
