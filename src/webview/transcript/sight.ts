// What the reader sees first, and bringing something to their eye. All of it asks the layout.
import type { EntryView } from '../entries/entryView';
import type { Page } from './page';

/** Where an item is to be: `offset` px above the upper edge, or in the middle. */
export interface Target {
  readonly index: number;
  readonly offset?: number;
}

/** The first entry in sight, or undefined where it is not drawn yet. */
export function firstInSight(box: Element, pages: Iterable<Page>): EntryView | undefined {
  const { top } = box.getBoundingClientRect();
  for (const page of pages) {
    if (page.element.getBoundingClientRect().bottom <= top) continue;
    if (!page.isMounted) return undefined;
    for (let index = page.first; index < page.end; index++) {
      const view = page.view(index);
      if (view && view.element.getBoundingClientRect().bottom > top) return view;
    }
  }
  return undefined;
}

/** Scrolls `box` so that the entry is where the target says. */
export function bringToSight(box: Element, { element }: EntryView, { offset }: Target): void {
  if (offset === undefined) {
    element.scrollIntoView({ block: 'center' });
    return;
  }
  element.scrollIntoView({ block: 'start' });
  box.scrollTop += offset;
}

/** Gives the focus to what is to be answered in an entry, or to the entry. */
export function focusEntry({ element }: EntryView): void {
  const card = element.querySelector<HTMLElement>('[data-permission-id]');
  const turnEnd = element.querySelector<HTMLElement>('.turn-end');
  (card ?? turnEnd ?? element).focus({ preventScroll: true });
}

/** Brings the card of a question to the eye and gives it the focus. @returns whether it is in the page */
export function focusCard(box: Element, id: string): boolean {
  const one = CSS.escape(id);
  const card = box.querySelector<HTMLElement>(`[data-permission-id="${one}"], [data-elicitation-id="${one}"]`);
  (card?.closest('.entry') ?? card)?.scrollIntoView({ block: 'nearest' });
  card?.focus({ preventScroll: true });
  return card !== null;
}
