// Draws groups of calls, or whole turns in the focus view, and updates their pages.
import type { ItemView } from '../../panel/contract';
import { isInUse } from '../dom/selection';
import type { ViewportObserver } from '../dom/viewport';
import type { EntryView } from '../entries/entryView';
import type { ItemStore } from '../entries/itemStore';
import { isExpanded, setExpanded } from '../host/host';
import { type CallGroup, CallGroups } from '../nested/callGroups';
import { TurnFolds } from '../nested/turnFolds';
import type { Nesting } from './nesting';
import type { OpenQuestions } from './openQuestions';
import { PAGE_SIZE, type Page, type PageGroups, UNKNOWN_PAGE_HEIGHT } from './page';
import type { PageList } from './pageList';
import type { Scroller } from './scroller';

export interface ReviewState {
  /** The running turn, whose changes will wait for review. */
  readonly turnId: string | undefined;
  /** Absolute paths; undefined if there are too many. */
  readonly files: ReadonlySet<string> | undefined;
}

export class GroupFolds implements PageGroups {
  readonly #viewport: ViewportObserver;
  readonly #questions: OpenQuestions;
  readonly #store: ItemStore;
  readonly #edits = new Set<number>();
  #groups: CallGroups | TurnFolds;
  #review: ReviewState = { turnId: undefined, files: new Set() };
  #pages!: PageList;
  #scroller!: Scroller;
  #nesting!: Nesting;

  constructor(viewport: ViewportObserver, questions: OpenQuestions, store: ItemStore) {
    this.#viewport = viewport;
    this.#questions = questions;
    this.#store = store;
    this.#groups = this.#create(false);
  }

  get isFocusView(): boolean {
    return this.#groups instanceof TurnFolds;
  }

  /** Call it before the pages are redrawn. */
  setFocusView(isOn: boolean): void {
    this.#groups = this.#create(isOn);
    for (let index = 0; index < this.#store.total; index++) {
      const item = this.#store.get(index)?.item;
      if (item) this.#groups.set(index, item);
    }
    for (const page of this.#pages.made()) this.#drawAgain(page);
    this.#pages.refit();
  }

  /** Diffs that wait for review stay visible in the focus view. */
  setReview(review: ReviewState): void {
    const before = this.#review;
    this.#review = review;
    if (!this.isFocusView) return;
    for (const index of this.#edits) {
      const item = this.#store.get(index)?.item;
      if (item && waitsForReview(item, before) !== waitsForReview(item, review)) this.refresh(index);
    }
  }

  /** Call it when an item begins or stops to need the user. */
  refresh(index: number): void {
    const item = this.#store.get(index)?.item;
    if (!item) return;
    this.set(index, [item]);
    this.#redraw(index);
  }

  #create(isFocusView: boolean): CallGroups | TurnFolds {
    const options = {
      isExpanded,
      setExpanded,
      isInUse: (index: number) => {
        const view = this.#view(index);
        return view !== undefined && !view.element.classList.contains('group') && isInUse(view.element);
      },
    };
    if (!isFocusView) return new CallGroups(options);
    return new TurnFolds({
      ...options,
      needsUser: (index, item) => this.#questions.at(index).length > 0 || waitsForReview(item, this.#review),
    });
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
    this.#edits.clear();
    this.#groups.clear();
  }

  heightOf(place: number): number {
    const first = place * PAGE_SIZE;
    let count = 0;
    for (let index = first; index < first + PAGE_SIZE; index++) if (!this.hides(index)) count++;
    return (UNKNOWN_PAGE_HEIGHT * count) / PAGE_SIZE;
  }

  viewOf(index: number): EntryView | undefined {
    return this.#view(this.#groups.hides(index) ? this.at(index)!.first : index);
  }

  set(from: number, items: readonly ItemView[]): void {
    for (const [offset, item] of items.entries())
      if (item.kind === 'tool' && item.content.some(({ type }) => type === 'diff')) this.#edits.add(from + offset);
    const touched = new Set(items.flatMap((item, offset) => this.#groups.set(from + offset, item)));
    for (const index of touched) this.#redraw(index);
    if (touched.size > 0) this.#pages.refit([from, ...touched].map((index) => Math.floor(index / PAGE_SIZE)));
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
    // Collapsing can bring any number of pages into view: the observer reports which.
    for (let place = head + 1; place * PAGE_SIZE <= group.last; place++) {
      const page = this.#pages.at(place);
      if (page) this.#drawAgain(page);
    }
    this.#pages.refit();
    if (hadFocus) line()?.focus({ preventScroll: true });
  }

  unfold(index: number): void {
    const group = this.at(index);
    if (group && !group.isOpen) this.toggle(group);
  }

  /** Redraws the page when the observer reports that it is near. */
  #drawAgain(page: Page): void {
    page.unmount();
    page.forgetHeight();
    this.#viewport.reobserve(page.element);
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

/** Returns whether the changes of a call wait for review, or will at the end of the turn. */
function waitsForReview(item: ItemView, { turnId, files }: ReviewState): boolean {
  if (item.kind !== 'tool') return false;
  return item.content.some(
    (part) => part.type === 'diff' && (item.turnId === turnId || !files || files.has(part.diff.path)),
  );
}
