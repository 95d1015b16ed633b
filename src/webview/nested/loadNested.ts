// Loads the code about nested calls when a subagent has made the first one.
import { fileUrl } from '../dom/pageStyles';
import type { NestedPart } from './nestedPart';
import type { NestedServices } from './nestedServices';

let part: NestedPart | undefined;
let loading: Promise<NestedPart> | undefined;

/** Returns the part if it is loaded. */
export function nestedPart(): NestedPart | undefined {
  return part;
}

/** Calls `use` with the part, at once if it is loaded. */
export function withNested(services: NestedServices, use: (part: NestedPart) => void): void {
  if (part) {
    use(part);
    return;
  }
  loading ??= import(fileUrl('nested.js')).then((module: typeof import('./nestedPart')) => {
    part = new module.NestedPart(services);
    return part;
  });
  void loading.then(use);
}
