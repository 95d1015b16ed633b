// The second key of a chord such as Ctrl+K J is for VS Code, which is told of it: the page must not
// type it.
import { isCtrl } from '../dom/ctrlKey';

/** How long VS Code waits for the second key, ms. */
const WAIT_MS = 5000;
const MODIFIERS: ReadonlySet<string> = new Set(['Control', 'Meta', 'Alt', 'Shift', 'AltGraph']);

/** Handlers see `defaultPrevented`. */
export function watchChords(): void {
  let waitsUntil = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (MODIFIERS.has(event.key)) return;
    const isSecond = event.timeStamp < waitsUntil;
    waitsUntil = 0;
    if (isSecond) event.preventDefault();
    else if (isCtrl(event, 'k')) waitsUntil = event.timeStamp + WAIT_MS;
  };
  window.addEventListener('keydown', onKey, { capture: true });
  // VS Code no longer waits.
  window.addEventListener('blur', () => {
    waitsUntil = 0;
  });
}
