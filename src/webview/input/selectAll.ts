// Selects and copies the whole session: the page has only what is near, so the host copies. With
// nothing selected, the message in focus is copied.

import { post } from '../host/host';

/**
 * @param copyAll copies more than what is drawn
 * @param copyFocused copies the message in focus; false: there is none
 */
export function watchSelectAll(content: HTMLElement, copyAll: () => void, copyFocused: () => boolean): void {
  /** VS Code's own Select All may select more than the transcript. */
  let isAll = false;
  window.addEventListener('keydown', (event) => {
    if (isKey(event, 'a') && !isField(event.target)) {
      event.preventDefault();
      document.getSelection()?.selectAllChildren(content);
      isAll = true;
    } else if (isKey(event, 'c') && !isField(event.target) && document.getSelection()?.isCollapsed !== false) {
      if (copyFocused()) event.preventDefault();
    } else if (!isKey(event, 'c') && !['Control', 'Meta'].includes(event.key)) isAll = false;
  });
  window.addEventListener('pointerdown', ({ button }) => {
    if (button === 0) isAll = false;
  });
  document.addEventListener('copy', (event) => {
    if (!isAll || document.getSelection()?.isCollapsed !== false || isField(document.activeElement)) return;
    event.preventDefault();
    copyAll();
  });
}

function isKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, letter: string): boolean {
  return key.toLowerCase() === letter && ctrlKey !== metaKey && !shiftKey && !altKey;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, textarea, select');
}

/** If the browser does not let the page write, the host writes the Markdown. */
export async function writeClipboard({ text, html }: { readonly text: string; readonly html: string }): Promise<void> {
  const types = { 'text/plain': text, 'text/html': html };
  const parts = Object.entries(types).map(([type, part]) => [type, new Blob([part], { type })]);
  try {
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(parts))]);
  } catch {
    post({ type: 'copy', text });
  }
}
