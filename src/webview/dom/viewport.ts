// Observes which elements are near the viewport of the transcript. A single observer for all
// elements also reports their heights, so that no code forces a layout. Results are delivered in
// the next frame with all other changes, so that the scroll position is preserved across all of
// them.
import { type Disposable, toDisposable } from '../../base/disposable';

type Listener = (near: boolean, height: number) => void;

export interface ViewportWatcher {
  /** Reports whether `element` is near, and its height (px), soon and on each change. */
  watch(element: Element, listener: Listener): Disposable;
  /** Reports `element` again, and discards pending results. */
  reobserve(element: Element): void;
}

export interface ViewportObserver extends ViewportWatcher {
  flush(): void;
  /** Checks what is visible now; the observer only runs after painting. */
  checkVisible(): void;
}

/**
 * @param margin px
 * @param invalidate called when there are results: call `flush` in the next frame
 */
export function createViewportObserver(root: HTMLElement, margin: number, invalidate: () => void): ViewportObserver {
  const listeners = new WeakMap<Element, Listener>();
  let pending = new Map<Element, { readonly near: boolean; readonly height: number }>();
  const take = (entries: readonly IntersectionObserverEntry[]): void => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      pending.set(target, { near: isIntersecting, height: boundingClientRect.height });
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      take(entries);
      invalidate();
    },
    { root, rootMargin: `${margin}px 0px` },
  );
  return {
    watch(element, listener) {
      listeners.set(element, listener);
      observer.observe(element);
      return toDisposable(() => {
        observer.unobserve(element);
        listeners.delete(element);
      });
    },
    reobserve(element) {
      // Drops outdated results.
      take(observer.takeRecords());
      pending.delete(element);
      observer.unobserve(element);
      observer.observe(element);
    },
    flush() {
      // The observer's callback can run after this frame, with outdated heights.
      take(observer.takeRecords());
      const results = pending;
      pending = new Map();
      for (const [element, { near, height }] of results) listeners.get(element)?.(near, height);
    },
    checkVisible() {
      const { left, top, bottom } = root.getBoundingClientRect();
      const x = left + root.clientWidth / 2;
      // The top edge may be covered.
      for (const y of [top + 30, (top + bottom) / 2, bottom - 1]) {
        // A point hits a watched element itself only while it is empty, that is, not rendered.
        const hit = document.elementFromPoint(x, y);
        if (!hit || hit.childElementCount > 0 || !listeners.has(hit)) continue;
        pending.set(hit, { near: true, height: hit.getBoundingClientRect().height });
        invalidate();
      }
    },
  };
}
