// Text typed while no field has the focus goes into the message. Part of the first script too.
import { isMac } from '../dom/ctrlKey';
import { isComposing } from '../dom/dom';

/** Read letters themselves. */
const READERS = 'input, textarea, select, [role=listbox], [role=menu], dialog';

/** Undefined in a page that has no composer. */
export function messageField(): HTMLTextAreaElement | undefined {
  return document.querySelector<HTMLTextAreaElement>('textarea.message') ?? undefined;
}

/**
 * Moves the focus to the message before the browser types the key there.
 * @returns what ends this
 */
export function watchTyping(): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.repeat || isComposing(event) || !isTyped(event)) return;
    const { activeElement, body } = document;
    // Elsewhere, Space presses and scrolls, and a question mark lists the keys.
    if ((event.key === ' ' || event.key === '?') && activeElement !== body) return;
    if (!activeElement?.closest(READERS) && !document.querySelector('dialog[open]')) messageField()?.focus();
  };
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}

/**
 * Keys that type nothing, such as `Enter` and `F1`. Others type several letters, as Arabic
 * lam-alef.
 */
const NAMED = /^[A-Z][A-Za-z0-9]+$/;

/** Returns whether a key types something or is a dead key, and no shortcut. */
export function isTyped(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (key !== 'Dead' && NAMED.test(key)) return false;
  return event.getModifierState('AltGraph') || !(ctrlKey || metaKey || (altKey && !isMac));
}
