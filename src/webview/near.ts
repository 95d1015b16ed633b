// Which boxes are near the visible part of the transcript. One observer for all of them; it also tells their height, so that nobody has to ask the layout.
import { type Disposable, toDisposable } from '../base/disposable';

type Listener = (near: boolean, height: number) => void;

export interface NearWatcher {
  /** Tells at once-ish and on each change whether `element` is within reach of the eye, and how tall it is (px). */
  watch(element: Element, listener: Listener): Disposable;
}

/** @param margin how far beyond the edges of `root` still counts as near, px */
export function createNearWatcher(root: Element, margin: number): NearWatcher {
  const listeners = new WeakMap<Element, Listener>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) {
        listeners.get(target)?.(isIntersecting, boundingClientRect.height);
      }
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
  };
}
