// Scrolls to an item that can be far away and not drawn: the pages around it are drawn first, and
// the item is positioned once their heights are measured.
import type { ViewportObserver } from '../dom/viewport';
import type { EntryView } from '../entries/entryView';
import type { ItemStore } from '../entries/itemStore';
import { PAGE_SIZE, type Page } from './page';
import type { PageList } from './pageList';
import type { Scroller } from './scroller';
import { focusEntry, scrollToTarget, scrollWithin, type Target } from './scrollIntoView';

/** Number of pages drawn around a target: its own, and those below. */
const REVEALED_PAGES = 5;

export interface RevealerOptions {
  readonly pages: PageList;
  readonly scroller: Scroller;
  readonly store: ItemStore;
  readonly viewport: ViewportObserver;
  view(index: number): EntryView | undefined;
  draw(page: Page): void;
  invalidate(): void;
}

export class Revealer {
  readonly #options: RevealerOptions;
  target: Target | undefined;

  constructor(options: RevealerOptions) {
    this.#options = options;
  }

  reveal(target: Target): void {
    const { draw, invalidate, pages, scroller } = this.#options;
    const page = pages.open(Math.floor(target.index / PAGE_SIZE));
    if (!page) return;
    this.end();
    this.target = target;
    if (this.#isEnd(target)) {
      scroller.pin();
    } else {
      scroller.unpin();
      scrollWithin(scroller.box, page.element, 'nearest');
      scroller.recordPosition();
    }
    for (const page of this.#pages()) draw(page);
    invalidate();
  }

  includes(page: Page): boolean {
    if (this.target === undefined) return false;
    const pages = page.first / PAGE_SIZE - Math.floor(this.target.index / PAGE_SIZE);
    return pages >= 0 && pages < REVEALED_PAGES;
  }

  /**
   * Scrolls to the target if it is drawn. Call it once everything around it is drawn, as the
   * position would change again.
   */
  finish(): void {
    const target = this.target;
    const { invalidate, scroller } = this.#options;
    const view = target && this.#options.view(target.index);
    // Positions are only known after the layout.
    if (!target || !view || scroller.box.clientHeight === 0) return;
    if ((target.offset !== undefined || target.drawn) && view.drawWhole?.()) {
      invalidate();
      return;
    }
    this.end();
    if (this.#isEnd(target)) this.#reached(view, target);
    else this.place(view, target);
  }

  place(view: EntryView, target: Target): void {
    const { scroller } = this.#options;
    scrollToTarget(scroller.box, view, target);
    scroller.recordPosition();
    scroller.hold();
    this.#reached(view, target);
  }

  #reached(view: EntryView, target: Target): void {
    if (target.drawn) target.drawn(view);
    else if (target.offset === undefined) focusEntry(view);
    if (target.file !== undefined) view.seekChange?.(target.file);
    if (target.isFound) this.#highlight(view.element);
  }

  /** Drops the target. What was drawn for it is removed if it is far away. */
  end(): void {
    const pages = this.#pages();
    this.target = undefined;
    for (const page of pages) this.#options.viewport.reobserve(page.element);
  }

  #pages(): readonly Page[] {
    if (this.target === undefined) return [];
    const first = Math.floor(this.target.index / PAGE_SIZE);
    const places = Array.from({ length: REVEALED_PAGES }, (_, index) => first + index);
    return places.flatMap((place) => this.#options.pages.open(place) ?? []);
  }

  #isEnd(target: Target): boolean {
    return target.offset === undefined && !target.drawn && target.index === this.#options.store.total - 1;
  }

  #highlight(element: HTMLElement): void {
    this.#options.scroller.box.querySelector('.found')?.classList.remove('found');
    element.classList.add('found');
  }
}
