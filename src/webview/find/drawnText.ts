// The text of a drawn entry, and the mapping from positions in it to DOM ranges.
import { firstIndex } from '../text/firstIndex';

/** Selectors of the panel's own labels and of nested entries. */
const EXCLUDED = [
  '[hidden], .sr-only, .codicon, .verb, .label, .last-line, .time, .status, .result, .more, .code-head, .group-line, .priority',
  '.icon-button, .copy, .primary, .secondary, .show-all, .terminal-note, .plan-head, .counts, .diff-note, .prompt, summary, .changes, .nest',
].join();
const INLINE: ReadonlySet<string> = new Set('A B BUTTON CODE DEL EM I KBD MARK S SPAN STRONG SUB SUP'.split(' '));

export class DrawnText {
  readonly text: string;
  readonly #nodes: { readonly node: Text; readonly at: number }[] = [];

  constructor(entry: Element, limit: number) {
    const walker = document.createTreeWalker(entry, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
      if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
      return (node as Element).matches(EXCLUDED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    const parts: string[] = [];
    let length = 0;
    let block: Element | null = null;
    for (let node = walker.nextNode(); node && length < limit; node = walker.nextNode()) {
      const { data } = node as Text;
      if (data === '') continue;
      const own = blockOf(node);
      if (block && own !== block) {
        parts.push('\n');
        length++;
      }
      block = own;
      this.#nodes.push({ node: node as Text, at: length });
      parts.push(data);
      length += data.length;
    }
    this.text = parts.join('').slice(0, limit);
  }

  /** Returns the range of a part of the text; undefined if the page has changed since. */
  range(start: number, length: number): Range | undefined {
    const from = this.#nodeAt(start);
    const to = this.#nodeAt(start + length - 1);
    if (!from?.node.isConnected || !to?.node.isConnected) return undefined;
    const end = start + length - to.at;
    if (start - from.at > from.node.length || end > to.node.length) return undefined;
    const range = document.createRange();
    range.setStart(from.node, start - from.at);
    range.setEnd(to.node, end);
    // A formula's source overlays the rendered formula, so a part of it may be misaligned.
    const first = formulaOf(from.node);
    const last = formulaOf(to.node);
    if (first) range.setStart(first, 0);
    if (last) range.setEnd(last, last.childNodes.length);
    return range;
  }

  #nodeAt(position: number) {
    const next = firstIndex(1, this.#nodes.length, (index) => this.#nodes[index]!.at > position);
    return this.#nodes[next - 1];
  }
}

function formulaOf({ parentElement }: Text): Element | null {
  return parentElement?.matches('.formula-source') ? parentElement : null;
}

function blockOf(node: Node): Element | null {
  let parent = node.parentElement;
  while (parent && INLINE.has(parent.tagName) && !parent.classList.contains('row')) parent = parent.parentElement;
  return parent;
}
