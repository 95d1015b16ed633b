// The conversation: pages in a scroll container. The host's operations change the store; what is
// near the viewport is drawn, a few milliseconds per frame.
import type { Anchor, ItemView, Op, PermissionView, ToWebview } from '../../panel/contract';
import { drawRunningChanges, isInRunningChanges } from '../changes/changes';
import { changesList } from '../changes/changesList';
import { button, el, icon, setAttributes } from '../dom/dom';
import { isInUse } from '../dom/selection';
import { createViewportObserver, type ViewportObserver } from '../dom/viewport';
import type { EntryContext, EntryView } from '../entries/entryView';
import { type ItemChange, ItemStore } from '../entries/itemStore';
import { announce } from '../host/session';
import { answerGuard } from '../input/answerGuard';
import { focusComposer } from '../input/wake';
import { strings } from '../text/strings';
import { GroupFolds, type ReviewState } from './groupFolds';
import { Nesting } from './nesting';
import { drawOrphanCards, HiddenCards, OpenQuestions } from './openQuestions';
import { lastThatFill, PAGE_SIZE, Page } from './page';
import { PageList } from './pageList';
import { PageLoader } from './pageLoader';
import { PositionReporter } from './positionReporter';
import { PromptLine } from './promptLine';
import { QuestionKeys } from './questionKeys';
import { Revealer } from './revealer';
import { KeyMoves } from './rovingFocus';
import { Scroller } from './scroller';
import {
  cardOf,
  firstVisibleEntry,
  focusCard,
  hasAnswersAtEnd,
  scrollCardIntoView,
  scrollPartIntoView,
  scrollWithin,
  type Target,
} from './scrollIntoView';
import { TurnEnds } from './turnEnds';
import { type UndrawnPart, undrawnPart } from './undrawnPart';
import { WorkingLine } from './workingLine';

const MARGIN = 600;
/** Maximum number of selected pages drawn in one go, as for Select All. */
const SELECTED_PAGES = 40;
/** Height of the button that scrolls to the end, with margins, px. */
const JUMP_HEIGHT = 42;
/** Minimum width of a character, px, for estimates. */
const CHAR_WIDTH = 7;

type Snapshot = Extract<ToWebview, { type: 'snapshot' }>;

export class Transcript {
  readonly element: HTMLElement;
  /** Forms and pages, drawn by `Questions`. */
  readonly questions = el('div', 'questions');
  readonly #invalidate: () => void;
  readonly store = new ItemStore();
  readonly box: HTMLElement;
  readonly content = el('div', 'column');
  readonly #runningChanges = el('div', 'live-changes');
  readonly #orphans = el('div', 'orphans');
  readonly working = new WorkingLine();
  readonly #turnEnds: TurnEnds;
  readonly #jumpButton: HTMLButtonElement;
  readonly #scroller: Scroller;
  readonly #viewport: ViewportObserver;
  readonly #positionReporter: PositionReporter;
  readonly #context: EntryContext;
  readonly #entriesToRender = new Set<EntryView>();
  readonly #pagesToDraw = new Set<Page>();
  readonly #loader: PageLoader;
  readonly #pages: PageList;
  readonly #groups: GroupFolds;
  readonly nesting: Nesting;
  readonly #hiddenCards: HiddenCards;
  readonly #open = new OpenQuestions();
  #running = false;
  #size = { columns: 90, height: 600 }; // of the box, in characters and px
  #evictDue = false;
  #heldForAnswer = false;
  readonly #revealer: Revealer;
  readonly keys: KeyMoves;
  readonly #questionKeys: QuestionKeys;

