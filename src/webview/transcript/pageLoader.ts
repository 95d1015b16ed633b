// Requests missing items of pages once, and evicts items far from the viewport.
import type { ItemStore } from '../entries/itemStore';
import { post } from '../host/host';
import { PAGE_SIZE, type Page } from './page';

/** Maximum number of pages in memory. Evicted items are requested again when needed. */
const STORED_PAGES = 240;

export class PageLoader {
  readonly #store: ItemStore;
  readonly #requestedPages = new Set<Page>();

  constructor(store: ItemStore) {
    this.#store = store;
  }

  ask(page: Page): void {
    const { missing } = page;
    if (!missing || this.#requestedPages.has(page)) return;
    this.#requestedPages.add(page);
    post({ type: 'page', ...missing });
  }

  arrived(page: Page): void {
    this.#requestedPages.delete(page);
  }

  clear(): void {
    this.#requestedPages.clear();
  }

  /**
   * Removes the items of the pages farthest from the viewport. The last pages stay, as they still
   * change.
   * @param last index of the last page
   */
  evict(made: Iterable<Page>, last: number): void {
    const pages = [...made];
    if (pages.length <= STORED_PAGES) return;
    const place = (page: Page): number => page.first / PAGE_SIZE;
    const nearPage = pages.find((page) => page.near);
    const distance = (page: Page): number => Math.abs(place(page) - (nearPage ? place(nearPage) : last));
    const idle = pages.filter((page) => place(page) <= last - 8 && !page.isMounted && !page.near && page.isStored);
    const far = idle.sort((one, other) => distance(other) - distance(one));
    for (const page of far.slice(0, Math.max(0, far.length - STORED_PAGES))) this.#store.evict(page.first, page.end);
  }
}
