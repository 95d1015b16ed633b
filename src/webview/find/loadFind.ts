// Loads the find widget when it is first opened.
import { isCtrl } from '../dom/ctrlKey';
import { el } from '../dom/dom';
import { fileUrl } from '../dom/pageStyles';
import type { Find } from './findPart';
import type { FindServices } from './findServices';

let services: FindServices;
let find: Find | undefined;
let isLoading = false;

/** Call it before anything else here. The find key works from then on. */
export function connectFind(to: FindServices): void {
  services = to;
  // VS Code must not see the key: it has commands of its own for it.
  const onKey = (event: KeyboardEvent): void => {
    if (!isCtrl(event, 'f')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    openFind();
  };
  window.addEventListener('keydown', onKey, { capture: true });
}

/** Returns the widget if it is loaded. */
export function loadedFind(): Find | undefined {
  return find;
}

/** Opens the widget and focuses it. */
export function openFind(): void {
  if (find) find.open();
  else if (!isLoading) void load();
}

/** What is typed meanwhile is searched for, and does not go into the message. */
async function load(): Promise<void> {
  isLoading = true;
  const { activeElement } = document;
  const isSelected = document.getSelection()?.isCollapsed === false;
  const typed = el('input', 'sr-only');
  if (!isSelected) {
    services.frame.append(typed);
    typed.focus({ preventScroll: true });
  }
  try {
    const module: typeof import('./findPart') = await import(fileUrl('find.js'));
    find = new module.Find(services);
  } finally {
    if (!isSelected && activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
    typed.remove();
  }
  find.open(typed.value);
}
