// Records what is visible and how far it has moved since. The browser's scroll anchoring is not
// enough: it gives up when its anchor or a box around it changes height, and it chooses boxes that
// are not drawn yet and then grow.

/** Elements to look into. Others count as a whole, as they may scroll themselves. */
const OPEN = '.page-group, .page, .entry, .blocks, .markdown, .segment, .box, .tool-content';
const BOXES = '.page-group, .page, .segment';

interface Mark {
  readonly node: Element;
  readonly top: number;
}

/** Innermost first: if a node leaves the page, the next one replaces it. */
export type ScrollAnchor = readonly Mark[];

/**
 * Finds the first visible element that is drawn, or else the first box.
 * @param parts the children of `box` that may be visible, top to bottom
 */
export function takeScrollAnchor(box: Element, parts: Iterable<Element>): ScrollAnchor {
  const { top, bottom } = box.getBoundingClientRect();
  return find(parts, top, bottom) ?? [];
}

/** Returns how far the recorded element has moved, px; positive if down. */
export function movedBy(box: Element, held: ScrollAnchor): number {
  const mark = held.find(({ node }) => node.isConnected);
  if (!mark) return 0;
  return mark.node.getBoundingClientRect().top - box.getBoundingClientRect().top - mark.top;
}

function find(nodes: Iterable<Element>, top: number, bottom: number): ScrollAnchor | undefined {
  let second: ScrollAnchor | undefined;
  for (const node of nodes) {
    const rect = node.getBoundingClientRect();
    if (rect.height === 0 || rect.bottom <= top) continue;
    if (rect.top >= bottom) break;
    const here = [{ node, top: rect.top - top }];
    const isBlank = node.childElementCount === 0 && node.matches(BOXES);
    if (!isBlank && (rect.top >= top || !node.matches(OPEN))) return here;
    const inner = isBlank ? undefined : find(node.children, top, bottom);
    if (inner && isDrawn(inner)) return [...inner, ...here];
    second ??= [...(inner ?? []), ...here];
  }
  return second;
}

function isDrawn(place: ScrollAnchor): boolean {
  const { node } = place[0]!;
  return !(node.childElementCount === 0 && node.matches(BOXES));
}
