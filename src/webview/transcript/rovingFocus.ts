// Keyboard navigation of entries. One entry is in the tab order; the arrow keys, Home and End move
// between entries, Alt+Up and Alt+Down between user messages, and 1, 2, 3 answer the focused
// permission request.
import type { ItemStore } from '../entries/itemStore';
import { pressByKey } from '../entries/permissionCard';
import type { GroupFolds } from './groupFolds';
import { scrollWithin } from './scrollIntoView';

const ENTRY = '[data-entry-id]:not([hidden]), .turn-end';

export interface KeyTargets {
  /** Returns the first visible item; undefined at the end. */
  shown(): number | undefined;
  reveal(index: number): void;
  toggle(entry: HTMLElement): void;
}

export class KeyMoves {
  readonly #box: HTMLElement;
  readonly #store: ItemStore;
  readonly #folds: Pick<GroupFolds, 'hides'>;
  readonly #targets: KeyTargets;

  constructor(box: HTMLElement, store: ItemStore, folds: Pick<GroupFolds, 'hides'>, targets: KeyTargets) {
    this.#box = box;
    this.#store = store;
    this.#folds = folds;
    this.#targets = targets;
    box.addEventListener('focusin', (event) => {
      const entry = entryOf(event.target);
      if (!entry) return;
      for (const other of box.querySelectorAll<HTMLElement>('.entry[tabindex="0"], .turn-end[tabindex="0"]')) {
        other.tabIndex = -1;
      }
      entry.tabIndex = 0;
    });
    box.addEventListener('keydown', (event) => {
      if (!event.defaultPrevented && !event.ctrlKey && !event.metaKey && this.#press(event)) event.preventDefault();
    });
  }

  /** Goes to the user message before or after the focused item, otherwise the visible one. */
  toPrompt(step: 1 | -1): void {
    this.#toMessage(focusedIndex() ?? this.#targets.shown() ?? this.#store.total, step);
  }

  #press({ altKey, key, shiftKey, target }: KeyboardEvent): boolean {
    if (target instanceof HTMLElement && target.matches('input, textarea, select')) return false;
    const entry = entryOf(target);
    const isVertical = key === 'ArrowUp' || key === 'ArrowDown';
    if (altKey) {
      if (shiftKey || !isVertical) return false;
      this.#toMessage(indexOf(entry) ?? this.#store.total, key === 'ArrowUp' ? -1 : 1);
      return true;
    }
    if (/^[1-9]$/.test(key)) {
      const card = target instanceof Element ? target.closest('[data-permission-id]') : null;
      return card !== null && pressByKey(card, key);
    }
    if (target !== entry && target !== this.#box) return false;
    if (isVertical) this.#move(entry, key === 'ArrowDown' ? 1 : -1);
    else if (key === 'Home') this.#toIndex(0, 1);
    else if (key === 'End') this.#toIndex(this.#store.total - 1, -1);
    else if ((key === 'Enter' || key === ' ') && entry) this.#targets.toggle(entry);
    else return false;
    return true;
  }

  #move(entry: HTMLElement | null, step: 1 | -1): void {
    const entries = [...this.#box.querySelectorAll<HTMLElement>(ENTRY)];
    const at = entry ? entries.indexOf(entry) : step > 0 ? -1 : entries.length;
    const next = entries[at + step];
    if (next) {
      next.focus({ preventScroll: true });
      scrollWithin(this.#box, next, 'nearest');
      return;
    }
    const index = indexOf(entry);
    if (index !== undefined) this.#toIndex(index + step, step);
  }

  #toIndex(from: number, step: 1 | -1): void {
    let index = from;
    while (this.#folds.hides(index)) index += step;
    this.#targets.reveal(index);
  }

  /**
   * Also reveals an item that is not loaded: this requests it, and the next key continues there.
   */
  #toMessage(from: number, step: 1 | -1): void {
    for (let index = from + step; index >= 0 && index < this.#store.total; index += step) {
      const item = this.#store.get(index)?.item;
      if (this.#store.isNested(index) || (item && item.kind !== 'user')) continue;
      this.#targets.reveal(index);
      return;
    }
  }
}

function entryOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(ENTRY) : null;
}

export function focusedIndex(): number | undefined {
  return indexOf(entryOf(document.activeElement));
}

function indexOf(entry: HTMLElement | null): number | undefined {
  const index = Number(entry?.closest<HTMLElement>('[data-index]')?.dataset.index);
  return Number.isInteger(index) ? index : undefined;
}
