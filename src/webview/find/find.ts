// Find in the session: the widget, the search in the host, and navigation between matches.
import type { ToWebview } from '../../panel/contract';
import type { EntryView } from '../entries/entryView';
import { post, setExpanded } from '../host/host';
import { announce } from '../host/session';
import { focusComposer } from '../input/wake';
import { strings } from '../text/strings';
import type { Transcript } from '../transcript/transcript';
import { DrawnMatches, type EntryMatches } from './drawnMatches';
import { FindWidget } from './findWidget';
import { type Match, MatchCounts } from './matchCounts';

/** Longer selections are not used as the search term, characters. */
const MAX_SELECTION = 200;

type Found = Extract<ToWebview, { type: 'found' }>;

export class Find {
  readonly #transcript: Transcript;
  readonly #widget: FindWidget;
  readonly #counts = new MatchCounts();
  readonly #drawnMatches: DrawnMatches;
  #id = 0;
  #isOpen = false;
  #previousFocus: HTMLElement | undefined;
  #startIndex = 0;
  #current: Match | undefined;
  #target: { readonly match: Match; readonly view: EntryView | undefined; readonly isUnfolded: boolean } | undefined;
  #isAnnounced = true;
  #isDone = true;
  #problem: Found['problem'];

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
    this.#widget = new FindWidget({
      search: () => this.#search(),
      step: (by) => this.#step(by),
      close: () => this.close(),
    });
    this.#drawnMatches = new DrawnMatches({
      box: transcript.box,
      isHit: (index) => this.#counts.of(index) > 0,
      ask: (request, texts) => post({ type: 'findIn', id: this.#id, request, texts }),
      onFound: (entry, matches) => this.#showMatch(entry, matches),
    });
    for (const type of ['wheel', 'pointerdown', 'touchmove', 'keydown'])
      transcript.box.addEventListener(type, () => this.#clearTarget(), { passive: true });
    window.addEventListener('keydown', (event) => {
      if (!this.#isOpen || event.key !== 'F3' || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    });
  }

  open(): void {
    const selected = this.#selection();
    const { activeElement } = document;
    if (!this.#isOpen || !this.#widget.element.contains(activeElement))
      this.#previousFocus = activeElement instanceof HTMLElement ? activeElement : undefined;
    if (!this.#isOpen) this.#transcript.element.prepend(this.#widget.element);
    this.#transcript.element.classList.add('finding');
    const isNew = !this.#isOpen || selected !== undefined;
    this.#isOpen = true;
    this.#widget.focus(selected);
    if (isNew) this.#search();
  }

  close(): void {
    const hadFocus = this.#widget.element.contains(document.activeElement);
    this.forget();
    if (!hadFocus) return;
    if (this.#previousFocus?.isConnected && this.#previousFocus !== document.body)
      this.#previousFocus.focus({ preventScroll: true });
    else focusComposer();
  }

  forget(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endSearch();
    this.#widget.element.remove();
    this.#transcript.element.classList.remove('finding');
  }

  receive(message: Extract<ToWebview, { type: 'found' | 'foundIn' }>): void {
    if (message.id !== this.#id || !this.#isOpen) return;
    if (message.type === 'foundIn') this.#drawnMatches.receive(message);
    else this.#receive(message);
  }

  #receive(found: Found): void {
    this.#counts.apply(found);
    this.#isDone = found.isDone;
    this.#problem = found.problem;
    const { total } = this.#counts;
    if (total === 0) this.#current = undefined;
    else if (!this.#current) this.#goTo(this.#counts.near(this.#startIndex));
    else if (this.#counts.of(this.#current.index) <= this.#current.nth) this.#selectNear(this.#current);
    this.#updateWidget();
    this.#drawnMatches.searchAgain(found.counts.map(([index]) => index));
    if (this.#isAnnounced || !found.isDone) return;
    this.#isAnnounced = true;
    announce(this.#statusText(), 'polite');
  }

  /** The current match was removed: selects one nearby, without scrolling. */
  #selectNear({ index }: Match): void {
    const count = this.#counts.of(index);
    this.#current = count > 0 ? { index, nth: count - 1 } : this.#counts.near(index);
    this.#drawnMatches.setCurrent(this.#current);
  }

  #search(): void {
    const query = this.#widget.query;
    this.#startIndex = this.#current?.index ?? this.#firstVisible();
    this.#endSearch();
    if (!query) return;
    this.#isDone = false;
    this.#isAnnounced = false;
    this.#drawnMatches.begin();
    post({ type: 'find', id: this.#id, query, from: this.#startIndex });
    this.#updateWidget();
  }

  #endSearch(): void {
    this.#id++;
    this.#counts.clear();
    this.#drawnMatches.end();
    this.#clearTarget();
    this.#current = undefined;
    this.#problem = undefined;
    this.#isDone = true;
    this.#isAnnounced = true;
    post({ type: 'endFind' });
    this.#updateWidget();
  }

  #step(by: 1 | -1): void {
    if (!this.#current) return;
    this.#goTo(by === 1 ? this.#counts.next(this.#current) : this.#counts.previous(this.#current));
    this.#updateWidget();
    announce(this.#statusText(), 'polite');
  }

  #goTo(match: Match | undefined): void {
    this.#current = match;
    this.#drawnMatches.setCurrent(match);
    if (!match) return;
    this.#target = { match, view: undefined, isUnfolded: false };
    this.#transcript.draw(match.index, (view) => {
      if (this.#target?.match !== match) return;
      this.#target = { ...this.#target, view };
      this.#drawnMatches.search(view.element);
    });
  }

  #showMatch(entry: HTMLElement, matches: EntryMatches): void {
    const { match, view, isUnfolded } = this.#target ?? {};
    if (!match || view?.element !== entry) return;
    const range = matches.range(Math.max(0, Math.min(match.nth, matches.count - 1)));
    if (match.nth < matches.count) this.#clearTarget();
    else if (!isUnfolded) {
      this.#target = { match, view, isUnfolded: true };
      if (this.#unfold(view)) return;
    }
    if (range) this.#transcript.showPart(range);
    entry.classList.toggle('found', !range);
  }

  #unfold(view: EntryView): boolean {
    const { element } = view;
    const folded = ownParts<HTMLDetailsElement>(element, 'details:not([open])');
    for (const details of folded) details.open = true;
    const lines = ownParts(element, '.fold-line[aria-expanded="false"]');
    for (const line of lines) line.click();
    if (ownParts(element, '.show-all[aria-expanded="false"]').length > 0) {
      setExpanded(element.dataset.entry?.replace(/^\w+ /, '') ?? '', true);
      view.update();
      return true;
    }
    if (ownParts(element, '.row[aria-expanded="false"]').length === 0) return folded.length + lines.length > 0;
    view.toggle?.();
    return true;
  }

  #clearTarget(): void {
    this.#target?.view?.element.classList.remove('found');
    this.#target = undefined;
  }

  #updateWidget(): void {
    const { total } = this.#counts;
    this.#widget.show(this.#statusText(), this.#isDone && total === 0 && this.#widget.query !== undefined, total > 0);
  }

  #statusText(): string {
    if (!this.#widget.query) return '';
    if (this.#problem) return strings.find.problem[this.#problem];
    if (this.#current) return strings.outOf(this.#counts.numberOf(this.#current), this.#counts.total);
    return this.#isDone ? strings.find.noResults : strings.find.searching;
  }

  #firstVisible(): number {
    const { box } = this.#transcript;
    const { top } = box.getBoundingClientRect();
    const entries = [...box.querySelectorAll<HTMLElement>('[data-index]')];
    return Number(entries.find((entry) => entry.getBoundingClientRect().bottom > top)?.dataset.index ?? 0);
  }

  #selection(): string | undefined {
    const selection = document.getSelection();
    const text = selection?.toString().trim() ?? '';
    const isHere = selection?.anchorNode != null && this.#transcript.box.contains(selection.anchorNode);
    return isHere && text !== '' && text.length <= MAX_SELECTION && !text.includes('\n') ? text : undefined;
  }
}

/** Excludes elements of nested entries. */
function ownParts<T extends HTMLElement = HTMLElement>(entry: HTMLElement, selector: string): T[] {
  return [...entry.querySelectorAll<T>(selector)].filter((part) => part.closest('[data-index]') === entry);
}
