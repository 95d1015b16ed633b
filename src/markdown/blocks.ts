// Blocks of Markdown, and the growing nodes from which they are built.

export interface Fence {
  readonly marker: string;
  readonly indent: number;
  readonly title?: string;
}

export interface ListItem {
  readonly raw: string;
  readonly blocks: readonly Block[];
  readonly loose: boolean;
  readonly checked?: boolean;
}

export type Block =
  | { readonly type: 'space'; readonly raw: string }
  | { readonly type: 'rule'; readonly raw: string }
  | { readonly type: 'paragraph'; readonly raw: string; readonly text: string }
  | { readonly type: 'heading'; readonly raw: string; readonly text: string; readonly depth: number }
  | {
      readonly type: 'code';
      readonly raw: string;
      readonly text: string;
      readonly lang: string;
      readonly fence?: Fence;
    }
  /** A formula on its own lines, including delimiters. Open: not closed yet. */
  | { readonly type: 'math'; readonly raw: string; readonly source: string; readonly isOpen: boolean }
  | { readonly type: 'quote'; readonly raw: string; readonly blocks: readonly Block[]; readonly alert?: Alert }
  /** A footnote definition. */
  | { readonly type: 'note'; readonly raw: string; readonly label: string; readonly blocks: readonly Block[] }
  /** The start of `<details>`, with its summary. */
  | { readonly type: 'fold'; readonly raw: string; readonly summary: string; readonly isOpen: boolean }
  | { readonly type: 'foldEnd'; readonly raw: string }
  | {
      readonly type: 'list';
      readonly raw: string;
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly ListItem[];
    }
  | {
      readonly type: 'table';
      readonly raw: string;
      readonly head: readonly string[];
      readonly align: readonly Align[];
      readonly rows: readonly (readonly string[])[];
    };

export const ALERTS = ['note', 'tip', 'important', 'warning', 'caution'] as const;
export type Alert = (typeof ALERTS)[number];

const ALERT = new RegExp(`^\\[!(${ALERTS.join('|')})\\][ \\t]*$`, 'i');
const TASK = /^\[([ xX])\](?=[ \t])/;

export class BlockNode {
  readonly type: Exclude<Block['type'], 'space'> | 'item' | 'document';
  readonly parent: BlockNode | undefined;
  readonly start: number;
  end: number;
  readonly children: BlockNode[] = [];
  lines: string[] = [];
  lastLine: number;
  depth = 0;
  lang = '';
  fence: Fence | undefined;
  label: string | undefined;
  isOpen = false;
  delimiter = '';
  ordered = false;
  number = 1;
  indent = 0;
  align: readonly Align[] = [];
  mathEnd = 0;

  constructor(type: BlockNode['type'], parent: BlockNode | undefined, start: number) {
    this.type = type;
    this.parent = parent;
    this.start = start;
    this.end = start;
    this.lastLine = start;
  }
}

export function depthOf(node: BlockNode): number {
  let depth = 0;
  for (let one: BlockNode | undefined = node; one; one = one.parent)
    if (one.type === 'quote' || one.type === 'item' || one.type === 'note') depth++;
  return depth;
}

export function canHold(parent: BlockNode['type'], child: BlockNode['type']): boolean {
  if (parent === 'list') return child === 'item';
  return (parent === 'document' || parent === 'quote' || parent === 'item' || parent === 'note') && child !== 'item';
}

export function toBlocks(nodes: readonly BlockNode[], source: string, to: number, from: number): Block[] {
  const blocks: Block[] = [];
  let at = from;
  for (const node of nodes) {
    if (node.start > at) blocks.push({ type: 'space', raw: source.slice(at, node.start) });
    blocks.push(toBlock(node, source));
    at = Math.max(node.end, node.start);
  }
  if (to > at) blocks.push({ type: 'space', raw: source.slice(at, to) });
  return blocks;
}

