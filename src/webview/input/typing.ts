// Text typed without a focused field goes into the message. Also part of the first script.
import { isMac } from '../dom/ctrlKey';
import { isComposing } from '../dom/dom';

/** Elements that handle letters themselves. */
const READERS = 'input, textarea, select, [role=listbox], [role=menu], dialog';

/** Returns undefined on a page without a composer. */
export function messageField(): HTMLTextAreaElement | undefined {
  return document.querySelector<HTMLTextAreaElement>('textarea.message') ?? undefined;
}

/**
 * Focuses the message before the browser types the key there.
 * @returns stops this
 */
export function watchTyping(): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.repeat || isComposing(event) || !isTyped(event)) return;
    const { activeElement, body } = document;
    // Elsewhere, Space presses or scrolls, and `?` opens the shortcuts.
    if ((event.key === ' ' || event.key === '?') && activeElement !== body) return;
    if (!activeElement?.closest(READERS) && !document.querySelector('dialog[open]')) messageField()?.focus();
  };
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}

/**
 * Named keys such as `Enter` and `F1`. Other keys can type several letters, such as Arabic
 * lam-alef.
 */
const NAMED = /^[A-Z][A-Za-z0-9]+$/;

/** Returns whether a key types text or is a dead key, rather than a shortcut. */
export function isTyped(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (key !== 'Dead' && NAMED.test(key)) return false;
  return event.getModifierState('AltGraph') || !(ctrlKey || metaKey || (altKey && !isMac));
}
