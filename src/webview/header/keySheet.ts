// A dialog with the keyboard shortcuts of the panel, opened with `?`.
import { isMac } from '../dom/ctrlKey';
import { button, el, setAttributes } from '../dom/dom';
import { post } from '../host/host';
import { strings } from '../text/strings';

export function openKeySheet(): void {
  const list = el('dl', 'keys');
  for (const [key, label] of strings.keys(isMac)) list.append(el('dt', '', el('kbd', '', key)), el('dd', '', label));
  const allKeysButton = button('secondary small', strings.allKeys, () => {
    sheet.close();
    post({ type: 'command', command: 'showKeys' });
  });
  const close = button('primary small', strings.close, () => sheet.close());
  const actions = el('div', 'key-actions', allKeysButton, close);
  const sheet = setAttributes(el('dialog', 'key-sheet', el('h2', '', strings.keyboardShortcuts), list, actions), {
    'aria-label': strings.keyboardShortcuts,
  });
  sheet.addEventListener('close', () => sheet.remove());
  document.body.append(sheet);
  sheet.showModal();
  close.focus();
}

/** Opens the dialog on `?` unless a text is being typed. */
export function watchKeySheet(): void {
  window.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    const isField = target instanceof Element && target.matches('input, textarea, select');
    if (key !== '?' || isField || ctrlKey || metaKey || altKey || defaultPrevented) return;
    event.preventDefault();
    if (!document.querySelector('dialog')) openKeySheet();
  });
}
