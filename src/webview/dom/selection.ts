// Tracks which elements the selection touches: they stay in the document, fully rendered.
import { type Disposable, toDisposable } from '../../base/disposable';

type Listener = (touched: boolean) => void;

const listeners = new Map<Element, Listener>();
const touched = new Set<Element>();
let scheduled = false;

export function watchSelection(element: Element, listener: Listener): Disposable {
  if (listeners.size === 0) document.addEventListener('selectionchange', schedule);
  listeners.set(element, listener);
  return toDisposable(() => {
    listeners.delete(element);
    touched.delete(element);
    if (listeners.size === 0) document.removeEventListener('selectionchange', schedule);
  });
}

export function isInUse(element: Element): boolean {
  return element.contains(document.activeElement) || isTouched(element);
}

export function isTouched(element: Element): boolean {
  const selection = document.getSelection();
  return selection?.anchorNode != null && selection.containsNode(element, true);
}

/** Once per frame: dragging changes the selection with each move. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(notifySelectionListeners);
}

export function notifySelectionListeners(): void {
  scheduled = false;
  const isElsewhere = document.activeElement?.matches('textarea, input') ?? false;
  for (const [element, listener] of listeners) {
    const now = !isElsewhere && isTouched(element);
    if (now === touched.has(element)) continue;
    if (now) touched.add(element);
    else touched.delete(element);
    listener(now);
  }
}
