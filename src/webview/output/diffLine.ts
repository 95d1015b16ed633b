// Lines of a diff.
import { el } from '../dom/dom';

/** Longer lines are from minified files. */
export const LONGEST_LINE = 400;

/**
 * Wraps a range of a line's text in spans, between and inside the existing ones: marks of several
 * callers can overlap. `end` is exclusive.
 */
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
