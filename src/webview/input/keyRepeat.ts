// Ignores key repeat for keys that act. A held key was pressed for what had the focus at the time,
// perhaps in VS Code's UI, and must not send a message, press a button or answer a question that
// gets the focus meanwhile.

const CARD = '[data-permission-id], [data-elicitation-id]';
const FIELD = 'input, textarea, select';

/** Characters and line breaks in fields repeat. */
export function ignoreKeyRepeat(): void {
  document.addEventListener(
    'keydown',
    (event) => {
      if (!event.repeat || !(event.target instanceof Element) || !acts(event, event.target)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}

function acts({ key, shiftKey }: KeyboardEvent, target: Element): boolean {
  const isField = target.matches(FIELD);
  if (key === 'Enter') return !(isField && shiftKey);
  return !isField && target.closest(CARD) !== null && /^[1-9 ]$/.test(key);
}
