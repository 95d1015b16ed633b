// The insides of the panel that tests look at one by one, in the page as `parts`.
import { MarkdownDoc } from '../../../src/webview/markdown/markdownDoc';
import { MarkdownView } from '../../../src/webview/markdown/markdownView';

/** What is near the eye: everything, always. */
const near = { watch: () => ({ dispose() {} }) };
const context = { near, columns: () => 90, invalidate() {}, openLink() {}, copy() {} };

/** The DOM of a text that came in these pieces, drawn after each of them, as a string. All segments stay in the page. */
function draw(pieces: readonly string[]): string {
  const view = new MarkdownView(context, '');
  for (const piece of pieces) {
    view.append(piece);
    view.render(Number.POSITIVE_INFINITY);
  }
  view.settle();
  view.render(Number.POSITIVE_INFINITY);
  return serialize(view.element);
}

/** Names, attributes and texts of a tree. */
function serialize(node: Node): string {
  if (node instanceof Text) return JSON.stringify(node.data);
  if (!(node instanceof Element)) return '';
  const attributes = [...node.attributes].map(({ name, value }) => ` ${name}=${JSON.stringify(value)}`).sort();
  return `<${node.localName}${attributes.join('')}>${[...node.childNodes].map(serialize).join('')}</>`;
}

/** Milliseconds per piece for a text in pieces of `size` characters, drawn after each: the median of the last tenth. */
function costAtEnd(text: string, size: number): number {
  const view = new MarkdownView(context, '');
  document.body.append(view.element);
  const costs: number[] = [];
  for (let at = 0; at < text.length; at += size) {
    const begin = performance.now();
    view.append(text.slice(at, at + size));
    view.render(Number.POSITIVE_INFINITY);
    costs.push(performance.now() - begin);
  }
  view.element.remove();
  const tail = costs.slice(-Math.ceil(costs.length / 10));
  return tail.reduce((sum, cost) => sum + cost, 0) / tail.length;
}

const parts = { draw, costAtEnd, MarkdownDoc };
export type Parts = typeof parts;
Object.assign(globalThis, { parts });
