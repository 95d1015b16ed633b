// Follows the end of the transcript while the user is there, and otherwise keeps visible content in
// place. Updates never query the layout: a resize observer reports growth after each layout, before
// painting, and one write corrects the scroll position.

const NEAR_END = 24;
const GESTURE_MS = 1000;
const KEYS_UP: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home', 'Tab', ' ']);

export interface ScrollerOptions {
  onPinned(pinned: boolean): void;
  /** @param byReader by the user, not by code or by the browser after a change of height */
  onScroll(byReader: boolean): void;
  onLaidOut(): void;
  /** Returns the children of the box that may be visible, top to bottom. */
  parts(): Iterable<Element>;
}

export class Scroller {
  readonly box: HTMLElement;
  readonly #options: ScrollerOptions;
  isPinned = true;
  #lastTop = 0;
  #lastDistance = 0;
  #lastScrollHeight = 0;
  #lastClientHeight = 0;
  #lastInputAt = Number.NEGATIVE_INFINITY;
  #heldAnchor: { readonly frame: unknown; readonly anchor: ScrollAnchor } | undefined;

  constructor(box: HTMLElement, content: HTMLElement, options: ScrollerOptions) {
    this.box = box;
    this.#options = options;
    const observer = new ResizeObserver(() => this.#laidOut());
    observer.observe(content);
    observer.observe(box);
    box.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    for (const type of ['wheel', 'touchmove', 'pointerdown', 'pointermove', 'keydown'] as const)
      box.addEventListener(type, (event) => this.#onInput(event), { passive: true });
  }

  pin(): void {
    this.#setPinned(true);
    this.#scrollToEnd();
  }

  unpin(): void {
    this.#setPinned(false);
  }

  pinNearEnd(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    if (scrollHeight - clientHeight - scrollTop < NEAR_END) this.pin();
  }

  /** Call it within a frame before a change that must not move what is being read. */
  hold(): void {
    const frame = document.timeline.currentTime;
    if (this.isPinned || this.#heldAnchor?.frame === frame) return;
    this.#heldAnchor = { frame, anchor: takeScrollAnchor(this.box, this.#options.parts()) };
  }

  /**
   * Restores the position held in this frame. Layouts do so too; call it before reading positions.
   */
  restore(): void {
    const held = this.#heldAnchor;
    if (!held || held.frame !== document.timeline.currentTime) return;
    const offset = movedBy(this.box, held.anchor);
    if (Math.abs(offset) >= 0.5) this.box.scrollTop += offset;
  }

  /** Makes a change immediately without moving what is being read, even if the box moves. */
  keep(change: () => void): void {
    const before = this.box.getBoundingClientRect().top;
    const anchor = this.isPinned ? undefined : takeScrollAnchor(this.box, this.#options.parts());
    change();
    if (!anchor) {
      this.#scrollToEnd();
      return;
    }
    this.box.scrollTop += movedBy(this.box, anchor) + this.box.getBoundingClientRect().top - before;
    this.recordPosition();
  }

  /** Call it after setting the position: the next scroll event is not the user's. */
  recordPosition(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    this.#heldAnchor = undefined;
    this.#lastTop = scrollTop;
    this.#lastDistance = scrollHeight - clientHeight - scrollTop;
    this.#lastScrollHeight = scrollHeight;
    this.#lastClientHeight = clientHeight;
  }

  #scrollToEnd(): void {
    this.box.scrollTop = 1e9;
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    // A box outside of the page has no position; its first one is the user's.
    this.#lastTop = clientHeight > 0 ? scrollTop : Number.POSITIVE_INFINITY;
    this.#lastDistance = 0;
    this.#lastScrollHeight = scrollHeight;
    this.#lastClientHeight = clientHeight;
  }

  /** Clicks in the conversation are not scroll input: their changes can move all of it. */
  #onInput(event: Event): void {
    if (
      event instanceof KeyboardEvent
        ? !KEYS_UP.has(event.key)
        : event.type === 'pointerdown' && event.target !== this.box
    )
      return;
    if (event.type === 'pointermove' && (event as PointerEvent).buttons === 0) return;
    this.#lastInputAt = performance.now();
  }

  #laidOut(): void {
    if (this.isPinned) {
      this.#scrollToEnd();
      return;
    }
    this.restore();
    this.recordPosition();
    this.#options.onLaidOut();
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    const distance = scrollHeight - clientHeight - scrollTop;
    const movedUp = scrollTop < this.#lastTop - 1 && distance > 1;
    const movedDown = distance < this.#lastDistance - 1;
    // A frame can come without a layout. If the height changed, that moved the position: shrinking
    // content pushes the end up, and the next text follows. Only recent input makes it the user's
    // intent.
    const isSteady =
      scrollHeight === this.#lastScrollHeight && (!this.isPinned || clientHeight === this.#lastClientHeight);
    const isWish = this.isPinned
      ? movedUp &&
        (isSteady || performance.now() - this.#lastInputAt < GESTURE_MS || this.#lastTop === Number.POSITIVE_INFINITY)
      : isSteady && Math.abs(scrollTop - this.#lastTop) > 1;
    if (this.isPinned && movedUp && !isWish) {
      this.#scrollToEnd();
      return;
    }
    // At the end, small steps accumulate until they count as scrolling away.
    if (!this.isPinned || movedUp) this.recordPosition();
    if (isWish && movedUp) this.#setPinned(false);
    else if (isWish && movedDown && distance < NEAR_END) this.pin();
    this.#options.onScroll(isWish);
  }

  #setPinned(pinned: boolean): void {
    if (this.isPinned === pinned) return;
    this.isPinned = pinned;
    this.#options.onPinned(pinned);
  }
}

/** Elements to descend into. Others count as a whole, as they may scroll themselves. */
const DESCENDED = '.page-group, .page, .entry, .blocks, .markdown, .segment, .box, .tool-content';
const BOXES = '.page-group, .page, .segment';

interface Mark {
  readonly node: Element;
  readonly top: number;
}

/** Innermost first: if a node leaves the page, the next one replaces it. */
type ScrollAnchor = readonly Mark[];

/**
 * Returns the first visible drawn element and its ancestors, otherwise the first box.
 * @param parts the children of `box` that may be visible, top to bottom
 */
function takeScrollAnchor(box: Element, parts: Iterable<Element>): ScrollAnchor {
  const { top, bottom } = box.getBoundingClientRect();
  return find(parts, top, bottom) ?? [];
}

/** Returns how far the anchor has moved, px; positive if down. */
function movedBy(box: Element, anchor: ScrollAnchor): number {
  const mark = anchor.find(({ node }) => node.isConnected);
  if (!mark) return 0;
  return mark.node.getBoundingClientRect().top - box.getBoundingClientRect().top - mark.top;
}

function find(nodes: Iterable<Element>, top: number, bottom: number): ScrollAnchor | undefined {
  let fallback: ScrollAnchor | undefined;
  for (const node of nodes) {
    const rect = node.getBoundingClientRect();
    if (rect.height === 0 || rect.bottom <= top) continue;
    if (rect.top >= bottom) break;
    const here = [{ node, top: rect.top - top }];
    const isBlank = node.childElementCount === 0 && node.matches(BOXES);
    if (!isBlank && (rect.top >= top || !node.matches(DESCENDED))) return here;
    const inner = isBlank ? undefined : find(node.children, top, bottom);
    if (inner && isDrawn(inner)) return [...inner, ...here];
    fallback ??= [...(inner ?? []), ...here];
  }
  return fallback;
}

function isDrawn(place: ScrollAnchor): boolean {
  const { node } = place[0]!;
  return !(node.childElementCount === 0 && node.matches(BOXES));
}
