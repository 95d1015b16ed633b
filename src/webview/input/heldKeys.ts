// A key that is held acts once. It was pressed for what had the focus then, perhaps in VS Code's own lists, and
// must not send a message, press a button or answer a question that gets the focus while it is still down.

const CARD = '[data-permission-id], [data-elicitation-id]';
const FIELD = 'input, textarea, select';

/** Drops the repeats of held keys that act. In fields, what is typed and line breaks repeat. */
export function watchHeldKeys(): void {
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
