// The loaded files of one list of changes. Pages are requested when they come into view, and again
// when the list changes. The old list is shown until all visible pages of the new one have arrived.
// Pure.
import { Emitter } from '../../base/event';
import type { ChangedFileView, ToWebview } from '../../panel/contract';

export const FILES_PER_PAGE = 100;

/** A version of the list. */
interface Listing {
  readonly version: number;
  total: number;
  readonly pages: Map<number, readonly ChangedFileView[]>;
}

type FilesPart = Pick<Extract<ToWebview, { type: 'changes' }>, 'version' | 'total' | 'from' | 'files'>;

export class ChangedFiles {
  readonly #request: (from: number, to: number) => void;
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;
  #hostCount: { readonly files: number; readonly version: number } | undefined;
  #displayed: Listing | undefined;
  /** The newer version, while visible pages of it are missing. */
  #pending: Listing | undefined;
  /** Pages that were requested or arrived since the last count. */
  readonly #requestedPages = new Set<number>();
  readonly #requested = new Set<number>();
  #visibleRange = { from: 0, to: 0 };

  /** @param request requests the files from one index up to, not including, another */
  constructor(request: (from: number, to: number) => void) {
    this.#request = request;
  }

  get total(): number {
    return this.#displayed?.total ?? this.#hostCount?.files ?? 0;
  }

  at(index: number): ChangedFileView | undefined {
    return this.#displayed?.pages.get(Math.floor(index / FILES_PER_PAGE))?.[index % FILES_PER_PAGE];
  }

  indexOf(id: string): number {
    for (const [page, files] of this.#displayed?.pages ?? []) {
      const index = files.findIndex((file) => file.id === id);
      if (index >= 0) return page * FILES_PER_PAGE + index;
    }
    return -1;
  }

  /** Requests the first page that is not loaded. @returns whether there is one */
  loadMore(): boolean {
    for (let page = 0; page * FILES_PER_PAGE < this.total; page++) {
      if (this.#displayed?.pages.has(page)) continue;
      this.#load(page);
      return true;
    }
    return false;
  }

  /** Applies the host's count. If the version changed, requests the visible files again. */
  setCount(counted: { readonly files: number; readonly version: number }): void {
    const isUnchanged = this.#hostCount?.version === counted.version;
    this.#hostCount = counted;
    if (!isUnchanged) this.refresh();
  }

  refresh(): void {
    this.#requestedPages.clear();
    this.#requested.clear();
    this.setVisibleRange(this.#visibleRange.from, this.#visibleRange.to);
  }

  setVisibleRange(from: number, to: number): void {
    this.#visibleRange = { from, to };
    for (const page of this.#visiblePages((this.#pending ?? this.#displayed)?.total ?? this.total)) {
      if (!this.#requestedPages.has(page)) this.#load(page);
    }
  }

  /**
   * Stops requesting: the list is hidden. Unanswered requests are repeated when it is shown again.
   */
  hide(): void {
    this.#visibleRange = { from: 0, to: 0 };
    this.#requested.clear();
  }

  receive({ version, total, from, files }: FilesPart): void {
    const page = Math.floor(from / FILES_PER_PAGE);
    this.#requested.delete(page);
    this.#requestedPages.add(page);
    const isShown = this.#displayed?.version === version;
    let listing = isShown ? this.#displayed : this.#pending;
    if (listing?.version !== version) {
      listing = { version, total, pages: new Map() };
      this.#pending = listing;
      this.#requestedPages.clear();
      this.#requestedPages.add(page);
    }
    listing.total = total;
    listing.pages.set(page, files);
    this.setVisibleRange(this.#visibleRange.from, this.#visibleRange.to);
    if (listing === this.#pending) {
      const isComplete = this.#visiblePages(total).every((page) => listing.pages.has(page));
      if (this.#displayed && !isComplete) return;
      this.#displayed = listing;
      this.#pending = undefined;
    }
    this.#changed.fire();
  }

  #visiblePages(total: number): readonly number[] {
    // If the list became shorter, its new end comes into view.
    const last = Math.max(0, Math.min(this.#visibleRange.to, total) - 1);
    const first = Math.min(this.#visibleRange.from, last);
    if (total === 0 || this.#visibleRange.to <= this.#visibleRange.from) return [];
    const pages: number[] = [];
    for (let page = Math.floor(first / FILES_PER_PAGE); page <= Math.floor(last / FILES_PER_PAGE); page++)
      pages.push(page);
    return pages;
  }

  #load(page: number): void {
    if (this.#requested.has(page)) return;
    this.#requested.add(page);
    this.#request(page * FILES_PER_PAGE, (page + 1) * FILES_PER_PAGE);
  }
}
