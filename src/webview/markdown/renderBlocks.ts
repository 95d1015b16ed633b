// Blocks and spans of Markdown become DOM nodes. Nothing here can make markup out of text: there is no innerHTML, and a link has no address of its own.

import { revealControls } from '../../base/revealControls';
import { el, link, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { Block, ListItem } from './blockLexer';
import { createCodeBlock } from './codeBlock';
import { lexInline, type Span, type SpanBudget } from './inlineLexer';
import type { Piece } from './markdownDoc';

/** What drawing needs from outside. */
export interface MarkdownContext {
  openLink(href: string): void;
  copy(text: string): void;
}

/** Draws a block; nothing for the blank between two. */
export function renderBlock(block: Block, context: MarkdownContext, budget: SpanBudget): HTMLElement | undefined {
  switch (block.type) {
    case 'space':
      return undefined;
    case 'heading': {
      // The panel's own headings come first: the agent's begin at level 3 for assistive technology, and look by their depth.
      const heading = el(`h${Math.min(6, block.depth + 2)}` as 'h3', `h${block.depth}`);
      return renderText(block.text, heading, context, budget);
    }
    case 'code':
      return createCodeBlock(block.lang, block.text, context).element;
    case 'quote': {
      const quote = el('blockquote');
      renderBlocks(block.blocks, quote, context, budget);
      return quote;
    }
    case 'rule':
      return el('hr');
    case 'list': {
      const list = createList(block.ordered, block.start);
      for (const item of block.items) list.append(renderItem(item, context, budget));
      return list;
    }
    case 'table': {
      const { wrapper, body } = renderTable(block, context, budget);
      for (const cells of block.rows) body.append(renderRow(cells, block.align, context, budget));
      return wrapper;
    }
    case 'paragraph':
      return renderText(
        block.text,
        setAttributes(el('p', hasLongWord(block.text) ? 'dense' : ''), { dir: directionOf(block.text) }),
        context,
        budget,
      );
  }
}

function renderBlocks(blocks: readonly Block[], parent: Node, context: MarkdownContext, budget: SpanBudget): void {
  for (const block of blocks) {
    const node = renderBlock(block, context, budget);
    if (node) parent.appendChild(node);
  }
}

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * The direction of a text, by its first letter. Not `auto`: the browser then looks through the text at each node that comes or goes, the square of a long
 * text without letters.
 */
function directionOf(text: string): 'rtl' | undefined {
  const letter = LETTER.exec(text)?.[0];
  return letter !== undefined && RIGHT_TO_LEFT.test(letter) ? 'rtl' : undefined;
}

/** Longer words take the browser the square of their length to break into lines, if it has to look at the distances of their letters. */
const LONG_WORD = 600;

function hasLongWord(text: string): boolean {
  if (text.length < LONG_WORD) return false;
  let start = 0;
  for (const { index } of text.matchAll(/\s/g)) {
    if (index - start >= LONG_WORD) return true;
    start = index + 1;
  }
  return text.length - start >= LONG_WORD;
}

/** An empty list, beginning with the number `start`. */
export function createList(ordered: boolean, start: number): HTMLOListElement | HTMLUListElement {
  const list = el(ordered ? 'ol' : 'ul');
  if (ordered && start !== 1) list.setAttribute('start', String(start));
  return list;
}

/** One item. It is set wide where it has a blank line; that is its own affair, so that a later item changes no earlier one. */
export function renderItem(item: ListItem, context: MarkdownContext, budget: SpanBudget): HTMLLIElement {
  const element = el('li', item.loose ? 'loose' : '');
  renderBlocks(item.blocks, element, context, budget);
  if (item.checked === undefined) return element;
  element.classList.add('task');
  element.firstElementChild?.prepend(renderCheckbox(item.checked));
  return element;
}

function renderCheckbox(checked: boolean): HTMLInputElement {
  const box = el('input');
  box.type = 'checkbox';
  box.disabled = true;
  box.ariaLabel = checked ? strings.taskDone : strings.taskOpen;
  // The attribute, so that a copy of the node keeps it.
  if (checked) box.setAttribute('checked', '');
  return box;
}

/** A table with its head, in a box that scrolls sideways by itself. */
export function renderTable(
  { head, align }: Pick<Piece & { kind: 'row' }, 'head' | 'align'>,
  context: MarkdownContext,
  budget: SpanBudget,
): { readonly wrapper: HTMLElement; readonly body: HTMLElement } {
  const body = el('tbody');
  const table = el('table', '', el('thead', '', renderCells(head, align, 'th', context, budget)), body);
  const wrapper = setAttributes(el('div', 'table', table), { tabindex: '0' });
  return { wrapper, body };
}

export function renderRow(
  cells: readonly string[],
  align: readonly string[],
  context: MarkdownContext,
  budget: SpanBudget,
): HTMLTableRowElement {
  return renderCells(cells, align, 'td', context, budget);
}

function renderCells(
  cells: readonly string[],
  align: readonly string[],
  tag: 'td' | 'th',
  context: MarkdownContext,
  budget: SpanBudget,
): HTMLTableRowElement {
  const row = el('tr');
  cells.forEach((text, column) => {
    row.append(renderText(text, el(tag, align[column] ? `align-${align[column]}` : ''), context, budget));
  });
  return row;
}

function renderText<T extends HTMLElement>(text: string, parent: T, context: MarkdownContext, budget: SpanBudget): T {
  return renderSpans(lexInline(text, budget), parent, context);
}

function renderSpans<T extends Node>(spans: readonly Span[], parent: T, context: MarkdownContext): T {
  for (const span of spans) {
    parent.appendChild(typeof span === 'string' ? document.createTextNode(span) : renderSpan(span, context));
  }
  return parent;
}

function renderSpan(span: Exclude<Span, string>, context: MarkdownContext): Node {
  switch (span.type) {
    case 'strong':
    case 'em':
    case 'del':
      return renderSpans(span.spans, el(span.type), context);
    case 'code':
      return renderCodeSpan(revealControls(span.text), context);
    case 'break':
      return el('br');
    case 'link': {
      const { href, spans } = span;
      const content = renderSpans(spans, document.createDocumentFragment(), context);
      return link('link', content, revealControls(href), () => context.openLink(href));
    }
    case 'image':
      return renderImage(span, context);
  }
}

/** A path with a folder or a line number in it, as agents write them: `src/app.ts`, `src/app.ts:12`, `README.md:3`. */
const FILE =
  /^(?:\.{0,2}\/)?(?:[\w@.+-]+\/)+[\w@.+-]*\.\w{1,8}(?::\d+(?:[:-]\d+)?)?$|^[\w@.+-]+\.\w{1,8}:\d+(?:[:-]\d+)?$/;

function renderCodeSpan(text: string, context: MarkdownContext): Node {
  const code = el('code', '', text);
  if (text.length > 200 || !FILE.test(text)) return code;
  return link('link file', code, text, () => context.openLink(text));
}

/** Only images that are in the text itself are shown; others would have to be fetched, so they are links. */
function renderImage({ href, alt }: Extract<Span, { type: 'image' }>, context: MarkdownContext): Node {
  if (!/^data:image\/[\w.+-]+[;,]/.test(href)) {
    return link('link', alt || 'image', revealControls(href), () => context.openLink(href));
  }
  const image = el('img');
  image.src = href;
  image.alt = alt || 'image';
  return image;
}
