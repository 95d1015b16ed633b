// Keyboard navigation of entries: one of them is in the tab order, the arrow keys, Home and End
// move between them, Alt+Up and Alt+Down between the user's messages, and 1, 2, 3 answer the focused
// permission request.
import { pressByKey } from '../entries/permissionCard';
import { scrollWithin } from './scrollIntoView';

const ENTRY = '[data-entry-id], .turn-end';

export interface FocusMoves {
  /** Expands or collapses the entry. */
  toggle(entry: HTMLElement): void;
  /** Adds the first or last entry of the whole transcript to the page and focuses it. */
  toEdge(edge: 'first' | 'last'): void;
  /** Adds the neighbour of the item at this index to the page if necessary, and focuses it. */
  toIndex(index: number, step: 1 | -1): void;
  /** Goes to the user's message before or after an item; without an index, from the end. */
  toMessage(index: number | undefined, step: 1 | -1): void;
}

export function watchKeys(log: HTMLElement, moves: FocusMoves): void {
  log.addEventListener('focusin', (event) => {
    const entry = entryOf(event.target);
    if (!entry) return;
    for (const other of log.querySelectorAll<HTMLElement>('.entry[tabindex="0"], .turn-end[tabindex="0"]')) {
      other.tabIndex = -1;
    }
    entry.tabIndex = 0;
  });
  log.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (event.altKey) {
      if (event.shiftKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
      event.preventDefault();
      moves.toMessage(indexOf(entryOf(event.target)), event.key === 'ArrowUp' ? -1 : 1);
      return;
    }
    if (event.target instanceof HTMLElement && event.target.matches('input, textarea, select')) return;
    if (/^[1-9]$/.test(event.key)) {
      if (answer(event.target, event.key)) event.preventDefault();
      return;
    }
    const entry = entryOf(event.target);
    const isOnEntry = event.target === entry || event.target === log;
    if (!isOnEntry) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(log, entry, event.key === 'ArrowDown' ? 1 : -1, moves);
    } else if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault();
      moves.toEdge(event.key === 'Home' ? 'first' : 'last');
    } else if ((event.key === 'Enter' || event.key === ' ') && entry) {
      event.preventDefault();
      moves.toggle(entry);
    }
  });
}

function entryOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(ENTRY) : null;
}

function answer(target: EventTarget | null, key: string): boolean {
  const card = target instanceof Element ? target.closest('[data-permission-id]') : null;
  return card !== null && pressByKey(card, key);
}

function move(log: HTMLElement, entry: HTMLElement | null, step: 1 | -1, moves: FocusMoves): void {
  const entries = [...log.querySelectorAll<HTMLElement>(ENTRY)];
  const at = entry ? entries.indexOf(entry) : step > 0 ? -1 : entries.length;
  const next = entries[at + step];
  if (next) {
    next.focus({ preventScroll: true });
    scrollWithin(log, next, 'nearest');
    return;
  }
  const index = indexOf(entry);
  if (index !== undefined) moves.toIndex(index + step, step);
}

/** Returns the index of the entry that has the focus. */
export function focusedIndex(): number | undefined {
  return indexOf(entryOf(document.activeElement));
}

function indexOf(entry: HTMLElement | null): number | undefined {
  const index = Number(entry?.closest<HTMLElement>('[data-index]')?.dataset.index);
  return Number.isInteger(index) ? index : undefined;
}
