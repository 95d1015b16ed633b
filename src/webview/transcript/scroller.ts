// Keeps the end of the transcript in view as long as the reader is there, and what they look at where it is when they are not. The layout is never asked per
// update: the observer tells after each layout that the content grew, before it is painted, and one write puts right what moved.
import { type Disposable, toDisposable } from '../../base/disposable';
import { type HeldPlace, holdPlace, movedBy } from './heldPlace';

/** This close to the end counts as being there, px. */
const NEAR_END = 24;
/** After the reader has touched what scrolls, a move counts as theirs for this long, ms. */
const GESTURE_MS = 1000;
const KEYS_UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home', 'Tab', ' ']);

export interface ScrollerOptions {
  /** The end is followed, or not any more. */
  onPinned(pinned: boolean): void;
  /** The position changed. @param byReader not by a program, nor by the browser because something changed its height */
  onScroll(byReader: boolean): void;
  /** Something has another height, and the end is not followed. */
  onLaidOut(): void;
  /** What is in the content and may be in sight, from top to bottom. */
  parts(): Iterable<Element>;
}

export class Scroller implements Disposable {
  readonly #box: HTMLElement;
  readonly #options: ScrollerOptions;
  readonly #dispose: Disposable;
  #pinned = true;
  /** Where a program, a layout or the reader left it. */
  #lastTop = 0;
  #lastDistance = 0;
  #lastHeight = 0;
  #lastRoom = 0;
  #touchedAt = Number.NEGATIVE_INFINITY;
  #held: { readonly frame: unknown; readonly place: HeldPlace } | undefined;

  /** @param box what scrolls @param content what is in it */
  constructor(box: HTMLElement, content: HTMLElement, options: ScrollerOptions) {
    this.#box = box;
    this.#options = options;
    const observer = new ResizeObserver(() => this.#laidOut());
    observer.observe(content);
    observer.observe(box);
    const abort = new AbortController();
    box.addEventListener('scroll', () => this.#scrolled(), { passive: true, signal: abort.signal });
    for (const type of ['wheel', 'touchmove', 'pointerdown', 'pointermove', 'keydown'] as const)
      box.addEventListener(type, (event) => this.#touched(event), { passive: true, signal: abort.signal });
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
    this.#stick();
  }

  unpin(): void {
    this.#setPinned(false);
  }

  /** Within a frame, something is about to change that must not move what is being read. */
  hold(): void {
    const frame = document.timeline.currentTime;
    if (this.#pinned || this.#held?.frame === frame) return;
    this.#held = { frame, place: holdPlace(this.#box, this.#options.parts()) };
  }

  /** What was held in this frame is brought back to where it was. This happens by itself after the layout; whoever asks for a position sooner calls it before. */
  putRight(): void {
    const held = this.#held;
    if (!held || held.frame !== document.timeline.currentTime) return;
    const by = movedBy(this.#box, held.place);
    if (Math.abs(by) >= 0.5) this.#box.scrollTop += by;
  }

  /** The position was set by a program: the scroll event to come is no wish of the reader. */
  settle(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    this.#held = undefined;
    this.#lastTop = scrollTop;
    this.#lastDistance = scrollHeight - clientHeight - scrollTop;
    this.#lastHeight = scrollHeight;
    this.#lastRoom = clientHeight;
  }

  dispose(): void {
    this.#dispose.dispose();
  }

  #stick(): void {
    this.#box.scrollTop = 1e9;
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    // A box that is not in the page has no position yet: whatever it has then is the reader's.
    this.#lastTop = clientHeight > 0 ? scrollTop : Number.POSITIVE_INFINITY;
    this.#lastDistance = 0;
    this.#lastHeight = scrollHeight;
    this.#lastRoom = clientHeight;
  }

  /** The reader has done what scrolls. A click on something in the conversation is no such thing: what it changes may move all of it. */
  #touched(event: Event): void {
    if (
      event instanceof KeyboardEvent
        ? !KEYS_UP.has(event.key)
        : event.type === 'pointerdown' && event.target !== this.#box
    )
      return;
    if (event.type === 'pointermove' && (event as PointerEvent).buttons === 0) return;
    this.#touchedAt = performance.now();
  }

  #laidOut(): void {
    if (this.#pinned) {
      this.#stick();
      return;
    }
    this.putRight();
    this.settle();
    this.#options.onLaidOut();
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const distance = scrollHeight - clientHeight - scrollTop;
    const movedUp = scrollTop < this.#lastTop - 1 && distance > 1;
    const movedDown = distance < this.#lastDistance - 1;
    // A frame may come without a layout of its own. Where there is another height meanwhile, it was that which moved the position, and no wish: what gets shorter pushes
    // the end up, and the next words come below it. Only who has just done what scrolls means it then.
    const isSteady = scrollHeight === this.#lastHeight && (!this.#pinned || clientHeight === this.#lastRoom);
    const isWish = this.#pinned
      ? movedUp &&
        (isSteady || performance.now() - this.#touchedAt < GESTURE_MS || this.#lastTop === Number.POSITIVE_INFINITY)
      : isSteady && Math.abs(scrollTop - this.#lastTop) > 1;
    if (this.#pinned && movedUp && !isWish) {
      this.#stick();
      return;
    }
    // At the end, slow steps add up until they are a wish.
    if (!this.#pinned || movedUp) this.settle();
    if (isWish && movedUp) this.#setPinned(false);
    else if (isWish && movedDown && distance < NEAR_END) this.pin();
    this.#options.onScroll(isWish);
  }

  #setPinned(pinned: boolean): void {
    if (this.#pinned === pinned) return;
    this.#pinned = pinned;
    this.#options.onPinned(pinned);
  }
}
