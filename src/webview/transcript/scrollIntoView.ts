// Finds what is visible and scrolls things into view. Everything here forces a layout.
import type { EntryView } from '../entries/entryView';
import type { Page } from './page';

/** An item to scroll to: its top `offset` px above the top edge, or centred. */
export interface Target {
  readonly index: number;
  readonly offset?: number;
  readonly isFound?: true;
  /** A file to reveal in the turn's list of changes. */
  readonly file?: string;
  /** Called instead of focusing, once the item is completely drawn. */
  readonly drawn?: (view: EntryView) => void;
}

/** Distance between the edge of the box and what is scrolled into view, px. */
const EDGE = 8;
const PROMPT_LINE = 27;

/**
 * Scrolls `box` so that a node in it is visible. `scrollIntoView` would also scroll the panel's
 * frame.
 */
export function scrollWithin(box: Element, node: Element | Range, block: 'start' | 'center' | 'nearest'): void {
  const outer = box.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  const covered = block === 'start' ? 0 : coveredOf(box);
  const above = inner.top - outer.top - covered;
  const spare = outer.height - covered - inner.height;
  if (block !== 'nearest') {
    box.scrollTop += block === 'start' ? above : above - spare / 2;
    return;
  }
  const edge = Math.max(0, Math.min(EDGE, spare / 2));
  const toTop = above - edge;
  const toBottom = above - spare + edge;
  // With different signs it is completely visible, or fills the box.
  if (toTop < 0 && toBottom < 0) box.scrollTop += Math.max(toTop, toBottom);
  else if (toTop > 0 && toBottom > 0) box.scrollTop += Math.min(toTop, toBottom);
}

function coveredOf({ className }: Element): number {
  return className === 'transcript' ? PROMPT_LINE : 0;
}

export function scrollCardIntoView(box: Element, card: Element): void {
  const isHigher = card.getBoundingClientRect().height > box.clientHeight - coveredOf(box);
  scrollWithin(box, (isHigher && card.querySelector('.answers')) || card, 'nearest');
}

/** Returns whether answers of an open question are within `height` px of the bottom edge. */
export function hasAnswersAtEnd(box: Element, height: number): boolean {
  const { bottom } = box.getBoundingClientRect();
  return [...box.querySelectorAll('.answers')].some((answers) => {
    const rect = answers.getBoundingClientRect();
    return rect.bottom > bottom - height && rect.top < bottom;
  });
}

export function firstVisibleEntry(box: Element, pages: Iterable<Page>): EntryView | undefined {
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

/** Also scrolls boxes within the entry. */
export function scrollPartIntoView(box: Element, part: Range): void {
  for (let inner = part.startContainer.parentElement; inner && inner !== box; inner = inner.parentElement)
    if (inner.scrollHeight > inner.clientHeight || inner.scrollWidth > inner.clientWidth) scrollInner(inner, part);
  const outer = box.getBoundingClientRect();
  const rect = part.getBoundingClientRect();
  if (rect.top < outer.top + coveredOf(box) + EDGE || rect.bottom > outer.bottom - EDGE)
    scrollWithin(box, part, 'center');
}

function scrollInner(inner: Element, part: Range): void {
  scrollWithin(inner, part, 'nearest');
  const outer = inner.getBoundingClientRect();
  const { left, right } = part.getBoundingClientRect();
  if (left < outer.left) inner.scrollLeft += left - outer.left - EDGE;
  else if (right > outer.right) inner.scrollLeft += right - outer.right + EDGE;
}

export function scrollToTarget(box: Element, { element }: EntryView, { offset, drawn }: Target): void {
  if (offset === undefined) {
    scrollWithin(box, element, drawn ? 'nearest' : 'center');
    return;
  }
  scrollWithin(box, element, 'start');
  box.scrollTop += offset;
}

export function focusEntry({ element }: EntryView): void {
  const card = element.querySelector<HTMLElement>('[data-permission-id]');
  const turnEnd = element.querySelector<HTMLElement>('.turn-end');
  (card ?? turnEnd ?? element).focus({ preventScroll: true });
}

export function cardOf(box: Element, id: string | undefined): HTMLElement | undefined {
  if (id === undefined) return undefined;
  const escapedId = CSS.escape(id);
  return (
    box.querySelector<HTMLElement>(`[data-permission-id="${escapedId}"], [data-elicitation-id="${escapedId}"]`) ??
    undefined
  );
}

export function focusCard(box: Element, id: string): boolean {
  const card = cardOf(box, id);
  if (!card) return false;
  scrollWithin(box, card.closest('.entry') ?? card, 'nearest');
  card.focus({ preventScroll: true });
  return true;
}
