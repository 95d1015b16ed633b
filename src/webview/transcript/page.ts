// A page of adjacent items: their entries near the viewport, an empty box elsewhere.
import type { Disposable } from '../../base/disposable';
import type { ItemView, PermissionView } from '../../panel/contract';
import { el } from '../dom/dom';
import { watchSelection } from '../dom/selection';
import { createEntry } from '../entries/createEntry';
import type { EntryContext, EntryView } from '../entries/entryView';
import { createGroupEntry, createGroupLine, drawCounts } from '../entries/groupEntry';
import type { ItemStore } from '../entries/itemStore';
import type { CallGroup, CallGroups } from '../nested/callGroups';
import { drawOrphanCards } from './openQuestions';
import type { PromptLine } from './promptLine';

export interface PageGroups extends Pick<CallGroups, 'at' | 'hides' | 'counts'> {
  toggle(group: CallGroup): void;
  drawNested(entry: HTMLElement, index: number): void;
}

export const PAGE_SIZE = 8;
const UNKNOWN_HEIGHT = 60;
export const UNKNOWN_PAGE_HEIGHT = PAGE_SIZE * UNKNOWN_HEIGHT;
const MOUNT_BUDGET = 30;

export class Page implements Disposable {
  readonly element = el('div', 'page');
  readonly first: number;
  readonly #store: ItemStore;
  readonly #context: EntryContext;
  readonly #groups: PageGroups;
  readonly #prompt: PromptLine;
  readonly #views = new Map<number, EntryView>();
  readonly #onChange: (page: Page) => void;
  #subscriptions: readonly Disposable[] = [];
  near = false;
  isSelected = false;
  isMounted = false;
  #measured = 0;

  constructor(
    first: number,
    store: ItemStore,
    context: EntryContext,
    groups: PageGroups,
    prompt: PromptLine,
    onChange: (page: Page) => void,
  ) {
    this.first = first;
    this.#store = store;
    this.#context = context;
    this.#groups = groups;
    this.#prompt = prompt;
    this.#onChange = onChange;
  }

