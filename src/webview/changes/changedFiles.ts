// The changed files of one list, as far as they are loaded. Pages are requested when they are
// looked at, and again when the list has changed. The list stays as it was until all visible pages
// have arrived. Pure.
import { Emitter } from '../../base/event';
import type { ChangedFileView, ToWebview } from '../../panel/contract';

/** Files per request. */
export const FILES_PER_PAGE = 100;

/** A list as it was at one version. */
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
  /** A newer list, some visible pages of which are missing. */
  #coming: Listing | undefined;
  /** Pages that arrived since the count last changed, and requested ones. */
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

  /** Returns the file at an index; undefined while it is not loaded. */
  at(index: number): ChangedFileView | undefined {
    return this.#shown?.pages.get(Math.floor(index / FILES_PER_PAGE))?.[index % FILES_PER_PAGE];
  }

  /** Returns the index of a loaded file, or -1. */
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

  /** Takes the host's count. With another version, what is looked at is requested again. */
  count(counted: { readonly files: number; readonly version: number }): void {
    const isSame = this.#counted?.version === counted.version;
    this.#counted = counted;
    if (!isSame) this.renew();
  }

  /** Requests again what is looked at, even if it was requested already. */
  renew(): void {
    this.#fresh.clear();
    this.#requested.clear();
    this.look(this.#looked.from, this.#looked.to);
  }

  /**
   * Requests what is missing of the visible files: from one index up to, not including, another.
   */
  look(from: number, to: number): void {
    this.#looked = { from, to };
    for (const page of this.#pagesLookedAt((this.#coming ?? this.#shown)?.total ?? this.total)) {
      if (!this.#fresh.has(page)) this.#load(page);
    }
  }

  /** The list is no longer visible. What the host has not sent by then is requested again later. */
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
    // After a list became shorter, its new end comes into view.
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
