// Keeps the end of the transcript in view as long as the reader is there, and leaves them alone when they are not. The layout is never asked per update: the
// observer tells after each layout that the content grew, and one write moves to the end.
import { type Disposable, toDisposable } from '../../base/disposable';

/** This close to the end counts as being there, px. */
const NEAR_END = 24;

export class Scroller implements Disposable {
  readonly #box: HTMLElement;
  readonly #onPinned: (pinned: boolean) => void;
  readonly #onScroll: () => void;
  readonly #dispose: Disposable;
  #pinned = true;
  #lastTop = 0;
  #lastDistance = 0;

  /** @param box what scrolls @param content what is in it */
  constructor(box: HTMLElement, content: HTMLElement, onPinned: (pinned: boolean) => void, onScroll: () => void) {
    this.#box = box;
    this.#onPinned = onPinned;
    this.#onScroll = onScroll;
    const observer = new ResizeObserver(() => this.stick());
    observer.observe(content);
    observer.observe(box);
    const abort = new AbortController();
    const options = { passive: true, signal: abort.signal };
    box.addEventListener('scroll', () => this.#scrolled(), options);
    this.#dispose = toDisposable(() => {
      observer.disconnect();
      abort.abort();
    });
  }

  get isPinned(): boolean {
    return this.#pinned;
  }

  /** Follows the end again. */
  pin(): void {
    this.#setPinned(true);
    this.stick();
  }

  unpin(): void {
    this.#setPinned(false);
  }

  /** Moves to the end, if that is what the reader follows. */
  stick(): void {
    if (!this.#pinned) return;
    this.#box.scrollTop = 1e9;
    this.#lastTop = this.#box.scrollTop;
    this.#lastDistance = 0;
  }

  /** The position was set by a program: the scroll event to come is no wish of the reader. */
  settle(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    this.#lastTop = scrollTop;
    this.#lastDistance = scrollHeight - clientHeight - scrollTop;
  }

  dispose(): void {
    this.#dispose.dispose();
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const distance = scrollHeight - clientHeight - scrollTop;
    // The browser moves the position too, when something above changes its height; the distance from the end stays the same then.
    const movedUp = scrollTop < this.#lastTop - 1 && distance > 1;
    const movedDown = distance < this.#lastDistance - 1;
    this.#lastTop = scrollTop;
    this.#lastDistance = distance;
    if (movedUp) this.#setPinned(false);
    else if (movedDown && distance < NEAR_END) this.#setPinned(true);
    this.#onScroll();
  }

  #setPinned(pinned: boolean): void {
    if (this.#pinned === pinned) return;
    this.#pinned = pinned;
    this.#onPinned(pinned);
  }
}