function toBlock(node: BlockNode, source: string): Block {
  const raw = source.slice(node.start, node.end);
  switch (node.type) {
    case 'heading':
      return { type: 'heading', raw, depth: node.depth, text: node.lines.join('\n').trim() };
    case 'rule':
      return { type: 'rule', raw };
    case 'code': {
      const lines = node.fence
        ? node.lines
        : node.lines.slice(0, node.lines.findLastIndex((line) => line.trim() !== '') + 1);
      return {
        type: 'code',
        raw,
        lang: node.lang,
        text: lines.join('\n'),
        fence: node.fence,
      };
    }
    case 'math': {
      const text = node.lines.join('\n').trimEnd();
      const isOpen = node.mathEnd === Number.POSITIVE_INFINITY && node.end === source.length;
      // The enclosing item or quote ended first.
      if (!isOpen && node.end < node.mathEnd) return { type: 'paragraph', raw, text };
      return { type: 'math', raw, source: text, isOpen };
    }
    case 'quote': {
      const alert = takeAlert(node);
      return { type: 'quote', raw, blocks: blocksIn(node, source), alert };
    }
    case 'note':
      return { type: 'note', raw, label: node.label!, blocks: blocksIn(node, source) };
    case 'fold':
      return { type: 'fold', raw, summary: node.label ?? '', isOpen: node.isOpen };
    case 'foldEnd':
      return { type: 'foldEnd', raw };
    case 'list':
      return {
        type: 'list',
        raw,
        ordered: node.ordered,
        start: node.number,
        items: node.children.map((item, index) => toItem(item, node.children[index + 1]?.start ?? node.end, source)),
      };
    case 'table': {
      const [head, ...rows] = node.lines;
      const cells = rows.map((row) => splitRow(row).slice(0, node.align.length));
      return { type: 'table', raw, head: splitRow(head!), align: node.align, rows: cells };
    }
    default:
      return { type: 'paragraph', raw, text: node.lines.join('\n').trimEnd() };
  }
}

function takeAlert({ children }: BlockNode): Alert | undefined {
  const [first] = children;
  const mark = first?.type === 'paragraph' ? ALERT.exec(first.lines[0]!) : null;
  if (!mark) return undefined;
  if (first!.lines.length === 1) children.shift();
  else first!.lines.shift();
  return mark[1]!.toLowerCase() as Alert;
}

function toItem(item: BlockNode, end: number, source: string): ListItem {
  const [first] = item.children;
  const task = first?.type === 'paragraph' ? TASK.exec(first.lines[0]!) : null;
  if (task) first!.lines[0] = first!.lines[0]!.slice(task[0].length).trimStart();
  const { children } = item;
  const hasBlank = children.some((child, index) => index > 0 && children[index - 1]!.end < child.start);
  return {
    raw: source.slice(item.start, end),
    blocks: blocksIn(item, source),
    loose: hasBlank || item.end < end,
    checked: task ? task[1] !== ' ' : undefined,
  };
}

function blocksIn(node: BlockNode, source: string): Block[] {
  return node.children.map((child) => toBlock(child, source));
}

export type Align = 'left' | 'right' | 'center' | '';

export function splitRow(line: string): string[] {
  const text = line.trim();
  const cells: string[] = [];
  let from = text.startsWith('|') ? 1 : 0;
  let hasEscape = false;
  const end = (to: number): void => {
    const cell = text.slice(from, to).trim();
    cells.push(hasEscape ? cell.replaceAll('\\|', '|') : cell);
    from = to + 1;
    hasEscape = false;
  };
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\' && text[at + 1] === '|') {
      hasEscape = true;
      at++;
    } else if (text[at] === '|') end(at);
  }
  if (from < text.length) end(text.length);
  return cells;
}

export function isDelimiterRow(line: string): boolean {
  let pipes = 0;
  let dashes = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    if (char === '|') pipes++;
    else if (char === '-') dashes++;
    else if (char !== ':' && char !== ' ' && char !== '\t') return false;
  }
  return pipes > 0 && dashes > 0 && splitRow(line).every((cell) => /^:?-+:?$/.test(cell));
}

export function alignOf(cell: string): Align {
  if (cell.startsWith(':')) return cell.endsWith(':') ? 'center' : 'left';
  return cell.endsWith(':') ? 'right' : '';
}
