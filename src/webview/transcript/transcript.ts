// The conversation: pages in a scrolling box. Operations of the host change the store; what is near the eye is drawn, a few milliseconds per frame.
import type { FromWebview, ItemView, Op, PermissionView } from '../../panel/contract';
import { button, el, icon, setAttributes } from '../dom';
import type { EntryContext, EntryView } from '../entries/entryView';
import { type ItemChange, ItemStore } from '../itemStore';
import { createNearWatcher } from '../near';
import { strings } from '../strings';
import { HiddenCards } from './hiddenCards';
import { drawOrphanCards } from './orphanCards';
import { PAGE_SIZE, Page } from './page';
import { watchKeys } from './rovingFocus';
import { Scroller } from './scroller';

/** How far beyond the visible part entries are kept in the page, px. */
const MARGIN = 1_200;
/** Pages kept in memory; beyond that, what is far from the eye is asked for again. */
const STORED_PAGES = 120;
/** The fewest px of one character, for guessing heights. */
const CHAR_WIDTH = 7;

export interface TranscriptOptions {
  post(message: FromWebview): void;
  /** Something is to be drawn: call `render` in the next frame. */
  invalidate(): void;
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** The reader moved: after which item they are, or null at the end. */
  onAnchor(anchor: { readonly index: number; readonly offset: number } | null): void;
  /** Questions that cannot be seen right now. */
  onHiddenPermissions(ids: readonly string[]): void;
  announce(text: string, urgency: 'polite' | 'assertive'): void;
}

