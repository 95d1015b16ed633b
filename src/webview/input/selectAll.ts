// Copies the selection, through the host if it extends beyond what is drawn.

import { post } from '../host/host';

interface Copies {
  all(): void;
  /** @returns false if the whole selection is drawn: the browser copies it */
  selected(): boolean;
  /** Copies the focused message. @returns false if there is none */
  focused(): boolean;
}

export function watchSelectAll(content: HTMLElement, copies: Copies): void {
  /** VS Code's own Select All may select more than the transcript. */
  let isAll = false;
  window.addEventListener('keydown', (event) => {
    if (isKey(event, 'a') && !isField(event.target)) {
      event.preventDefault();
      document.getSelection()?.selectAllChildren(content);
      isAll = true;
    } else if (isKey(event, 'c') && !isField(event.target) && document.getSelection()?.isCollapsed !== false) {
      if (copies.focused()) event.preventDefault();
    } else if (!isKey(event, 'c') && !['Control', 'Meta'].includes(event.key)) isAll = false;
  });
  window.addEventListener('pointerdown', ({ button }) => {
    if (button === 0) isAll = false;
  });
  document.addEventListener('copy', (event) => {
    if (isField(document.activeElement)) return;
    // Without a selection, the context menu copies too.
    if (document.getSelection()?.isCollapsed !== false) {
      if (!copies.focused()) return;
    } else if (isAll) copies.all();
    else if (!copies.selected()) return;
    event.preventDefault();
  });
}

function isKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent, letter: string): boolean {
  return key.toLowerCase() === letter && ctrlKey !== metaKey && !shiftKey && !altKey;
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, textarea, select');
}

/** Writes to the clipboard; if the browser denies that, the host writes the Markdown. */
export async function writeClipboard({ text, html }: { readonly text: string; readonly html: string }): Promise<void> {
  const types = { 'text/plain': text, 'text/html': html };
  const parts = Object.entries(types).map(([type, part]) => [type, new Blob([part], { type })]);
  try {
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(parts))]);
  } catch {
    post({ type: 'copy', text });
  }
}
