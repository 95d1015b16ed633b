// Draws groups of calls: keeps the pages right when a group grows, is folded or unfolded.
import type { ItemView } from '../../panel/contract';
import { isInUse } from '../dom/selection';
import type { ViewportObserver } from '../dom/viewport';
import type { EntryView } from '../entries/entryView';
import { isExpanded, setExpanded } from '../host/host';
import { type CallGroup, CallGroups } from '../nested/callGroups';
import type { Nesting } from './nesting';
import type { OpenQuestions } from './openQuestions';
import { PAGE_SIZE, type Page, type PageGroups, UNKNOWN_PAGE_HEIGHT } from './page';
import type { PageList } from './pageList';
import type { Scroller } from './scroller';

export class GroupFolds implements PageGroups {
  readonly #viewport: ViewportObserver;
  readonly #questions: OpenQuestions;
  readonly #groups = new CallGroups({
    isExpanded,
    setExpanded,
    isInUse: (index) => {
      const view = this.#view(index);
      return view !== undefined && !view.element.classList.contains('group') && isInUse(view.element);
    },
  });
  #pages!: PageList;
  #scroller!: Scroller;
  #nesting!: Nesting;

  constructor(viewport: ViewportObserver, questions: OpenQuestions) {
    this.#viewport = viewport;
    this.#questions = questions;
  }

  /** Call it before anything else: these objects need the groups first. */
  connect(pages: PageList, scroller: Scroller, nesting: Nesting): void {
    this.#pages = pages;
    this.#scroller = scroller;
    this.#nesting = nesting;
  }

  at(index: number): CallGroup | undefined {
    return this.#groups.at(index);
  }

  hides(index: number): boolean {
    return this.#nesting.hides(index) || this.#groups.hides(index);
  }

  drawNested(entry: HTMLElement, index: number): void {
    this.#nesting.draw(entry, index);
  }

  counts(group: CallGroup) {
    return this.#groups.counts(group);
  }

  clear(): void {
    this.#groups.clear();
  }

  /** Approximate height of a page that was never created, px. */
  heightOf(place: number): number {
    const first = place * PAGE_SIZE;
    if (this.#groups.hides(first) && this.at(first)!.last >= first + PAGE_SIZE - 1) return 0;
    let count = 0;
    for (let index = first; index < first + PAGE_SIZE; index++) if (!this.#nesting.hides(index)) count++;
    return (UNKNOWN_PAGE_HEIGHT * count) / PAGE_SIZE;
  }

  /** Returns the view of an item, or of its folded group. */
  viewOf(index: number): EntryView | undefined {
    return this.#view(this.#groups.hides(index) ? this.at(index)!.first : index);
  }

  /** Adds new items, and redraws the earlier ones that change with them. */
  set(from: number, items: readonly ItemView[]): void {
    const touched = new Set(items.flatMap((item, offset) => this.#groups.set(from + offset, item)));
    for (const index of touched) this.#redraw(index);
    if (touched.size > 0) this.#pages.refit();
  }

  /** The line keeps the focus. */
  toggle(group: CallGroup): void {
    this.#scroller.unpin();
    const line = (): HTMLElement | null | undefined =>
      this.#view(group.first)?.element.querySelector<HTMLElement>('.group-line');
    const hadFocus = document.activeElement !== null && line() === document.activeElement;
    this.#groups.toggle(group);
    const head = Math.floor(group.first / PAGE_SIZE);
    for (let index = group.first; index <= group.last && index < (head + 1) * PAGE_SIZE; index++) this.#redraw(index);
    // A folded group can bring any number of pages into view: the observer reports which.
    for (let place = head + 1; place * PAGE_SIZE <= group.last; place++) {
      const page = this.#pages.at(place);
      if (!page) continue;
      page.unmount();
      page.forgetHeight();
      this.#viewport.renew(page.element);
    }
    this.#pages.refit();
    if (hadFocus) line()?.focus({ preventScroll: true });
  }

  unfold(index: number): void {
    const group = this.at(index);
    if (group && !group.isOpen) this.toggle(group);
  }

  #view(index: number): EntryView | undefined {
    return this.#page(index)?.view(index);
  }

  #page(index: number): Page | undefined {
    return this.#pages.at(Math.floor(index / PAGE_SIZE));
  }

  #redraw(index: number): void {
    const page = this.#page(index);
    if (page?.isMounted) page.put(index, this.#questions.at(index));
    else page?.forgetHeight();
  }
}
