// The loaded files of one list of changes. Pages are requested when they come into view, and again
// when the list changes. The old list is shown until all visible pages of the new one have arrived.
// Pure.
import { Emitter } from '../../base/event';
import type { ChangedFileView, ToWebview } from '../../panel/contract';

/** Files per request. */
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
  #counted: { readonly files: number; readonly version: number } | undefined;
  #shown: Listing | undefined;
  /** The newer version, while visible pages of it are missing. */
  #coming: Listing | undefined;
  /** Pages that were requested or arrived since the last count. */
  readonly #fresh = new Set<number>();
  readonly #requested = new Set<number>();
  #looked = { from: 0, to: 0 };

  /** @param request requests the files from one index up to, not including, another */
  constructor(request: (from: number, to: number) => void) {
    this.#request = request;
  }

  get total(): number {
    return this.#shown?.total ?? this.#counted?.files ?? 0;
  }

  /** Returns the file at an index; undefined if it is not loaded. */
  at(index: number): ChangedFileView | undefined {
    return this.#shown?.pages.get(Math.floor(index / FILES_PER_PAGE))?.[index % FILES_PER_PAGE];
  }

  indexOf(id: string): number {
    for (const [page, files] of this.#shown?.pages ?? []) {
      const index = files.findIndex((file) => file.id === id);
      if (index >= 0) return page * FILES_PER_PAGE + index;
    }
    return -1;
  }

  /** Requests the first page that is not loaded. @returns whether there is one */
  loadMore(): boolean {
    for (let page = 0; page * FILES_PER_PAGE < this.total; page++) {
      if (this.#shown?.pages.has(page)) continue;
      this.#load(page);
      return true;
    }
    return false;
  }

  /** Applies the host's count. If the version changed, requests the visible files again. */
  count(counted: { readonly files: number; readonly version: number }): void {
    const isSame = this.#counted?.version === counted.version;
    this.#counted = counted;
    if (!isSame) this.renew();
  }

  /** Requests the visible files again, even if a request is pending. */
  renew(): void {
    this.#fresh.clear();
    this.#requested.clear();
    this.look(this.#looked.from, this.#looked.to);
  }

  /** Requests the missing files of the visible range; `to` is exclusive. */
  look(from: number, to: number): void {
    this.#looked = { from, to };
    for (const page of this.#pagesLookedAt((this.#coming ?? this.#shown)?.total ?? this.total)) {
      if (!this.#fresh.has(page)) this.#load(page);
    }
  }

  /**
   * Stops requesting: the list is hidden. Unanswered requests are repeated when it is shown again.
   */
  leave(): void {
    this.#looked = { from: 0, to: 0 };
    this.#requested.clear();
  }

  receive({ version, total, from, files }: FilesPart): void {
    const page = Math.floor(from / FILES_PER_PAGE);
    this.#requested.delete(page);
    this.#fresh.add(page);
    const isShown = this.#shown?.version === version;
    let listing = isShown ? this.#shown : this.#coming;
    if (listing?.version !== version) {
      listing = { version, total, pages: new Map() };
      this.#coming = listing;
      this.#fresh.clear();
      this.#fresh.add(page);
    }
    listing.total = total;
    listing.pages.set(page, files);
    this.look(this.#looked.from, this.#looked.to);
    if (listing === this.#coming) {
      const isComplete = this.#pagesLookedAt(total).every((one) => listing.pages.has(one));
      if (this.#shown && !isComplete) return;
      this.#shown = listing;
      this.#coming = undefined;
    }
    this.#changed.fire();
  }

  #pagesLookedAt(total: number): readonly number[] {
    // If the list became shorter, its new end comes into view.
    const last = Math.max(0, Math.min(this.#looked.to, total) - 1);
    const first = Math.min(this.#looked.from, last);
    if (total === 0 || this.#looked.to <= this.#looked.from) return [];
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
