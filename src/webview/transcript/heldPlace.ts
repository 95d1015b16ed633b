// What the reader looks at, and how far it moved since. The browser's own anchoring does not do it alone: it gives up where a box that it chose, or a box around
// it, gets another height, and it chooses boxes that are not drawn yet, which then grow under the eye.

/** What is looked into; all else is taken as a whole, also because it may scroll by itself. */
const OPEN = '.stretch, .page, .entry, .blocks, .markdown, .segment, .box, .tool-content';
/** Boxes that are empty as long as they are not drawn. */
const BOXES = '.stretch, .page, .segment';

interface Mark {
  readonly node: Element;
  /** px below the upper edge of what scrolls */
  readonly top: number;
}

/** From the inside out: should a node leave the page, the next one stands for it. */
export type HeldPlace = readonly Mark[];

/**
 * Finds the first thing in sight that is drawn, or, where nothing is, the first box.
 * @param box what scrolls
 * @param parts what is in it and may be in sight, from top to bottom
 */
export function holdPlace(box: Element, parts: Iterable<Element>): HeldPlace {
  const { top, bottom } = box.getBoundingClientRect();
  return find(parts, top, bottom) ?? [];
}

/** How far what was looked at is from where it was, px; positive when it moved down. */
export function movedBy(box: Element, held: HeldPlace): number {
  const mark = held.find(({ node }) => node.isConnected);
  if (!mark) return 0;
  return mark.node.getBoundingClientRect().top - box.getBoundingClientRect().top - mark.top;
}

function find(nodes: Iterable<Element>, top: number, bottom: number): HeldPlace | undefined {
  let second: HeldPlace | undefined;
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

function isDrawn(place: HeldPlace): boolean {
  const { node } = place[0]!;
  return !(node.childElementCount === 0 && node.matches(BOXES));
}
