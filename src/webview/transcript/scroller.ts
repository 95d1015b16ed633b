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
    // Wheel and touch tell the wish before the position does, while the end may be moving away below.
    box.addEventListener('wheel', (event) => this.#wished(event.deltaY < 0), options);
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
  }

  dispose(): void {
    this.#dispose.dispose();
  }

  #wished(up: boolean): void {
    if (up && this.#box.scrollTop > 0) this.#setPinned(false);
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const movedUp = scrollTop < this.#lastTop - 1;
    const movedDown = scrollTop > this.#lastTop + 1;
    this.#lastTop = scrollTop;
    const atEnd = scrollHeight - clientHeight - scrollTop < NEAR_END;
    if (atEnd && (movedDown || scrollHeight <= clientHeight)) this.#setPinned(true);
    else if (movedUp && !atEnd) this.#setPinned(false);
    this.#onScroll();
  }

  #setPinned(pinned: boolean): void {
    if (this.#pinned === pinned) return;
    this.#pinned = pinned;
    this.#onPinned(pinned);
  }
}
