// The part of the selection on pages far from the viewport, which is not in the page.
import { type FromWebview, MAX_TEXT } from '../../panel/contract';
import { notifySelectionListeners } from '../dom/selection';
import { PAGE_SIZE } from './page';
import type { PageList } from './pageList';

export type UndrawnPart = NonNullable<Extract<FromWebview, { type: 'copySession' }>['part']>;

/** Returns undefined if the whole selection is drawn. */
export function undrawnPart(content: HTMLElement, pages: PageList, total: number): UndrawnPart | undefined {
  notifySelectionListeners(); // draws the selected parts of messages
  const selection = document.getSelection();
  const range = selection?.isCollapsed === false ? selection.getRangeAt(0).cloneRange() : undefined;
  if (!selection || !range?.intersectsNode(content)) return undefined;
  const first = entryAt(range.startContainer, range.startOffset);
  const last = entryAt(range.endContainer, range.endOffset - 1);
  // The selection begins below all entries.
  if (!first && content.contains(range.startContainer) && range.startContainer !== content) return undefined;
  const from = first ? indexOf(first) : 0;
  const to = last ? indexOf(last) : total;
  if (isDrawn(pages, from, to)) return undefined;
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  const textIn = (entry: Element | undefined): string => {
    if (!entry) return '';
    const part = document.createRange();
    part.selectNodeContents(entry);
    if (entry === first) part.setStart(range.startContainer, range.startOffset);
    if (entry === last) part.setEnd(range.endContainer, range.endOffset);
    selection.setBaseAndExtent(part.startContainer, part.startOffset, part.endContainer, part.endOffset);
    return selection.toString().trim().slice(0, MAX_TEXT);
  };
  const before = textIn(first);
  const after = textIn(last);
  selection.setBaseAndExtent(anchorNode!, anchorOffset, focusNode!, focusOffset);
  return { from: first ? from + 1 : 0, to, before, after };
}

function isDrawn(pages: PageList, from: number, to: number): boolean {
  for (let place = Math.floor(from / PAGE_SIZE); place < pages.length && place * PAGE_SIZE <= to; place++) {
    const page = pages.at(place);
    if (!page || !(page.isMounted || page.isEmpty)) return false;
  }
  return true;
}

function entryAt(node: Node, offset: number): Element | undefined {
  const at = node.childNodes[offset] ?? node;
  const element = at instanceof Element ? at : at.parentElement;
  return element?.closest('.page > [data-index]') ?? undefined;
}

function indexOf(entry: Element): number {
  return Number((entry as HTMLElement).dataset.index);
}
