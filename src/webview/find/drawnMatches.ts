// Highlights matches in the drawn entries; the host searches, as it can abort slow expressions.
import { MAX_FIND, type ToWebview } from '../../panel/contract';
import { DrawnText } from './drawnText';
import type { Match } from './matchCounts';

const GATHER_MS = 60;
const MAX_HIGHLIGHTS = 2_000;
const ALL = 'find-match';
const CURRENT = 'find-current';

export interface DrawnMatchesOptions {
  readonly box: HTMLElement;
  isHit(index: number): boolean;
  ask(request: number, texts: readonly string[]): void;
  onFound(entry: HTMLElement, matches: EntryMatches): void;
}

export interface EntryMatches {
  readonly count: number;
  range(nth: number): Range | undefined;
}

export class DrawnMatches {
  readonly #options: DrawnMatchesOptions;
  readonly #matches = new Map<HTMLElement, EntryMatches>();
  readonly #entriesToSearch = new Set<HTMLElement>();
  #pendingRequest:
    | { readonly request: number; readonly drawn: readonly (readonly [HTMLElement, DrawnText])[] }
    | undefined;
  #request = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #current: Match | undefined;
  readonly #observer = new MutationObserver((records) => this.#onMutation(records));

  constructor(options: DrawnMatchesOptions) {
    this.#options = options;
  }

  begin(): void {
    this.end();
    this.#observer.observe(this.#options.box, { subtree: true, childList: true, characterData: true });
  }

  end(): void {
    this.#observer.disconnect();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pendingRequest = undefined;
    this.#matches.clear();
    this.#entriesToSearch.clear();
    this.#current = undefined;
    this.#paint();
  }

  /** Searches entries again whose number of matches changed. */
  searchAgain(indexes: readonly number[]): void {
    const changed = new Set(indexes);
    for (const entry of this.#options.box.querySelectorAll<HTMLElement>('[data-index]'))
      if (changed.has(Number(entry.dataset.index))) this.#entriesToSearch.add(entry);
    if (this.#entriesToSearch.size > 0) this.#scheduleSearch();
  }

  search(entry: HTMLElement): void {
    const matches = this.#entriesToSearch.has(entry) ? undefined : this.#matches.get(entry);
    if (matches) {
      this.#options.onFound(entry, matches);
      return;
    }
    this.#entriesToSearch.add(entry);
    this.#search();
  }

  setCurrent(match: Match | undefined): void {
    this.#current = match;
    this.#paint();
  }

  receive({ request, ranges }: Extract<ToWebview, { type: 'foundIn' }>): void {
    if (request !== this.#pendingRequest?.request) return;
    const { drawn } = this.#pendingRequest;
    this.#pendingRequest = undefined;
    for (const [at, [entry, text]] of drawn.entries()) {
      const places = ranges[at] ?? [];
      const range = (nth: number): Range | undefined => text.range(places[2 * nth]!, places[2 * nth + 1]!);
      this.#matches.set(entry, { count: places.length / 2, range });
    }
    this.#paint();
    for (const [entry] of drawn) this.#options.onFound(entry, this.#matches.get(entry)!);
    if (this.#entriesToSearch.size > 0) this.#scheduleSearch();
  }

  #onMutation(records: readonly MutationRecord[]): void {
    for (const { target, addedNodes } of records) {
      const entry = (target instanceof Element ? target : target.parentElement)?.closest<HTMLElement>('[data-index]');
      if (entry) this.#entriesToSearch.add(entry);
      else for (const node of addedNodes) this.#added(node);
    }
    this.#scheduleSearch();
  }

  #added(node: Node): void {
    if (!(node instanceof HTMLElement)) return;
    if (node.dataset.index !== undefined) this.#entriesToSearch.add(node);
    for (const entry of node.querySelectorAll<HTMLElement>('[data-index]')) this.#entriesToSearch.add(entry);
  }

  #scheduleSearch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#search();
    }, GATHER_MS);
  }

  #search(): void {
    if (this.#pendingRequest) return;
    const drawn: (readonly [HTMLElement, DrawnText])[] = [];
    for (const entry of this.#entriesToSearch) {
      if (drawn.length === MAX_FIND.texts) break;
      this.#entriesToSearch.delete(entry);
      if (entry.isConnected && this.#options.isHit(Number(entry.dataset.index)))
        drawn.push([entry, new DrawnText(entry, MAX_FIND.text)]);
      else this.#matches.delete(entry);
    }
    for (const entry of this.#matches.keys()) if (!entry.isConnected) this.#matches.delete(entry);
    this.#paint();
    if (drawn.length === 0) return;
    const request = ++this.#request;
    this.#pendingRequest = { request, drawn };
    this.#options.ask(
      request,
      drawn.map(([, { text }]) => text),
    );
  }

  #paint(): void {
    const ranges: Range[] = [];
    let current: Range | undefined;
    for (const [entry, { count, range }] of this.#matches) {
      for (let nth = 0; nth < Math.min(count, MAX_HIGHLIGHTS); nth++) {
        const place = range(nth);
        if (place) ranges.push(place);
      }
      if (count > 0 && Number(entry.dataset.index) === this.#current?.index)
        current = range(Math.min(this.#current.nth, count - 1));
    }
    // Without highlights, the browser still scrolls to the matches.
    if (!('highlights' in CSS)) return;
    CSS.highlights.set(ALL, new Highlight(...ranges));
    const highlight = new Highlight(...(current ? [current] : []));
    highlight.priority = 1;
    CSS.highlights.set(CURRENT, highlight);
  }
}
