// Loads the code about changed files when something has changed, as most sessions begin without it.
import { fileUrl } from '../dom/pageStyles';
import type { ChangesPart } from './changesPart';
import type { PanelServices } from './panelServices';

let services: PanelServices;
let part: ChangesPart | undefined;
let loading: Promise<ChangesPart> | undefined;

/** Call it before anything else here. */
export function connectChanges(to: PanelServices): void {
  services = to;
}

/** Returns the part if it is loaded. */
export function changesPart(): ChangesPart | undefined {
  return part;
}

/** Calls `use` with the part, at once if it is loaded. */
export function withChanges(use: (part: ChangesPart) => void): void {
  if (part) {
    use(part);
    return;
  }
  loading ??= import(fileUrl('changes.js')).then((module: typeof import('./changesPart')) => {
    part = module.createPart(services);
    return part;
  });
  void loading.then(use);
}
