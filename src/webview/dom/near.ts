// Which boxes are near the visible part of the transcript. One observer for all of them; it also tells their height, so that nobody has to ask the layout. What it
// finds is told in the next frame, together with all else that changes the page: so the reader's place can be held over all of it.
import { type Disposable, toDisposable } from '../../base/disposable';

type Listener = (near: boolean, height: number) => void;

export interface NearWatcher {
  /** Tells soon, and on each change, whether `element` is within reach of the eye, and how tall it is (px). */
  watch(element: Element, listener: Listener): Disposable;
  /** Tells of `element` anew, also where nothing changes; what was found before and is not told yet counts no more. */
  renew(element: Element): void;
}

export interface NearObserver extends NearWatcher {
  /** Tells what was found since the last time. */
  flush(): void;
  /** Looks at what is in sight without waiting for the observer, which only comes after the picture is drawn. */
  look(): void;
}

/**
 * @param margin how far beyond the edges of `root` still counts as near, px
 * @param invalidate something was found: call `flush` in the next frame
 */
export function createNearObserver(root: HTMLElement, margin: number, invalidate: () => void): NearObserver {
  const listeners = new WeakMap<Element, Listener>();
  let found = new Map<Element, { readonly near: boolean; readonly height: number }>();
  const take = (entries: readonly IntersectionObserverEntry[]): void => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      found.set(target, { near: isIntersecting, height: boundingClientRect.height });
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
    renew(element) {
      // What was found of it until now is of another time, and so is its height.
      take(observer.takeRecords());
      found.delete(element);
      observer.unobserve(element);
      observer.observe(element);
    },
    flush() {
      // On a busy machine the observer's call may come after this frame, and its heights would be those from before what is drawn now.
      take(observer.takeRecords());
      const now = found;
      found = new Map();
      for (const [element, { near, height }] of now) listeners.get(element)?.(near, height);
    },
    look() {
      const { left, top, bottom } = root.getBoundingClientRect();
      const x = left + root.clientWidth / 2;
      for (const y of [top + 1, (top + bottom) / 2, bottom - 1]) {
        // A box that is drawn is covered by what is in it.
        const hit = document.elementFromPoint(x, y);
        if (!hit || hit.childElementCount > 0 || !listeners.has(hit)) continue;
        found.set(hit, { near: true, height: hit.getBoundingClientRect().height });
        invalidate();
      }
    },
  };
}
