// The pages of a transcript in groups. Only groups near the viewport have their pages in the
// document; each other group is a single box with the height of its pages. So the size of the
// document does not depend on the length of the conversation, and pages are created on demand.
import type { Disposable } from '../../base/disposable';
import { el } from '../dom/dom';
import type { ViewportWatcher } from '../dom/viewport';
import type { Page } from './page';

const GROUP_SIZE = 128;

interface PageGroup {
  readonly first: number;
  readonly element: HTMLElement;
  readonly watch: Disposable;
  readonly pages: (Page | undefined)[];
  isOpen: boolean;
  isNear: boolean;
}

export interface PageListOptions {
  create(place: number): Page;
  /** Approximate height of a page that was never created, px. */
  heightOf(place: number): number;
  /** Returns whether a page must stay in the document although it is far from the viewport. */
  mustStay(page: Page): boolean;
  readonly viewport: ViewportWatcher;
}

export class PageList {
  readonly #options: PageListOptions;
  readonly #end: Element;
  #groups: PageGroup[] = [];
  /** Includes pages that were never created. */
  length = 0;
  #hasNewPages = false;

  constructor(end: Element, options: PageListOptions) {
    this.#end = end;
    this.#options = options;
  }

  takeNewPages(): boolean {
    const opened = this.#hasNewPages;
    this.#hasNewPages = false;
    return opened;
  }

  at(place: number): Page | undefined {
    return this.#groups[Math.floor(place / GROUP_SIZE)]?.pages[place % GROUP_SIZE];
  }

  open(place: number): Page | undefined {
    const group = this.#groups[Math.floor(place / GROUP_SIZE)];
    if (!group || place < 0 || place >= this.length) return undefined;
    if (!group.isOpen) {
      this.#open(group);
      // Far away, the observer would not report when to remove it.
      this.#options.viewport.reobserve(group.element);
    }
    return group.pages[place % GROUP_SIZE];
  }

  *shown(): Iterable<Page> {
    for (const { isOpen, pages } of this.#groups) {
      if (!isOpen) continue;
      for (const page of pages) if (page) yield page;
    }
  }

  *made(): Iterable<Page> {
    for (const { pages } of this.#groups) for (const page of pages) if (page) yield page;
  }

  /** Yields the pages, last first, adding each to the document on demand. */
  *fromEnd(): Iterable<Page> {
    for (let place = this.length - 1; place >= 0; place--) yield this.open(place)!;
  }

  grow(length: number): boolean {
    if (length <= this.length) return false;
    const first = Math.floor(this.length / GROUP_SIZE);
    this.length = length;
    while (this.#groups.length * GROUP_SIZE < length) this.#addGroup();
    for (const [index, group] of this.#groups.entries()) {
      if (index < first) continue;
      const isLast = index === this.#groups.length - 1;
      if (group.isOpen || isLast) this.#open(group);
      else this.#reserve(group);
    }
    return true;
  }

  left(page: Page): void {
    const group = this.#groups.find(({ element }) => element === page.element.parentElement);
    if (group) this.#fold(group);
  }

  /** @param places of the pages whose height has changed; by default all */
  refit(places?: readonly number[]): void {
    const groups = places ? new Set(places.map((place) => this.#groups[Math.floor(place / GROUP_SIZE)])) : this.#groups;
    for (const group of groups) if (group && !group.isOpen) this.#reserve(group);
  }

  clear(): void {
    for (const page of this.made()) page.dispose();
    for (const { watch, element } of this.#groups) {
      watch.dispose();
      element.remove();
    }
    this.#groups = [];
    this.length = 0;
  }

  #addGroup(): void {
    const element = el('div', 'page-group');
    const watch = this.#options.viewport.watch(element, (isNear) => {
      group.isNear = isNear;
      if (isNear) this.#open(group);
      else this.#fold(group);
    });
    const first = this.#groups.length * GROUP_SIZE;
    const group: PageGroup = { first, element, watch, pages: [], isOpen: false, isNear: false };
    this.#groups.push(group);
    this.#end.before(element);
  }

  #countOf(group: PageGroup): number {
    return Math.min(GROUP_SIZE, this.length - group.first);
  }

  #open(group: PageGroup): void {
    const count = this.#countOf(group);
    const fresh: Element[] = [];
    for (let index = 0; index < count; index++) {
      let page = group.pages[index];
      if (page && group.isOpen) continue;
      if (!page) {
        page = this.#options.create(group.first + index);
        page.reserve();
        group.pages[index] = page;
      }
      page.enter();
      fresh.push(page.element);
    }
    if (!group.isOpen) this.#hasNewPages = true;
    group.isOpen = true;
    group.element.style.height = '';
    group.element.append(...fresh);
  }

  #fold(group: PageGroup): void {
    if (group.isNear || !group.isOpen || group === this.#groups.at(-1)) return;
    if (group.pages.some((page) => page && (page.isMounted || this.#options.mustStay(page)))) return;
    group.isOpen = false;
    for (const page of group.pages) page?.leave();
    group.element.replaceChildren();
    this.#reserve(group);
  }

  #reserve(group: PageGroup): void {
    let height = 0;
    for (let index = 0; index < this.#countOf(group); index++)
      height += group.pages[index]?.height ?? this.#options.heightOf(group.first + index);
    group.element.style.height = `${height}px`;
  }
}