  /** Call it when the page is added to the document. */
  enter(): void {
    if (this.#subscriptions.length > 0) return;
    const near = this.#context.viewport.watch(this.element, (isNear, height) => {
      this.near = isNear;
      if (this.isMounted) this.#measured = height;
      this.#onChange(this);
    });
    const selection = watchSelection(this.element, (isTouched) => {
      this.isSelected = isTouched;
      this.#onChange(this);
    });
    this.#subscriptions = [near, selection];
  }

  leave(): void {
    for (const watch of this.#subscriptions) watch.dispose();
    this.#subscriptions = [];
    this.isSelected = false;
    this.near = false;
  }

  get height(): number {
    return this.#measured || this.#estimate();
  }

  get end(): number {
    return Math.min(this.first + PAGE_SIZE, this.#store.total);
  }

  get isStored(): boolean {
    for (let index = this.first; index < this.end; index++) if (this.#store.get(index)) return true;
    return false;
  }

  get isEmpty(): boolean {
    for (let index = this.first; index < this.end; index++) if (!this.#isDrawnElsewhere(index)) return false;
    return true;
  }

  #isDrawnElsewhere(index: number): boolean {
    return this.#store.isNested(index) && this.#groups.hides(index);
  }

  get missing(): { readonly from: number; readonly to: number } | undefined {
    let from: number | undefined;
    let to = this.first;
    for (let index = this.first; index < this.end; index++) {
      if (this.#store.get(index) || this.#isDrawnElsewhere(index)) continue;
      from ??= index;
      to = index + 1;
    }
    return from === undefined ? undefined : { from, to };
  }

  view(index: number): EntryView | undefined {
    return this.#views.get(index);
  }

  mount(permissions: ReadonlyMap<number, readonly PermissionView[]>): void {
    if (this.isMounted) return;
    this.isMounted = true;
    this.element.style.height = '';
    // Draws all in one go, as the height would otherwise collapse and grow again in view. Only very
    // long entries are finished in later frames.
    const deadline = performance.now() + MOUNT_BUDGET;
    for (let index = this.first; index < this.end; index++) {
      this.put(index, permissions.get(index) ?? []);
      this.#views.get(index)?.render?.(deadline);
    }
  }

  unmount(): void {
    if (!this.isMounted) return;
    this.isMounted = false;
    this.#drop();
    this.element.replaceChildren();
    this.element.style.height = `${this.height}px`;
  }

  forgetHeight(): void {
    this.#measured = 0;
    this.reserve();
  }

  reserve(): void {
    if (!this.isMounted) this.element.style.height = `${this.height}px`;
  }

  put(index: number, permissions: readonly PermissionView[]): void {
    const stored = this.#store.get(index);
    if (!this.isMounted || !stored) return;
    const old = this.#views.get(index);
    if (this.#groups.hides(index)) {
      if (old) this.#removeView(old);
      old?.element.remove();
      this.#views.delete(index);
      return;
    }
    const group = this.#groups.at(index);
    const isLine = group !== undefined && !group.isOpen;
    const { id, kind } = stored.item;
    const name = isLine ? `group ${id}` : `${kind} ${id}`;
    if (old && old.element.dataset.entry === name) {
      old.update();
      this.#drawGroup(old.element, index, group);
      if (!isLine) this.#groups.drawNested(old.element, index);
      return;
    }
    const view = isLine
      ? createGroupEntry(
          id,
          () => this.#groups.counts(this.#groups.at(index) ?? group),
          () => this.#toggle(index),
        )
      : createEntry(stored, index, this.#context);
    view.element.dataset.entry = name;
    view.element.dataset.index = String(index);
    this.#views.set(index, view);
    this.#prompt.watch(view.element);
    if (old) {
      this.#removeView(old);
      old.element.replaceWith(view.element);
    } else {
      let before: EntryView | undefined;
      for (let next = index + 1; next < this.end && !before; next++) before = this.#views.get(next);
      this.element.insertBefore(view.element, before?.element ?? null);
    }
    this.#drawGroup(view.element, index, group);
    if (!isLine) this.#groups.drawNested(view.element, index);
    this.setPermissions(index, permissions);
  }

  #drawGroup(entry: HTMLElement, index: number, group: CallGroup | undefined): void {
    const isIn = group?.isOpen === true;
    entry.classList.toggle('in-group', isIn);
    const old = entry.querySelector<HTMLElement>(':scope > .group-line');
    if (!isIn || group.first !== index) {
      if (!entry.classList.contains('group')) old?.remove();
      return;
    }
    const counts = this.#groups.counts(group);
    if (old) drawCounts(old, counts);
    else entry.prepend(createGroupLine(true, counts, () => this.#toggle(index)));
  }

  #toggle(index: number): void {
    const group = this.#groups.at(index);
    if (group) this.#groups.toggle(group);
  }

  setPermissions(index: number, permissions: readonly PermissionView[]): void {
    const view = this.#views.get(index);
    if (!view) return;
    if (view.setPermissions) {
      view.setPermissions(permissions);
      return;
    }
    // A request without a tool call has its card at the end of the entry.
    drawOrphanCards(view.element, permissions, this.#context);
  }

  settle(except: number): void {
    for (const [index, view] of this.#views) if (index !== except) view.settle?.();
  }

  dispose(): void {
    this.leave();
    this.#drop();
  }

  #drop(): void {
    for (const view of this.#views.values()) this.#removeView(view);
    this.#views.clear();
  }

  #removeView(view: EntryView): void {
    this.#prompt.unwatch(view.element);
    view.dispose?.();
  }

  #estimate(): number {
    const columns = this.#context.columns();
    let height = 0;
    for (let index = this.first; index < this.first + PAGE_SIZE && index < this.end; index++) {
      const item = this.#store.get(index)?.item;
      if (this.#groups.hides(index)) continue;
      height += item ? estimateHeight(item, columns) : UNKNOWN_HEIGHT;
    }
    return height;
  }
}

/**
 * Returns the pages that fill a box of `height` px at the end of the conversation, by estimate.
 * @param fromEnd the pages, last first
 */
export function lastThatFill(height: number, fromEnd: Iterable<Page>): readonly Page[] {
  const pages: Page[] = [];
  let remaining = height;
  for (const page of fromEnd) {
    if (remaining <= 0) break;
    remaining -= page.height;
    pages.push(page);
  }
  return pages;
}

/** px */
const LINE = 20;
const GAP = 9;
const CHANGES_LINE = 24;

/** Height before the first drawing, px. Only the scroll bar depends on it. */
function estimateHeight(item: ItemView, columns: number): number {
  switch (item.kind) {
    case 'user':
    case 'agent': {
      const lines = item.content.reduce(
        (sum, block) => sum + (block.type === 'text' ? textLines(block.text, columns) : 6),
        0,
      );
      return Math.ceil(lines * LINE) + GAP;
    }
    case 'tool': {
      const lines = item.content.reduce((sum, content) => {
        if (content.type === 'diff')
          return sum + content.diff.hunks.reduce((all, hunk) => all + hunk.lines.length, 0) + 1;
        return sum + (content.type === 'terminal' ? 3 : 0);
      }, 0);
      return lines === 0 ? 24 : 28 + Math.min(lines, 14) * 18 + GAP;
    }
    case 'plan':
      return 40 + item.entries.length * 22;
    case 'error':
      return 70 + (item.stderr === undefined ? 0 : 30 + Math.min(textLines(item.stderr, columns) * 18, 230));
    case 'turn_end':
      return 26 + GAP + (item.turn.changes?.files ? CHANGES_LINE : 0);
    default:
      return 26 + GAP;
  }
}

/** Returns the number of lines of a drawn text, including wrapped ones. */
function textLines(text: string, columns: number): number {
  let breaks = 1;
  for (let at = text.indexOf('\n'); at !== -1 && breaks < 2_000; at = text.indexOf('\n', at + 1)) breaks++;
  return Math.max(breaks * 0.6, (text.length * 1.1) / columns + 0.5);
}
