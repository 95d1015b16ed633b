// Draws groups of calls: keeps the pages right when a group grows, is folded or unfolded.
import type { ItemView, PermissionView } from '../../panel/contract';
import { isInUse } from '../dom/selection';
import type { ViewportObserver } from '../dom/viewport';
import type { EntryView } from '../entries/entryView';
import { type CallGroup, CallGroups } from '../nested/callGroups';
import type { Nesting } from './nesting';
import { PAGE_SIZE, type Page, type PageGroups, UNKNOWN_PAGE_HEIGHT } from './page';
import type { PageList } from './pageList';

export interface GroupFoldsOptions {
  /** What the user chose for an item or a group, by its id. */
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  pages(): PageList;
  permissions(index: number): readonly PermissionView[];
  nesting(): Nesting;
  unpin(): void;
  readonly viewport: ViewportObserver;
}

export class GroupFolds implements PageGroups {
  readonly #options: GroupFoldsOptions;
  readonly #groups: CallGroups;

  constructor(options: GroupFoldsOptions) {
    this.#options = options;
    this.#groups = new CallGroups({
      isExpanded: options.isExpanded,
      setExpanded: options.setExpanded,
      isInUse: (index) => {
        const view = this.#view(index);
        return view !== undefined && !view.element.classList.contains('group') && isInUse(view.element);
      },
    });
  }

  at(index: number): CallGroup | undefined {
    return this.#groups.at(index);
  }

  hides(index: number): boolean {
    return this.#options.nesting().hides(index) || this.#groups.hides(index);
  }

  drawNested(entry: HTMLElement, index: number): void {
    this.#options.nesting().draw(entry, index);
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
    for (let index = first; index < first + PAGE_SIZE; index++) if (!this.#options.nesting().hides(index)) count++;
    return (UNKNOWN_PAGE_HEIGHT * count) / PAGE_SIZE;
  }

  /** The view of an item, or of the group that it is folded in. */
  viewOf(index: number): EntryView | undefined {
    return this.#view(this.#groups.hides(index) ? this.at(index)!.first : index);
  }

  /** Items have arrived. Draws the others that change with them, which are in their pages already. */
  set(from: number, items: readonly ItemView[]): void {
    const touched = new Set(items.flatMap((item, offset) => this.#groups.set(from + offset, item)));
    for (const index of touched) this.#redraw(index);
    if (touched.size > 0) this.#options.pages().refit();
  }

  /** Folds or unfolds a group; its line keeps the focus. */
  toggle(group: CallGroup): void {
    this.#options.unpin();
    const line = (): HTMLElement | null | undefined =>
      this.#view(group.first)?.element.querySelector<HTMLElement>('.group-line');
    const hadFocus = document.activeElement !== null && line() === document.activeElement;
    this.#groups.toggle(group);
    const head = Math.floor(group.first / PAGE_SIZE);
    for (let index = group.first; index <= group.last && index < (head + 1) * PAGE_SIZE; index++) this.#redraw(index);
    // A folded group can have any number of pages in sight: those that still are get drawn.
    for (let place = head + 1; place * PAGE_SIZE <= group.last; place++) {
      const page = this.#options.pages().at(place);
      if (!page) continue;
      page.unmount();
      page.forgetHeight();
      this.#options.viewport.renew(page.element);
    }
    this.#options.pages().refit();
    if (hadFocus) line()?.focus({ preventScroll: true });
  }

  /** What is to be shown must not be in a folded group. */
  unfold(index: number): void {
    const group = this.at(index);
    if (group && !group.isOpen) this.toggle(group);
  }

  #view(index: number): EntryView | undefined {
    return this.#page(index)?.view(index);
  }

  #page(index: number): Page | undefined {
    return this.#options.pages().at(Math.floor(index / PAGE_SIZE));
  }

  #redraw(index: number): void {
    const page = this.#page(index);
    if (page?.isMounted) page.put(index, this.#options.permissions(index));
    else page?.forgetHeight();
  }
}