export class Transcript {
  readonly element: HTMLElement;
  /** Where forms and pages are drawn by whoever knows them: below the last entry. */
  readonly questions = el('div', 'questions');
  readonly #options: TranscriptOptions;
  readonly #store = new ItemStore();
  readonly #box: HTMLElement;
  readonly #content = el('div', 'column');
  readonly #orphans = el('div', 'orphans');
  readonly #jump: HTMLButtonElement;
  readonly #scroller: Scroller;
  readonly #context: EntryContext;
  readonly #dirty = new Set<EntryView>();
  readonly #wanted = new Set<Page>();
  readonly #asked = new Set<Page>();
  #pages: Page[] = [];
  readonly #hiddenCards: HiddenCards;
  #permissions: readonly PermissionView[] = [];
  #questionIds: readonly string[] = [];
  #permissionsAt = new Map<number, PermissionView[]>();
  #running = false;
  #columns = 90;
  #evictDue = false;
  #reveal: { readonly index: number; readonly offset?: number; readonly focus: boolean } | undefined;
  #anchorTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#box = setAttributes(el('div', 'transcript', this.#content), {
      role: 'log',
      'aria-label': strings.conversation,
      'aria-live': 'off',
      tabindex: '0',
    });
    this.#content.append(this.#orphans, this.questions);
    this.#jump = button('jump', strings.jumpToLatest, () => this.#scroller.pin());
    this.#jump.prepend(icon('arrow-down'));
    this.#jump.hidden = true;
    this.element = el('div', 'transcript-frame', this.#box, this.#jump);
    const near = createNearWatcher(this.#box, MARGIN);
    this.#context = {
      near,
      columns: () => this.#columns,
      post: options.post,
      openLink: (href) => options.post({ type: 'openLink', href }),
      copy: (text) => {
        options.post({ type: 'copy', text });
        options.announce(strings.copied, 'polite');
      },
      isExpanded: options.isExpanded,
      setExpanded: options.setExpanded,
      invalidate: (view) => {
        this.#dirty.add(view);
        options.invalidate();
      },
      unpin: () => this.#scroller.unpin(),
      textOfTurn: (turnId) => this.#store.textOfTurn(turnId),
    };
    this.#scroller = new Scroller(
      this.#box,
      this.#content,
      (pinned) => {
        this.#jump.hidden = pinned;
        if (pinned) options.onAnchor(null);
      },
      () => this.#scheduleAnchor(),
    );
    new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.#columns = Math.max(20, Math.min(780, entry.contentRect.width) / CHAR_WIDTH);
      const gutter = this.#box.offsetWidth - this.#box.clientWidth;
      document.documentElement.style.setProperty('--gutter', `${gutter}px`);
    }).observe(this.#box);
    this.#hiddenCards = new HiddenCards(this.#box, (ids) => options.onHiddenPermissions(ids));
    watchKeys(this.#box, {
      toggle: (entry) => this.#viewOf(entry)?.toggle?.(),
      toEdge: (edge) => this.reveal(edge === 'first' ? 0 : this.#store.total - 1),
      toIndex: (index) => this.reveal(index),
    });
  }

  get store(): ItemStore {
    return this.#store;
  }

  /** Starts over with the last page of items. */
  reset(total: number, from: number, items: readonly ItemView[], revision: number): void {
    for (const page of this.#pages) page.dispose();
    this.#pages = [];
    this.#dirty.clear();
    this.#wanted.clear();
    this.#asked.clear();
    this.#store.reset(total, from, items, revision);
    this.#content.replaceChildren(this.#orphans, this.questions);
    this.#growPages();
    this.#scroller.pin();
  }

  /** Applies an operation to what is at hand. */
  apply(op: Exclude<Op, { op: 'session' }>, revision: number): void {
    const before = this.#store.total;
    const changes = this.#store.apply(op, revision);
    if (this.#store.total !== before) this.#growPages();
    for (const change of changes) this.#show(change);
  }

  /** Takes in items that were asked for. */
  insertPage(from: number, items: readonly ItemView[], revision: number): void {
    this.#store.insert(from, items, revision);
    for (const page of this.#pages.slice(Math.floor(from / PAGE_SIZE))) {
      if (page.first >= from + items.length) break;
      this.#asked.delete(page);
      if (page.isMounted) {
        for (let index = page.first; index < page.end; index++) this.#put(page, index);
      } else if (page.near || this.#isRevealed(page)) {
        this.#want(page);
      } else {
        page.reserve();
      }
    }
  }

  setPermissions(permissions: readonly PermissionView[]): void {
    const fresh = permissions.filter(({ id }) => !this.#permissions.some((old) => old.id === id));
    const touched = new Set([...this.#permissionsAt.keys(), ...permissions.map(({ index }) => index)]);
    this.#permissions = permissions;
    this.#permissionsAt = new Map();
    for (const permission of permissions) {
      const { index } = permission;
      this.#permissionsAt.set(index, [...(this.#permissionsAt.get(index) ?? []), permission]);
    }
    for (const index of touched) this.#pageOf(index)?.setPermissions(index, this.#permissionsAt.get(index) ?? []);
    drawOrphanCards(
      this.#orphans,
      permissions.filter(({ index }) => index < 0 || index >= this.#store.total),
      this.#context,
    );
    this.#lookAtCards();
    for (const { title } of fresh) this.#options.announce(strings.permissionNeeded(title), 'assertive');
  }

  /** The forms and pages that wait for the user have been drawn. */
  setQuestions(ids: readonly string[]): void {
    this.#questionIds = ids;
    this.#lookAtCards();
  }

  #lookAtCards(): void {
    this.#hiddenCards.look([...this.#permissions.map(({ id }) => id), ...this.#questionIds]);
  }

  /** Whether a turn runs: without one, nothing streams and what is open counts as complete. */
  setRunning(running: boolean): void {
    this.#running = running;
    this.#settle();
  }

  /** Draws until the `deadline` (of `performance.now()`). @returns whether all is drawn */
  render(deadline: number): boolean {
    const newest = this.#scroller.isPinned ? this.#pages.slice(-2) : [];
    for (const page of [...this.#wanted]) {
      this.#wanted.delete(page);
      // It was the newest for a moment, and many came after it: it stays a box until it comes near.
      if (!page.near && !newest.includes(page) && !this.#isRevealed(page)) continue;
      this.#ask(page);
      if (page.isStored) {
        page.mount(this.#permissionsAt);
        if (page === this.#pages.at(-1)) this.#settle();
        else page.settle(-1);
      }
      if (performance.now() > deadline) break;
    }
    for (const view of [...this.#dirty]) {
      this.#dirty.delete(view);
      if (view.render && !view.render(deadline)) this.#dirty.add(view);
      if (performance.now() > deadline) break;
    }
    this.#finishReveal();
    if (this.#evictDue) this.#evict();
    if (this.#permissions.length + this.#questionIds.length > 0) this.#lookAtCards();
    return this.#dirty.size === 0 && this.#wanted.size === 0;
  }

  /** Follows the end again: the user has said something, and wants to see it and what comes of it. */
  toLatest(): void {
    this.#scroller.pin();
  }

  /** Brings an item to the eye. @param offset px above the upper edge; without it, it is centred and focused */
  reveal(index: number, offset?: number): void {
    const page = this.#pageOf(index);
    if (!page) return;
    this.#reveal = { index, focus: offset === undefined, ...(offset === undefined ? {} : { offset }) };
    if (this.#isEnd(this.#reveal)) {
      this.#scroller.pin();
    } else {
      this.#scroller.unpin();
      page.element.scrollIntoView({ block: 'nearest' });
      this.#scroller.settle();
    }
    this.#want(page);
    this.#options.invalidate();
  }

  /** Brings the first open question to the eye and puts the focus on it. */
  revealPermission(): void {
    const first = this.#permissions[0];
    const id = CSS.escape(first?.id ?? this.#questionIds[0] ?? '');
    const card = this.#box.querySelector<HTMLElement>(`[data-permission-id="${id}"], [data-elicitation-id="${id}"]`);
    if (!card) {
      if (!first) return;
      this.reveal(first.index);
      return;
    }
    (card.closest('.entry') ?? card).scrollIntoView({ block: 'nearest' });
    card.focus({ preventScroll: true });
  }

  #show(change: ItemChange): void {
    const page = this.#pageOf(change.index);
    if (!page) return;
    if (!page.isMounted) {
      if (change.type === 'put') page.reserve();
      return;
    }
    if (change.type === 'put') {
      const isNew = page.view(change.index) === undefined;
      this.#put(page, change.index);
      if (isNew) this.#settle();
      return;
    }
    const view = page.view(change.index);
    if (change.type === 'append') view?.append?.(change.text);
    else view?.update();
  }

  #put(page: Page, index: number): void {
    page.put(index, this.#permissionsAt.get(index) ?? []);
  }

  /** All but the last entry of a running turn are complete. */
  #settle(): void {
    const last = this.#running ? this.#store.total - 1 : -1;
    for (const page of this.#pages.slice(-2)) if (page.isMounted) page.settle(last);
  }

  #growPages(): void {
    const count = Math.ceil(this.#store.total / PAGE_SIZE);
    const added = count > this.#pages.length;
    while (this.#pages.length < count) {
      const page = new Page(this.#pages.length * PAGE_SIZE, this.#store, this.#context, (one) => this.#onNear(one));
      this.#pages.push(page);
      this.#orphans.before(page.element);
      page.reserve();
    }
    if (!added) return;
    this.#content.classList.toggle('empty', count === 0);
    // At the end, the newest pages are drawn at once, the last one first; what they push away leaves when the observer says so.
    if (this.#scroller.isPinned) for (const page of this.#pages.slice(-2).reverse()) this.#want(page);
  }

  #onNear(page: Page): void {
    if (page.near) {
      if (!page.isMounted) this.#want(page);
      return;
    }
    this.#wanted.delete(page);
    const isLast = page === this.#pages.at(-1) && this.#scroller.isPinned;
    if (!page.isMounted || isLast || page.element.contains(document.activeElement)) return;
    page.unmount();
    if (this.#pages.length > STORED_PAGES && !this.#evictDue) {
      // Not now: the observer tells of one page after the other, and only after all is known where the reader is.
      this.#evictDue = true;
      this.#options.invalidate();
    }
  }

  /** Forgets the items of the pages that are farthest from the reader. The last ones stay: they still change. */
  #evict(): void {
    this.#evictDue = false;
    const eye = this.#pages.findIndex((page) => page.near);
    const distance = (page: Page): number => Math.abs(page.first / PAGE_SIZE - eye);
    const idle = this.#pages.slice(0, -4).filter((page) => !page.isMounted && !page.near && page.isStored);
    const far = idle.sort((one, other) => distance(other) - distance(one));
    for (const page of far.slice(0, Math.max(0, far.length - STORED_PAGES))) this.#store.evict(page.first, page.end);
  }

  #want(page: Page): void {
    if (page.isMounted) return;
    this.#wanted.add(page);
    this.#options.invalidate();
  }

  #ask(page: Page): void {
    const { missing } = page;
    if (!missing || this.#asked.has(page)) return;
    this.#asked.add(page);
    this.#options.post({ type: 'page', ...missing });
  }

  #pageOf(index: number): Page | undefined {
    return this.#pages[Math.floor(index / PAGE_SIZE)];
  }

  #viewOf(entry: HTMLElement): EntryView | undefined {
    const index = Number(entry.closest<HTMLElement>('[data-index]')?.dataset.index);
    return Number.isInteger(index) ? this.#pageOf(index)?.view(index) : undefined;
  }

  #isRevealed(page: Page): boolean {
    return this.#reveal !== undefined && this.#pageOf(this.#reveal.index) === page;
  }

  #finishReveal(): void {
    const target = this.#reveal;
    const view = target && this.#pageOf(target.index)?.view(target.index);
    // Only when all around it has its height, or the place would be another one a moment later.
    if (!target || !view || this.#dirty.size > 0 || this.#wanted.size > 0) return;
    this.#reveal = undefined;
    if (target.offset !== undefined) {
      view.element.scrollIntoView({ block: 'start' });
      this.#box.scrollTop += target.offset;
      this.#scroller.settle();
      return;
    }
    if (!this.#isEnd(target)) {
      view.element.scrollIntoView({ block: 'center' });
      this.#scroller.settle();
    }
    const card = view.element.querySelector<HTMLElement>('[data-permission-id]');
    const separator = view.element.querySelector<HTMLElement>('[role="separator"]');
    if (target.focus) (card ?? separator ?? view.element).focus({ preventScroll: true });
  }

  #isEnd(target: { readonly index: number; readonly offset?: number }): boolean {
    return target.offset === undefined && target.index === this.#store.total - 1;
  }

  // ---- where the reader is ----

  #scheduleAnchor(): void {
    if (this.#anchorTimer !== undefined || this.#scroller.isPinned) return;
    this.#anchorTimer = setTimeout(() => {
      this.#anchorTimer = undefined;
      this.#options.onAnchor(this.anchor());
    }, 400);
  }

  /** The first item in sight and how far it is above the edge, or null at the end. */
  anchor(): { readonly index: number; readonly offset: number } | null {
    return this.#scroller.isPinned ? null : this.#anchor();
  }

  #anchor(): { readonly index: number; readonly offset: number } | null {
    const { top } = this.#box.getBoundingClientRect();
    for (const page of this.#pages) {
      if (!page.isMounted || page.element.getBoundingClientRect().bottom <= top) continue;
      for (let index = page.first; index < page.end; index++) {
        const rect = page.view(index)?.element.getBoundingClientRect();
        if (rect && rect.bottom > top) return { index, offset: Math.round(top - rect.top) };
      }
    }
    return null;
  }
}
