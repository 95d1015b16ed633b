// The pages of a transcript in stretches: only the stretches near the eye have their pages in the document, each other one is a single box of the height of all of
// its pages. So the document does not grow with the conversation, and a page that nobody came near is never made.
import type { Disposable } from '../../base/disposable';
import { el } from '../dom/dom';
import type { NearWatcher } from '../dom/near';
import { type Page, UNKNOWN_PAGE_HEIGHT } from './page';

/** Pages of one stretch. */
const STRETCH_SIZE = 128;

interface Stretch {
  /** Place of its first page in the list. */
  readonly first: number;
  readonly element: HTMLElement;
  readonly watch: Disposable;
  /** By their place in the stretch; those that were never needed are missing. */
  readonly pages: (Page | undefined)[];
  /** Its pages stand in the document. */
  isOpen: boolean;
  isNear: boolean;
}

export interface PageListOptions {
  /** Makes the page with this place in the list. */
  create(place: number): Page;
  /** Whether a page must stay in the document although it is far from the eye. */
  isHeld(page: Page): boolean;
  readonly near: NearWatcher;
}

export class PageList {
  readonly #options: PageListOptions;
  readonly #end: Element;
  #stretches: Stretch[] = [];
  #length = 0;
  #hasOpened = false;

  /** @param end the pages stand before this element */
  constructor(end: Element, options: PageListOptions) {
    this.#end = end;
    this.#options = options;
  }

  /** Pages of the whole transcript, also those that were never made. */
  get length(): number {
    return this.#length;
  }

  /** @returns whether pages came into the document since the last time: some of them may be in sight */
  takeOpened(): boolean {
    const opened = this.#hasOpened;
    this.#hasOpened = false;
    return opened;
  }

  /** The page at a place where it was made, wherever it is now. */
  at(place: number): Page | undefined {
    return this.#stretches[Math.floor(place / STRETCH_SIZE)]?.pages[place % STRETCH_SIZE];
  }

  /** The page at a place, brought into the document. */
  open(place: number): Page | undefined {
    const stretch = this.#stretches[Math.floor(place / STRETCH_SIZE)];
    if (!stretch || place < 0 || place >= this.#length) return undefined;
    if (!stretch.isOpen) {
      this.#open(stretch);
      // It may be far away, and then nobody would tell when it must leave.
      this.#options.near.renew(stretch.element);
    }
    return stretch.pages[place % STRETCH_SIZE];
  }

  /** The pages in the document, from top to bottom. */
  *shown(): Iterable<Page> {
    for (const { isOpen, pages } of this.#stretches) {
      if (!isOpen) continue;
      for (const page of pages) if (page) yield page;
    }
  }

  /** The pages that were made, from top to bottom. */
  *made(): Iterable<Page> {
    for (const { pages } of this.#stretches) for (const page of pages) if (page) yield page;
  }

  /** The pages from the last one up, each brought into the document as it is asked for. */
  *fromEnd(): Iterable<Page> {
    for (let place = this.#length - 1; place >= 0; place--) yield this.open(place)!;
  }

  /** The transcript has this many pages now. @returns whether it had fewer */
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

  /** A page has left: its stretch may leave too. */
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
    const watch = this.#options.near.watch(element, (isNear) => {
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

  /** Puts the pages of a stretch into the document, those that are new too. */
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

  /** Takes the pages of a stretch out of the document where nothing of it is needed there. */
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
