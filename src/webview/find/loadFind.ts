// Loads the find widget when it is first opened.
import { isCtrl } from '../dom/ctrlKey';
import { fileUrl } from '../dom/pageStyles';
import type { Find } from './findPart';
import type { FindServices } from './findServices';

let services: FindServices;
let find: Find | undefined;
let loading: Promise<Find> | undefined;

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
  loading ??= import(fileUrl('find.js')).then((module: typeof import('./findPart')) => {
    find = new module.Find(services);
    return find;
  });
  void loading.then((loaded) => loaded.open());
}
