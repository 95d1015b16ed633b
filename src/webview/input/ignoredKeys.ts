// Ignores keys not meant for the page: the second key of a chord, and repeated keys.
import { isCtrl } from '../dom/ctrlKey';

/** How long VS Code waits for the second key, ms. */
const WAIT_MS = 5000;
export const MODIFIERS: ReadonlySet<string> = new Set(['Control', 'Meta', 'Alt', 'Shift', 'AltGraph']);

/**
 * Ignores the second key of a chord such as Ctrl+K J, which is for VS Code. Handlers see
 * `defaultPrevented`.
 */
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
  // VS Code no longer waits for it.
  window.addEventListener('blur', () => {
    waitsUntil = 0;
  });
}

const CARD = '[data-permission-id], [data-elicitation-id]';
const FIELD = 'input, textarea, select';

/**
 * Ignores repeats of a key that was pressed elsewhere, perhaps in VS Code's UI: they must not send
 * a message, press a button or answer a question that just got the focus. Characters and line
 * breaks in fields repeat if the key was pressed in the page.
 */
export function ignoreKeyRepeat(): void {
  let pressed: string | undefined;
  document.addEventListener(
    'keydown',
    (event) => {
      if (!event.repeat) pressed = event.code;
      if (!event.repeat || !(event.target instanceof Element)) return;
      if (pressed === event.code && !acts(event, event.target)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
  window.addEventListener('blur', () => {
    pressed = undefined;
  });
}

function acts({ key, shiftKey }: KeyboardEvent, target: Element): boolean {
  const isField = target.matches(FIELD);
  if (key === 'Enter') return !(isField && shiftKey);
  return !isField && target.closest(CARD) !== null && /^[1-9 ]$/.test(key);
}
