// The pages of a transcript in groups. Only groups near the viewport have their pages in the
// document; each other group is a single box with the height of its pages. So the size of the
// document does not depend on the length of the conversation, and pages are created only when
// needed.
import type { Disposable } from '../../base/disposable';
import { el } from '../dom/dom';
import type { ViewportWatcher } from '../dom/viewport';
import { type Page, UNKNOWN_PAGE_HEIGHT } from './page';

/** Pages per group. */
const STRETCH_SIZE = 128;

interface Stretch {
  /** Index of its first page. */
  readonly first: number;
  readonly element: HTMLElement;
  readonly watch: Disposable;
  /** By index in the group; pages that were never needed are missing. */
  readonly pages: (Page | undefined)[];
  /** Whether its pages are in the document. */
  isOpen: boolean;
  isNear: boolean;
}

export interface PageListOptions {
  /** Creates the page with this index. */
  create(place: number): Page;
  /** Whether a page must stay in the document although it is far from the viewport. */
  isHeld(page: Page): boolean;
  readonly viewport: ViewportWatcher;
}

export class PageList {
  readonly #options: PageListOptions;
  readonly #end: Element;
  #stretches: Stretch[] = [];
  #length = 0;
  #hasOpened = false;

  /** @param end the pages are inserted before this element */
  constructor(end: Element, options: PageListOptions) {
    this.#end = end;
    this.#options = options;
  }

  /** Number of pages of the whole transcript, including those never created. */
  get length(): number {
    return this.#length;
  }

  /**
   * @returns whether pages were added to the document since the last call, some of which may be
   * visible
   */
  takeOpened(): boolean {
    const opened = this.#hasOpened;
    this.#hasOpened = false;
    return opened;
  }

  /** Returns the page at an index if it was created. */
  at(place: number): Page | undefined {
    return this.#stretches[Math.floor(place / STRETCH_SIZE)]?.pages[place % STRETCH_SIZE];
  }

  /** Returns the page at an index, added to the document. */
  open(place: number): Page | undefined {
    const stretch = this.#stretches[Math.floor(place / STRETCH_SIZE)];
    if (!stretch || place < 0 || place >= this.#length) return undefined;
    if (!stretch.isOpen) {
      this.#open(stretch);
      // If it is far away, the observer would not report when it must be removed.
      this.#options.viewport.renew(stretch.element);
    }
    return stretch.pages[place % STRETCH_SIZE];
  }

  /** The pages in the document, top to bottom. */
  *shown(): Iterable<Page> {
    for (const { isOpen, pages } of this.#stretches) {
      if (!isOpen) continue;
      for (const page of pages) if (page) yield page;
    }
  }

  /** The created pages, top to bottom. */
  *made(): Iterable<Page> {
    for (const { pages } of this.#stretches) for (const page of pages) if (page) yield page;
  }

  /** Yields the pages, last first, each added to the document on demand. */
  *fromEnd(): Iterable<Page> {
    for (let place = this.#length - 1; place >= 0; place--) yield this.open(place)!;
  }

  /**
   * Sets the number of pages.
   * @returns whether it grew
   */
  grow(length: number): boolean {
    if (length <= this.#length) return false;
    const first = Math.floor(this.#length / STRETCH_SIZE);
    this.#length = length;
    while (this.#stretches.length * STRETCH_SIZE < length) this.#addStretch();
    for (const [index, stretch] of this.#stretches.entries()) {
      if (index < first) continue;
      const isLast = index === this.#stretches.length - 1;
      if (stretch.isOpen || isLast) this.#open(stretch);
      else this.#reserve(stretch);
    }
    return true;
  }

  /** A page was removed: its group may be removed too. */
  left(page: Page): void {
    const stretch = this.#stretches.find(({ element }) => element === page.element.parentElement);
    if (stretch) this.#fold(stretch);
  }

  clear(): void {
    for (const page of this.made()) page.dispose();
    for (const { watch, element } of this.#stretches) {
      watch.dispose();
      element.remove();
    }
    this.#stretches = [];
    this.#length = 0;
  }

  #addStretch(): void {
    const element = el('div', 'stretch');
    const watch = this.#options.viewport.watch(element, (isNear) => {
      stretch.isNear = isNear;
      if (isNear) this.#open(stretch);
      else this.#fold(stretch);
    });
    const first = this.#stretches.length * STRETCH_SIZE;
    const stretch: Stretch = { first, element, watch, pages: [], isOpen: false, isNear: false };
    this.#stretches.push(stretch);
    this.#end.before(element);
  }

  #countOf(stretch: Stretch): number {
    return Math.min(STRETCH_SIZE, this.#length - stretch.first);
  }

  /** Adds the pages of a group to the document, including new ones. */
  #open(stretch: Stretch): void {
    const count = this.#countOf(stretch);
    const fresh: Element[] = [];
    for (let index = 0; index < count; index++) {
      let page = stretch.pages[index];
      if (page && stretch.isOpen) continue;
      if (!page) {
        page = this.#options.create(stretch.first + index);
        page.reserve();
        stretch.pages[index] = page;
      }
      page.enter();
      fresh.push(page.element);
    }
    if (!stretch.isOpen) this.#hasOpened = true;
    stretch.isOpen = true;
    stretch.element.style.height = '';
    stretch.element.append(...fresh);
  }

  /** Removes the pages of a group that are not needed from the document. */
  #fold(stretch: Stretch): void {
    if (stretch.isNear || !stretch.isOpen || stretch === this.#stretches.at(-1)) return;
    if (stretch.pages.some((page) => page && (page.isMounted || this.#options.isHeld(page)))) return;
    stretch.isOpen = false;
    for (const page of stretch.pages) page?.leave();
    stretch.element.replaceChildren();
    this.#reserve(stretch);
  }

  #reserve(stretch: Stretch): void {
    let height = 0;
    for (let index = 0; index < this.#countOf(stretch); index++)
      height += stretch.pages[index]?.height ?? UNKNOWN_PAGE_HEIGHT;
    stretch.element.style.height = `${height}px`;
  }
}
