// Internals of the panel for tests of single parts; the page has them as `parts`.
import { MarkdownView } from '../../../src/webview/markdown/markdownView';

let waiting: ((near: boolean, height: number) => void)[] = [];
const viewport = {
  watch(_element: Element, listener: (near: boolean, height: number) => void) {
    waiting.push(listener);
    return { dispose() {} };
  },
  reobserve() {},
};
const context = {
  viewport,
  columns: () => 90,
  invalidate() {},
  unpin() {},
  keepInView() {},
};

/** Returns the DOM of a text as a string, rendered after each piece. */
function draw(pieces: readonly string[]): string {
  const view = new MarkdownView(context, '');
  for (const piece of pieces) {
    view.append(piece);
    view.render(Number.POSITIVE_INFINITY);
  }
  view.settle();
  view.render(Number.POSITIVE_INFINITY);
  for (const listener of waiting) listener(true, 0);
  waiting = [];
  return serialize(view.element);
}

/** Returns where rendering a text whole and in pieces of `size` differs, or ''. */
function difference(text: string, size: number): string {
  const pieces = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  const streamed = draw(pieces);
  const whole = draw([text]);
  if (streamed === whole) return '';
  let at = 0;
  while (streamed[at] === whole[at]) at++;
  const part = (all: string): string => all.slice(Math.max(0, at - 60), at + 60);
  return `${JSON.stringify(text.slice(0, 300))} in pieces of ${size}: …${part(streamed)}… instead of …${part(whole)}…`;
}

/** Serializes names, attributes and texts of a tree. */
function serialize(node: Node): string {
  if (node instanceof Text) return JSON.stringify(node.data);
  if (!(node instanceof Element)) return '';
  // Removing a height leaves an empty style attribute.
  const named = [...node.attributes].filter(({ name, value }) => name !== 'style' || value !== '');
  const attributes = named.map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`).sort();
  return `<${node.localName}${attributes.join('')}>${[...node.childNodes].map(serialize).join('')}</>`;
}

/**
 * Returns the mean milliseconds per piece of `size` characters in the last tenth of a text,
 * rendered after each piece.
 */
function costAtEnd(text: string, size: number): number {
  const view = new MarkdownView(context, '');
  waiting = [];
  document.body.append(view.element);
  const costs: number[] = [];
  for (let at = 0; at < text.length; at += size) {
    const begin = performance.now();
    view.append(text.slice(at, at + size));
    view.render(Number.POSITIVE_INFINITY);
    costs.push(performance.now() - begin);
  }
  view.element.remove();
  const tail = costs.slice(-Math.ceil(costs.length / 10)).sort((a, b) => a - b);
  // Excludes the slowest, in which the machine was busy.
  const calm = tail.slice(0, Math.ceil(tail.length * 0.9));
  return calm.reduce((sum, cost) => sum + cost, 0) / calm.length;
}

/**
 * Returns the number of node insertions while a text arrives in pieces of `size` characters, per
 * node of the result.
 */
function placedPerNode(text: string, size: number): number {
  const view = new MarkdownView(context, '');
  waiting = [];
  document.body.append(view.element);
  let placed = 0;
  for (let at = 0; at < text.length; at += size) {
    const before = new Set(nodesIn(view.element));
    view.append(text.slice(at, at + size));
    view.render(Number.POSITIVE_INFINITY);
    for (const node of nodesIn(view.element)) if (!before.has(node)) placed++;
  }
  const left = [...nodesIn(view.element)].length;
  view.element.remove();
  return placed / left;
}

function* nodesIn(root: Node): Iterable<Node> {
  const walker = document.createTreeWalker(root);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) yield node;
}

const parts = { difference, costAtEnd, placedPerNode };
export type Parts = typeof parts;
Object.assign(globalThis, { parts });
