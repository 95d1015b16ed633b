// What the reader sees first, and bringing something to their eye. All of it asks the layout.
import type { EntryView } from '../entries/entryView';
import type { Page } from './page';

/** Where an item is to be: `offset` px above the upper edge, or in the middle. */
export interface Target {
  readonly index: number;
  readonly offset?: number;
  /** It was looked for: it is marked. */
  readonly isFound?: true;
}

/** Between the edge of the box and what is brought to it, px: its border is to be seen. */
const EDGE = 8;

/**
 * Scrolls `box` so that a node in it is in sight. `scrollIntoView` would move all that stands around the box too: the
 * frame in which VS Code shows the panel gives way by some pixels.
 * @param block where the node is to be; `nearest`: as close as possible to where it is
 */
export function scrollWithin(box: Element, node: Element, block: 'start' | 'center' | 'nearest'): void {
  const outer = box.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  const above = inner.top - outer.top;
  const spare = outer.height - inner.height;
  if (block !== 'nearest') {
    box.scrollTop += block === 'start' ? above : above - spare / 2;
    return;
  }
  const edge = Math.max(0, Math.min(EDGE, spare / 2));
  const toTop = above - edge;
  const toBottom = above - spare + edge;
  // Where the two differ in their direction, it is whole in sight or fills the box.
  if (toTop < 0 && toBottom < 0) box.scrollTop += Math.max(toTop, toBottom);
  else if (toTop > 0 && toBottom > 0) box.scrollTop += Math.min(toTop, toBottom);
}

/** Brings a card to the eye, or at least its answers where it is higher than the box. */
export function bringCardToSight(box: Element, card: Element): void {
  const isHigher = card.getBoundingClientRect().height > box.clientHeight;
  scrollWithin(box, (isHigher && card.querySelector('.answers')) || card, 'nearest');
}

/** Whether answers of an open question lie within so many px above the lower edge of the box. */
export function hasAnswersAtEnd(box: Element, height: number): boolean {
  const { bottom } = box.getBoundingClientRect();
  return [...box.querySelectorAll('.answers')].some((answers) => {
    const rect = answers.getBoundingClientRect();
    return rect.bottom > bottom - height && rect.top < bottom;
  });
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
    scrollWithin(box, element, 'center');
    return;
  }
  scrollWithin(box, element, 'start');
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
  if (!card) return false;
  scrollWithin(box, card.closest('.entry') ?? card, 'nearest');
  card.focus({ preventScroll: true });
  return true;
}
