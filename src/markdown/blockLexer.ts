// Splits Markdown into blocks: CommonMark with GFM tables, task lists, alerts and footnotes,
// formulas, and `<details>`. No other HTML, and no reference definitions, which could change blocks
// that were closed long before. One pass with bounded depth, so linear in the text.
import {
  alignOf,
  type Block,
  BlockNode,
  canHold,
  depthOf,
  type Fence,
  isDelimiterRow,
  splitRow,
  toBlocks,
} from './blocks';
import { mathBlockEnd } from './mathMarks';

const MAX_DEPTH = 12;
/** Limits tables, whose layout time is quadratic in the columns. */
const MAX_COLUMNS = 64;

const ATX = /^(#{1,6})(?:[ \t]+|$)/;
const BULLET = /^[-+*](?=[ \t]|$)/;
const SUMMARY = /<summary>(.*)<\/summary>/.source;
const FOLD = new RegExp(`^<details( open(?:="")?)?>[ \\t]*(?:${SUMMARY})?[ \\t]*$`, 'i');
const FOLD_SUMMARY = new RegExp(`^[ \\t]*${SUMMARY}[ \\t]*$`, 'i');
const FOLD_END = /^<\/details>[ \t]*$/i;
const MAX_FOLD_LINE = 1_000;
const MAX_INFO = 1_000;
const TITLE = /(?:^|\s)(?:title|path|file(?:name)?)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))/;
const PATH = /^(?:([\w+#-]+)[:\s]\s*)?([^\s:"'={}\d][^\s:"'={}]*\.([a-z]\w*))$/i;
const NOTE = /^\[\^([\w-]{1,64})\]:/;
const ORDERED = /^(\d{1,9})([.)])(?=[ \t]|$)/;

export function lexBlocks(
  source: string,
  options: { readonly continued?: boolean; readonly stopAtFence?: boolean } = {},
): Block[] {
  const root = new BlockNode('document', undefined, 0);
  const lexer = new BlockLexer(root, source);
  let at = 0;
  let stopped = false;
  while (at < source.length && !stopped) {
    const newline = source.indexOf('\n', at);
    const end = newline === -1 ? source.length : newline;
    const next = newline === -1 ? source.length : newline + 1;
    lexer.take(source.slice(at, end), at, next, at === 0 && options.continued === true);
    at = next;
    stopped = options.stopAtFence === true && newline !== -1 && lexer.isInTopFence;
  }
  return toBlocks(root.children, source, at, 0);
}

class BlockLexer {
  readonly #root: BlockNode;
  readonly #source: string;
  #tip: BlockNode;
  // The current line and position in it. A tab stands for up to four columns.
  #line = '';
  #start = 0;
  #offset = 0;
  #column = 0;
  #splitTab = false;
  #next = 0;
  #nextColumn = 0;

  constructor(root: BlockNode, source: string) {
    this.#root = root;
    this.#source = source;
    this.#tip = root;
  }

  get isInTopFence(): boolean {
    return this.#tip.fence !== undefined && this.#tip.parent === this.#root;
  }

  /** @param start offset of the line in the source @param next offset of the next line */
  take(line: string, start: number, next: number, isContinued: boolean): void {
    this.#line = line;
    this.#start = start;
    this.#offset = this.#column = 0;
    this.#splitTab = false;
    this.#readIndent();
    if (isContinued && !this.#isBlank) {
      this.#open('paragraph', this.#root);
      this.#addText(next);
      return;
    }
    let matched: BlockNode = this.#root;
    const open: BlockNode[] = [];
    for (let one = this.#tip; one.parent; one = one.parent) open.push(one);
    for (const child of open.reverse()) {
      const continues = this.#continues(child);
      if (continues === 'closed') {
        this.#touch(child, next);
        this.#tip = child.parent!;
        return;
      }
      if (!continues) break;
      matched = child;
    }
    const isLeaf = matched.type === 'code' || matched.type === 'math';
    const container = isLeaf ? matched : this.#startBlocks(matched);
    const opened = container !== matched;
    const tip = this.#tip;
    if (!opened && !this.#isBlank && tip !== matched && tip.type === 'paragraph') {
      // A paragraph can continue without the markers of its containers.
      this.#tip = tip;
      this.#addText(next);
      return;
    }
    this.#tip = container;
    if (container.type === 'code') {
      this.#addCode(next);
    } else if (container.type === 'math') {
      container.lines.push(this.#line.slice(this.#next));
      this.#touch(container, next);
    } else if (container.type === 'paragraph' || container.type === 'table') {
      if (this.#isBlank) this.#tip = container.parent!;
      else this.#addText(next);
    } else if (container.type === 'heading' || container.type === 'rule' || container.type === 'foldEnd') {
      this.#touch(container, next);
      this.#tip = container.parent!;
    } else if (container.type === 'fold') {
      this.#touch(container, next);
      if (container.label !== undefined) this.#tip = container.parent!;
    } else if (!this.#isBlank) {
      this.#open('paragraph', container);
      this.#addText(next);
    } else if (opened) {
      this.#touch(container, next);
    }
  }

  #continues(node: BlockNode): boolean | 'closed' {
    switch (node.type) {
      case 'quote':
        if (this.#indent > 3 || this.#line[this.#next] !== '>') return false;
        this.#readQuote();
        return true;
      case 'list':
        return true;
      case 'item':
        if (this.#isBlank) return node.children.length > 0;
        if (this.#indent < node.indent) return false;
        this.#read(node.indent);
        return true;
      case 'code':
        if (node.fence) {
          if (this.#indent <= 3 && closesFence(this.#line.slice(this.#next), node.fence)) return 'closed';
          this.#read(Math.min(node.fence.indent, this.#indent));
          return true;
        }
        if (this.#isBlank) this.#read(Math.min(4, this.#indent));
        else if (this.#indent >= 4) this.#read(4);
        else return false;
        return true;
      case 'note':
        if (this.#isBlank) return node.children.length > 0;
        if (this.#indent < node.indent) return false;
        this.#read(node.indent);
        return true;
      case 'fold': {
        const summary = this.#line.length <= MAX_FOLD_LINE ? FOLD_SUMMARY.exec(this.#line) : null;
        if (!summary) return false;
        node.label = summary[1]!.trim();
        return 'closed';
      }
      case 'math':
        return this.#start < node.mathEnd;
      case 'paragraph':
      case 'table':
        return !this.#isBlank;
      default:
        return false;
    }
  }

  #startBlocks(matched: BlockNode): BlockNode {
    let container = matched;
    for (let depth = depthOf(matched); ; depth++) {
      if (this.#isBlank) return container;
      if (this.#indent >= 4) {
        if (this.#tip.type === 'paragraph' || container.type === 'table') return container;
        this.#read(4);
        return this.#open('code', container);
      }
      const opened = this.#startLeaf(container) ?? (depth < MAX_DEPTH ? this.#startContainer(container) : undefined);
      if (!opened) return container;
      container = opened;
      if (opened.type !== 'quote' && opened.type !== 'item' && opened.type !== 'note') return opened;
      // Closes blocks left open in the previous one.
      this.#tip = opened;
    }
  }

  #startLeaf(container: BlockNode): BlockNode | undefined {
    const rest = this.#next === 0 ? this.#line : this.#line.slice(this.#next);
    const first = rest[0];
    if (first === '#') {
      const match = ATX.exec(rest);
      if (!match) return undefined;
      const heading = this.#open('heading', container);
      heading.depth = match[1]!.length;
      heading.lines.push(headingText(rest.slice(match[0].length)));
      return heading;
    }
    if (first === '`' || first === '~') return this.#startMath(container) ?? this.#startFence(rest, first, container);
    if (first === '<') return this.#startFold(rest, container);
    if (first === '$' || first === '\\') return this.#startMath(container);
    if (container.type === 'paragraph' && isSetext(rest)) return this.#toHeading(container, first === '=' ? 1 : 2);
    if (container.type === 'paragraph' && isDelimiterRow(rest)) {
      const table = this.#toTable(container, rest);
      if (table) return table;
    }
    if ((first === '*' || first === '-' || first === '_') && isRule(rest, first)) return this.#open('rule', container);
    return undefined;
  }

  #startFence(rest: string, char: string, container: BlockNode): BlockNode | undefined {
    let length = 0;
    while (rest[length] === char) length++;
    if (length < 3 || (char === '`' && rest.includes('`', length))) return undefined;
    const indent = this.#indent;
    const node = this.#open('code', container);
    const info = rest.slice(length, length + MAX_INFO).trim();
    const title = TITLE.exec(info);
    const [, lang, path = '', extension] = PATH.exec(info) ?? [];
    const isPath = lang !== undefined || path.includes('/');
    const name = title?.[1] ?? title?.[2] ?? title?.[3] ?? (isPath ? path : undefined);
    node.fence = { marker: char.repeat(length), indent, title: name || undefined };
    node.lang = (isPath ? (lang ?? extension) : info.split(/\s/, 1)[0]) ?? '';
    return node;
  }

  #startFold(rest: string, container: BlockNode): BlockNode | undefined {
    if (rest.length > MAX_FOLD_LINE || depthOf(container) > 0) return undefined;
    if (FOLD_END.test(rest)) return this.#open('foldEnd', container);
    const match = FOLD.exec(rest);
    if (!match) return undefined;
    const fold = this.#open('fold', container);
    fold.isOpen = match[1] !== undefined;
    fold.label = match[2]?.trim();
    return fold;
  }

  #startMath(container: BlockNode): BlockNode | undefined {
    const end = mathBlockEnd(this.#source, this.#start + this.#next, depthOf(container) > 0);
    if (end === undefined) return undefined;
    const node = this.#open('math', container);
    node.mathEnd = end;
    return node;
  }

  #startNote(container: BlockNode): BlockNode | undefined {
    if (this.#line[this.#next] !== '[' || depthOf(container) > 0) return undefined;
    const match = NOTE.exec(this.#line.slice(this.#next, this.#next + 70));
    if (!match) return undefined;
    const note = this.#open('note', container);
    note.label = match[1]!;
    note.indent = 4;
    this.#read(this.#indent);
    this.#read(match[0].length);
    this.#read(this.#indent);
    return note;
  }

  #startContainer(container: BlockNode): BlockNode | undefined {
    const note = this.#startNote(container);
    if (note) return note;
    if (this.#line[this.#next] === '>') {
      const quote = this.#open('quote', container);
      this.#readQuote();
      return quote;
    }
    const rest = this.#line.slice(this.#next, this.#next + 12);
    const bullet = BULLET.exec(rest);
    const number = bullet ? undefined : ORDERED.exec(rest);
    const mark = bullet ?? number;
    if (!mark) return undefined;
    const isEmpty = this.#line.slice(this.#next + mark[0].length).trim() === '';
    // Only the start of a list can interrupt a paragraph.
    if (container.type === 'paragraph' && (isEmpty || (number && number[1] !== '1'))) return undefined;
    const delimiter = bullet ? bullet[0] : number![2]!;
    const indent = this.#indent;
    let list = container;
    if (container.type !== 'list' || container.delimiter !== delimiter) {
      list = this.#open('list', container);
      list.delimiter = delimiter;
      list.ordered = number !== null && number !== undefined;
      list.number = number ? Number(number[1]) : 1;
    }
    const item = this.#open('item', list);
    this.#read(indent);
    this.#read(mark[0].length);
    item.indent = indent + mark[0].length + this.#readPadding(isEmpty);
    return item;
  }

  #readPadding(isEmpty: boolean): number {
    const columns = this.#indent;
    if (isEmpty || columns >= 5 || columns < 1) {
      if (columns > 0) this.#read(1);
      return 1;
    }
    this.#read(columns);
    return columns;
  }

  #toHeading(paragraph: BlockNode, depth: number): BlockNode {
    const heading = new BlockNode('heading', paragraph.parent, paragraph.start);
    heading.depth = depth;
    heading.lines = paragraph.lines;
    const siblings = paragraph.parent!.children;
    siblings[siblings.length - 1] = heading;
    return heading;
  }

  /** Converts the last line of a paragraph to a table header if this line is its delimiter row. */
  #toTable(paragraph: BlockNode, rest: string): BlockNode | undefined {
    const head = paragraph.lines.at(-1)!;
    if (head.length > 8_000) return undefined;
    const align = splitRow(rest).map(alignOf);
    if (align.length > MAX_COLUMNS || splitRow(head).length !== align.length) return undefined;
    const table = new BlockNode('table', paragraph.parent, paragraph.lastLine);
    table.align = align;
    table.lines = [head];
    const siblings = paragraph.parent!.children;
    if (paragraph.lines.length === 1) siblings.pop();
    else {
      paragraph.lines.pop();
      paragraph.end = paragraph.lastLine;
    }
    siblings.push(table);
    return table;
  }

  #open(type: BlockNode['type'], under: BlockNode): BlockNode {
    let parent = under;
    // Lists contain items; leaf blocks contain nothing.
    while (!canHold(parent.type, type)) parent = parent.parent!;
    const node = new BlockNode(type, parent, this.#start);
    parent.children.push(node);
    this.#tip = node;
    return node;
  }

  #addText(next: number): void {
    const node = this.#tip;
    if (node.type === 'paragraph' || this.#lineIsRow(node)) {
      node.lines.push(this.#line.slice(this.#next));
      node.lastLine = this.#start;
    }
    this.#touch(node, next);
  }

  #lineIsRow(table: BlockNode): boolean {
    return table.end > table.start;
  }

  #addCode(next: number): void {
    const node = this.#tip;
    const isOpening = node.fence !== undefined && node.end === node.start;
    if (!isOpening) {
      const rest = this.#line.slice(this.#offset);
      node.lines.push(this.#splitTab ? `${' '.repeat(4 - (this.#column % 4))}${rest.slice(1)}` : rest);
    }
    if (node.fence || !this.#isBlank) this.#touch(node, next);
  }

  #touch(node: BlockNode, next: number): void {
    for (let one: BlockNode | undefined = node; one && one.end < next; one = one.parent) one.end = next;
  }

  get #isBlank(): boolean {
    return this.#next >= this.#line.length;
  }

  get #indent(): number {
    return this.#nextColumn - this.#column;
  }

  #readIndent(): void {
    let at = this.#offset;
    let column = this.#column;
    for (; ; at++) {
      const char = this.#line[at];
      if (char === ' ') column++;
      else if (char === '\t') column += 4 - (column % 4);
      else break;
    }
    this.#next = at;
    this.#nextColumn = column;
  }

  #read(columns: number): void {
    let left = columns;
    while (left > 0 && this.#offset < this.#line.length) {
      if (this.#line[this.#offset] !== '\t') {
        this.#offset++;
        this.#column++;
        left--;
        continue;
      }
      const width = 4 - (this.#column % 4);
      this.#splitTab = width > left;
      this.#column += Math.min(width, left);
      if (!this.#splitTab) this.#offset++;
      left -= Math.min(width, left);
    }
    if (this.#line[this.#offset] !== '\t') this.#splitTab = false;
    this.#readIndent();
  }

  #readQuote(): void {
    this.#read(this.#indent);
    this.#read(1);
    const char = this.#line[this.#offset];
    if (char === ' ' || char === '\t') this.#read(1);
  }
}

export function closesFence(line: string, fence: Fence): boolean {
  const char = fence.marker[0];
  let at = 0;
  while (line[at] === char) at++;
  return at >= fence.marker.length && line.slice(at).trim() === '';
}

function isSetext(line: string): boolean {
  const char = line[0];
  if (char !== '=' && char !== '-') return false;
  let at = 0;
  while (line[at] === char) at++;
  return line.slice(at).trim() === '';
}

function isRule(line: string, char: string): boolean {
  let count = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === char) count++;
    else if (line[at] !== ' ' && line[at] !== '\t') return false;
  }
  return count >= 3;
}

function headingText(rest: string): string {
  const text = rest.trim();
  let end = text.length;
  while (end > 0 && text[end - 1] === '#') end--;
  if (end === 0) return '';
  return end < text.length && (text[end - 1] === ' ' || text[end - 1] === '\t') ? text.slice(0, end).trimEnd() : text;
}
