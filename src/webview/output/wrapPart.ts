// Wraps a part of a line in spans, between and inside of those that are already there: what several
// of its callers mark in a line can overlap.
import { el } from '../dom/dom';

/** Wraps the text of `line` from the position `start` to before `end`. */
export function wrapPart(line: Element, start: number, end: number, className: string): void {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  let at = 0;
  for (const node of nodes) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, node.length);
    at += node.length;
    if (from >= to) continue;
    if (to < node.length) node.splitText(to);
    const part = from > 0 ? node.splitText(from) : node;
    const span = el('span', className);
    part.replaceWith(span);
    span.append(part);
  }
}