  constructor(invalidate: () => void) {
    this.#invalidate = invalidate;
    this.#loader = new PageLoader(this.store);
    this.#turnEnds = new TurnEnds(this.store);
    this.box = setAttributes(el('div', 'transcript', this.content), {
      role: 'log',
      'aria-label': strings.conversation,
      'aria-live': 'off',
      tabindex: '0',
    });
    this.content.append(this.#runningChanges, this.#orphans, this.questions, this.working.element);
    this.#jumpButton = button('jump', strings.jumpToLatest, () => this.toLatest());
    this.#jumpButton.prepend(icon('arrow-down'));
    this.#jumpButton.hidden = true;
    this.element = el('div', 'transcript-frame', this.box, this.#jumpButton);
    this.#viewport = createViewportObserver(this.box, MARGIN, invalidate);
    this.#context = {
      viewport: this.#viewport,
      columns: () => this.#size.columns,
      answered: (id, byKey) => this.#answered(id, byKey),
      invalidate: (view) => {
        this.#entriesToRender.add(view);
        invalidate();
      },
      unpin: () => this.#scroller.unpin(),
      keepInView: (node) => this.keepInView(node),
      reveal: (index) => this.reveal(index),
      hasChanges: (turnId, index) => this.#hasChanges(turnId, index),
      revealChange: (turnId, file, index) => this.#revealChange(turnId, file, index),
    };
    answerGuard.onRefused = (card) => this.#letAnswer(card);
    this.#groups = new GroupFolds(this.#viewport, this.#open, this.store);
    const prompt = new PromptLine(this.box, this.store, (index) => this.reveal(index));
    this.#pages = new PageList(this.#runningChanges, {
      create: (place) =>
        new Page(place * PAGE_SIZE, this.store, this.#context, this.#groups, prompt, (page) => this.#onNear(page)),
      heightOf: (place) => this.#groups.heightOf(place),
      mustStay: (page) => this.#pagesToDraw.has(page) || this.#revealer.includes(page) || page.isSelected,
      viewport: this.#viewport,
    });
    this.#positionReporter = new PositionReporter(() => this.#place(), invalidate);
    this.#scroller = new Scroller(this.box, this.content, {
      onPinned: (pinned) => {
        this.#updateJumpButton();
        if (pinned) this.#positionReporter.atEnd();
      },
      onScroll: (byReader) => {
        if (byReader) this.#revealer.end();
        if (this.#scroller.isPinned) return;
        this.#viewport.checkVisible();
        this.#positionReporter.moved();
        this.#updateJumpButton();
      },
      onLaidOut: () => this.#updateJumpButton(),
      parts: () => this.#parts(),
    });
    this.#revealer = new Revealer({
      pages: this.#pages,
      scroller: this.#scroller,
      store: this.store,
      viewport: this.#viewport,
      view: (index) => this.#groups.viewOf(index),
      draw: (page) => this.#requestDraw(page),
      invalidate,
    });
    this.nesting = new Nesting(this.store, this.#context, this.#open, this.#scroller, this.#revealer);
    this.#groups.connect(this.#pages, this.#scroller, this.nesting);
    drawRunningChanges(this.#runningChanges, this);
    new ResizeObserver(([entry]) => {
      if (!entry) return;
      const { width, height } = entry.contentRect;
      this.#size = { columns: Math.max(20, Math.min(780, width) / CHAR_WIDTH), height };
      const gutter = this.box.offsetWidth - this.box.clientWidth;
      document.documentElement.style.setProperty('--gutter', `${gutter}px`);
      if (this.#revealer.target) invalidate();
    }).observe(this.box);
    this.#hiddenCards = new HiddenCards(this.box);
    this.keys = new KeyMoves(this.box, this.store, this.#groups, {
      shown: () => (this.isAtEnd ? undefined : this.anchor()?.index),
      // Moving across a collapsed group does not expand it.
      reveal: (index) => this.#revealer.reveal({ index }),
      toggle: (entry) => this.#viewOf(entry)?.toggle?.(),
    });
    this.#questionKeys = new QuestionKeys({
      first: () => cardOf(this.box, this.#open.first?.id),
      reveal: () => this.revealPermission(),
    });
  }

  get isAtEnd(): boolean {
    return this.#scroller.isPinned;
  }

  reset({ total, from, items, revision, nested, prompt }: Snapshot): void {
    this.#pages.clear();
    this.#entriesToRender.clear();
    this.#pagesToDraw.clear();
    this.#loader.clear();
    this.#turnEnds.clear();
    this.#groups.clear();
    this.nesting.clear();
    if (prompt) this.store.prompts.set(prompt.turnId, prompt);
    this.store.reset(total, from, items, revision, nested);
    this.#groups.set(from, items);
    this.#scroller.pin(); // before the pages arrive: those at the end are drawn immediately
    this.#growPages();
  }

  apply(op: Exclude<Op, { op: 'session' }>, revision: number): void {
    this.#scroller.hold();
    const before = this.store.total;
    const changes = this.store.apply(op, revision);
    if (this.store.total !== before) this.#growPages();
    for (const change of changes) this.#show(change);
  }

  leave(): void {
    this.#questionKeys.turnEnded();
    this.setPermissions([]);
    this.setQuestions([]);
  }

  insertPage(from: number, items: readonly ItemView[], revision: number): void {
    this.#scroller.hold();
    this.store.insert(from, items, revision);
    this.#groups.set(from, items);
    const { target } = this.#revealer;
    if (target && target.offset === undefined && !this.nesting.reveal(target)) this.#unfold(target.index);
    for (let place = Math.floor(from / PAGE_SIZE); place * PAGE_SIZE < from + items.length; place++) {
      const page = this.#pages.at(place);
      if (!page) continue;
      this.#loader.arrived(page);
      if (page.isMounted) {
        for (let index = page.first; index < page.end; index++) page.put(index, this.#open.at(index));
      } else if (page.near || this.#revealer.includes(page)) {
        this.#requestDraw(page);
      } else {
        page.reserve();
      }
    }
    this.#turnEnds.arrived();
    const nested = this.nesting.arrived();
    if (nested) this.#goTo(nested);
  }

  setPermissions(permissions: readonly PermissionView[]): void {
    const { fresh, touched } = this.#open.setPermissions(permissions);
    for (const index of touched) this.#setPermissions(index);
    this.nesting.update();
    drawOrphanCards(
      this.#orphans,
      permissions.filter(({ index }) => index < 0 || index >= this.store.total),
      this.#context,
    );
    this.#hiddenCards.update(this.#open.ids);
    for (const { title } of fresh) announce(strings.permissionNeeded(title), 'assertive');
    if (fresh.length > 0) this.#questionKeys.questionDrawn();
  }

  /** A call that asks is drawn at its own place, even if it is nested or its turn is collapsed. */
  #setPermissions(index: number): void {
    if (this.#groups.isFocusView) this.#groups.refresh(index);
    const page = this.#pageOf(index);
    if (!page) return;
    if (!this.store.isNested(index)) page.setPermissions(index, this.#open.at(index));
    else if (page.isMounted) page.put(index, this.#open.at(index));
    else this.#requestDrawIfNear(page);
    if (page.isMounted) page.setPermissions(index, this.#open.at(index));
  }

  setQuestions(ids: readonly string[]): void {
    const isNew = ids.some((id) => !this.#open.formIds.includes(id));
    this.#open.formIds = ids;
    this.#hiddenCards.update(this.#open.ids);
    if (isNew) this.#questionKeys.questionDrawn();
    this.#questionKeys.showNumbers();
  }

  setReview(review: ReviewState): void {
    this.#scroller.hold();
    this.#groups.setReview(review);
  }

  setFocusView(isOn: boolean): void {
    if (isOn === this.#groups.isFocusView) return;
    const anchor = this.anchor();
    this.#groups.setFocusView(isOn);
    if (anchor) this.reveal(anchor.index, anchor.offset);
    else this.toLatest();
  }

  /** Without a running turn, open entries count as complete. */
  setRunning(running: boolean): void {
    this.#running = running;
    if (!running) this.#questionKeys.turnEnded();
    this.#settle();
  }

  keepPlace(change: () => void): void {
    this.#scroller.keep(change);
  }

  /**
   * @param deadline of `performance.now()`
   * @returns whether everything is drawn
   */
  render(deadline: number): boolean {
    this.#scroller.hold();
    this.#viewport.flush();
    if (this.#pages.takeNewPages() && !this.#scroller.isPinned) {
      this.#viewport.checkVisible();
      this.#viewport.flush();
    }
    while (this.#drawPages(deadline)) {
      // If drawn entries are smaller than estimated, more becomes visible.
      this.#scroller.restore();
      this.#viewport.checkVisible();
      this.#viewport.flush();
    }
    for (const view of [...this.#entriesToRender]) {
      this.#entriesToRender.delete(view);
      if (view.element.parentNode === null) continue;
      if (view.render && !view.render(deadline)) this.#entriesToRender.add(view);
      if (performance.now() > deadline) break;
    }
    if (this.#entriesToRender.size === 0 && this.#pagesToDraw.size === 0) this.#revealer.finish();
    if (this.#evictDue) this.#loader.evict(this.#pages.made(), this.#pages.length - 1);
    this.#evictDue = false;
    if (this.#open.first) {
      this.#hiddenCards.update(this.#open.ids);
      this.#questionKeys.showNumbers();
    }
    const isDone = this.#entriesToRender.size === 0 && this.#pagesToDraw.size === 0;
    if (isDone) this.#positionReporter.reportIfDue();
    return isDone;
  }

  /** @returns whether it drew a page that may be visible, in time */
  #drawPages(deadline: number): boolean {
    if (this.#pagesToDraw.size === 0) return false;
    const newest = this.#scroller.isPinned ? lastThatFill(this.#size.height, this.#pages.fromEnd()) : [];
    let drawn = false;
    for (const page of [...this.#pagesToDraw]) {
      this.#pagesToDraw.delete(page);
      // It was the latest only briefly: it stays a box until it comes near.
      if (!page.near && !page.isSelected && !newest.includes(page) && !this.#revealer.includes(page)) continue;
      this.#loader.ask(page);
      if (page.isStored) {
        page.mount(this.#open.byIndex);
        if (!page.near) this.#viewport.reobserve(page.element); // otherwise no event reports when it leaves the viewport
        if (this.#isLast(page)) this.#settle();
        else page.settle(-1);
        drawn = true;
      }
      if (performance.now() > deadline) return false;
    }
    return drawn && !this.#scroller.isPinned;
  }

  undrawnPart(): UndrawnPart | undefined {
    return undrawnPart(this.content, this.#pages, this.store.total);
  }

  toLatest(): void {
    this.#revealer.end();
    this.#scroller.pin();
  }

  /** @param offset px above the top edge; without it, the item is centred and focused */
  reveal(index: number, offset?: number): void {
    this.#goTo(offset === undefined ? { index } : { index, offset });
  }

  keepInView(node: Element): void {
    this.#scroller.unpin();
    scrollWithin(this.box, node, 'nearest');
    this.#scroller.recordPosition();
    this.#scroller.pinNearEnd();
  }

  /** Draws an item completely in view, without focusing it. */
  draw(index: number, drawn: (view: EntryView) => void): void {
    this.#goTo({ index, drawn });
  }

  showPart(part: Range): void {
    this.#scroller.unpin();
    scrollPartIntoView(this.box, part);
    this.#scroller.recordPosition();
  }

  revealFound(index: number): void {
    this.#goTo({ index, isFound: true });
  }

  #goTo(target: Target): void {
    if (target.offset === undefined) this.#unfold(target.index);
    if (!this.nesting.reveal(target)) this.#revealer.reveal(target);
  }

  #unfold(index: number): void {
    const root = this.nesting.hides(index) ? this.store.get(index)?.item.path?.[0] : index;
    if (root !== undefined) this.#groups.unfold(root);
  }

  #hasChanges(turnId: string, index: number): boolean {
    if (isInRunningChanges(turnId)) return true;
    const end = this.#turnEnds.find(turnId, index);
    return end !== undefined && ('missing' in end || (end.turn.changes?.files ?? 0) > 0);
  }

  #revealChange(turnId: string, file: string, from: number): void {
    if (isInRunningChanges(turnId)) {
      this.toLatest();
      changesList({ turnId }).focusFile(file);
      return;
    }
    this.#turnEnds.seek(turnId, from, (index) => this.#revealer.reveal({ index, file }));
  }

  revealPermission(): void {
    this.#questionKeys.questionFocused();
    const { id, index } = this.#open.first ?? {};
    if (id === undefined) return;
    if (!focusCard(this.box, id) && index !== undefined) this.reveal(index);
  }

  toNextQuestion(): void {
    if (this.#open.first) this.revealPermission();
    else focusComposer();
  }

  answeredForm(byKey: boolean): void {
    this.#questionKeys.answered(byKey);
  }

  /** After an answer by pointer the user may type, which must not answer another question. */
  #answered(id: string, byKey: boolean): void {
    this.#open.answered(id);
    this.#questionKeys.answered(byKey);
    if (this.#heldForAnswer) this.#scroller.pin();
    this.#heldForAnswer = false;
    if (byKey) this.toNextQuestion();
    else focusComposer();
  }

  /** The card had just appeared or moved, or is partly hidden: keeps it in place. */
  #letAnswer(card: HTMLElement): void {
    this.#heldForAnswer ||= this.#scroller.isPinned;
    this.#scroller.unpin();
    scrollCardIntoView(this.box, card);
    this.#scroller.recordPosition();
    if (!card.contains(document.activeElement)) card.focus({ preventScroll: true });
    announce(strings.answerAgain, 'polite');
  }

  #updateJumpButton(): void {
    this.#jumpButton.hidden =
      this.#scroller.isPinned || (this.#open.first !== undefined && hasAnswersAtEnd(this.box, JUMP_HEIGHT));
  }

  #show(change: ItemChange): void {
    if (change.type === 'put') {
      const item = this.store.get(change.index)?.item;
      if (item) this.#groups.set(change.index, [item]);
    }
    const page = this.#pageOf(change.index);
    if (!page) return;
    if (!page.isMounted) {
      if (change.type === 'put') page.reserve();
      this.#requestDrawIfNear(page);
      this.nesting.changed(change);
      return;
    }
    if (change.type === 'put') {
      const isNew = page.view(change.index) === undefined;
      page.put(change.index, this.#open.at(change.index));
      if (isNew) this.#settle();
      this.nesting.changed(change);
      return;
    }
    const view = page.view(change.index) ?? this.nesting.view(change.index);
    if (change.type === 'append') view?.append?.(change.text);
    else if (change.type === 'blocks' && view?.addBlocks) view.addBlocks(change.from);
    else view?.update();
  }

  /** Settles all entries but the last one of a running turn. */
  #settle(): void {
    const last = this.#running ? this.store.total - 1 : -1;
    for (const place of [this.#pages.length - 2, this.#pages.length - 1]) {
      const page = this.#pages.at(place);
      if (page?.isMounted) page.settle(last);
    }
  }

  #growPages(): void {
    const count = Math.ceil(this.store.total / PAGE_SIZE);
    if (!this.#pages.grow(count)) return;
    this.content.classList.toggle('empty', count === 0);
    // At the end, immediately draws the pages that fill the box. The observer reports which pages
    // this pushes out.
    if (this.#scroller.isPinned)
      for (const page of lastThatFill(this.#size.height, this.#pages.fromEnd())) this.#requestDraw(page);
  }

  #onNear(page: Page): void {
    const isSelected = page.isSelected && (page.isMounted || this.#pagesToDraw.size < SELECTED_PAGES);
    if (page.near || isSelected) {
      if (!page.isMounted) this.#requestDraw(page);
      return;
    }
    if (this.#revealer.includes(page)) return;
    this.#pagesToDraw.delete(page);
    const isLast = this.#isLast(page) && this.#scroller.isPinned;
    if (!page.isMounted || isLast || isInUse(page.element)) return;
    page.unmount();
    this.#pages.left(page);
    // Later: the scroll position is only known once the observer has reported all pages.
    this.#evictDue = true;
  }

  #requestDraw(page: Page): void {
    if (page.isMounted || page.isEmpty) return;
    this.#pagesToDraw.add(page);
    this.#invalidate();
  }

  #requestDrawIfNear(page: Page): void {
    if (page.near || (this.#scroller.isPinned && this.#isLast(page))) this.#requestDraw(page);
  }

  #pageOf(index: number): Page | undefined {
    return this.#pages.at(Math.floor(index / PAGE_SIZE));
  }

  #isLast(page: Page): boolean {
    return page.first / PAGE_SIZE === this.#pages.length - 1;
  }

  #viewOf(entry: HTMLElement): EntryView | undefined {
    const index = Number(entry.closest<HTMLElement>('[data-index]')?.dataset.index);
    return Number.isInteger(index) ? (this.#pageOf(index)?.view(index) ?? this.nesting.view(index)) : undefined;
  }

  /** Returns the target or the position; null at the end. */
  anchor(): Anchor | null {
    const target = this.#scroller.isPinned ? undefined : this.#revealer.target;
    if (target) return { index: target.index, offset: target.offset ?? 0 };
    const position = this.#place();
    return position === undefined ? this.#positionReporter.lastReported : position;
  }

  #place(): Anchor | null | undefined {
    if (this.#scroller.isPinned) return null;
    const view = this.#revealer.target ? undefined : firstVisibleEntry(this.box, this.#pages.shown());
    if (!view) return undefined;
    this.#scroller.hold();
    if (view.drawWhole?.()) {
      this.#scroller.restore();
      this.#invalidate();
      return undefined;
    }
    const offset = this.box.getBoundingClientRect().top - view.element.getBoundingClientRect().top;
    return { index: Number(view.element.dataset.index), offset: Math.round(offset) };
  }

  *#parts(): Iterable<Element> {
    for (const page of this.#pages.shown()) if (page.near || page.isMounted) yield page.element;
    yield this.#runningChanges;
    yield this.#orphans;
    yield this.questions;
  }
}
