// Tokens of marked become DOM nodes. Nothing here can make markup out of text: there is no innerHTML, and a link has no address of its own.
import type { Token, Tokens } from 'marked';
import { el, link, setAttributes } from '../dom';
import { revealControls } from '../format';
import { strings } from '../strings';
import { createCodeBlock } from './codeBlock';
import { decodeEntities } from './entities';

/** What drawing needs from outside. */
export interface MarkdownContext {
  openLink(href: string): void;
  copy(text: string): void;
}

/** Draws block tokens into `parent`. */
export function renderBlocks(tokens: readonly Token[], parent: Node, context: MarkdownContext): void {
  for (const token of tokens) {
    const node = renderBlock(token, context);
    if (node) parent.appendChild(node);
  }
}

function renderBlock(token: Token, context: MarkdownContext): Node | undefined {
  switch (token.type) {
    case 'space':
      return undefined;
    case 'heading': {
      // The panel's own headings come first: the agent's begin at level 3 for assistive technology, and look by their depth.
      const { depth, tokens } = token as Tokens.Heading;
      const heading = el(`h${Math.min(6, depth + 2)}` as 'h3', `h${depth}`);
      return renderInline(tokens, heading, context);
    }
    case 'code': {
      const { text, lang } = token as Tokens.Code;
      return createCodeBlock(lang?.trim().split(/\s/, 1)[0] ?? '', text, context).element;
    }
    case 'blockquote': {
      const quote = el('blockquote');
      renderBlocks((token as Tokens.Blockquote).tokens, quote, context);
      return quote;
    }
    case 'hr':
      return el('hr');
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const list = createList(ordered, start === '' ? 1 : start);
      for (const item of items) list.append(renderItem(item, context));
      return list;
    }
    case 'table':
      return renderTable(token as Tokens.Table, context).wrapper;
    case 'checkbox':
      return renderCheckbox(token as Tokens.Checkbox);
    default: {
      const paragraph = setAttributes(el('p'), { dir: 'auto' });
      const { tokens, text, raw } = token as Tokens.Generic;
      if (tokens) return renderInline(tokens, paragraph, context);
      paragraph.append(decodeEntities(String(text ?? raw)));
      return paragraph;
    }
  }
}

/** An empty list, beginning with the number `start`. */
export function createList(ordered: boolean, start: number): HTMLOListElement | HTMLUListElement {
  const list = el(ordered ? 'ol' : 'ul');
  if (ordered && start !== 1) list.setAttribute('start', String(start));
  return list;
}

/** One item. It is set wide where it has a blank line; that is its own affair, so that a later item changes no earlier one. */
export function renderItem(item: Tokens.ListItem, context: MarkdownContext): HTMLLIElement {
  const element = el('li', /\n[ \t]*\n/.test(item.raw) ? 'loose' : '');
  if (item.task) element.classList.add('task');
  let paragraph: HTMLParagraphElement | undefined;
  for (const token of item.tokens) {
    if (token.type === 'checkbox') {
      paragraph = el('p', '', renderCheckbox(token as Tokens.Checkbox));
      element.append(paragraph);
    } else if (paragraph && (token.type === 'text' || token.type === 'paragraph')) {
      renderInline((token as Tokens.Text).tokens ?? [token], paragraph, context);
      paragraph = undefined;
    } else {
      renderBlocks([token], element, context);
    }
  }
  return element;
}

function renderCheckbox(token: Tokens.Checkbox): HTMLInputElement {
  const box = el('input');
  box.type = 'checkbox';
  box.disabled = true;
  box.ariaLabel = token.checked ? strings.taskDone : strings.taskOpen;
  // The attribute, so that a copy of the node keeps it.
  if (token.checked) box.setAttribute('checked', '');
  return box;
}

/** A table in a box that scrolls sideways by itself. */
export function renderTable(
  token: Tokens.Table,
  context: MarkdownContext,
): { readonly wrapper: HTMLElement; readonly body: HTMLElement } {
  const row = el('tr');
  for (const cell of token.header) row.append(renderCell(cell, 'th', context));
  const body = el('tbody');
  for (const cells of token.rows) body.append(renderRow(cells, context));
  const wrapper = setAttributes(el('div', 'table', el('table', '', el('thead', '', row), body)), { tabindex: '0' });
  return { wrapper, body };
}

export function renderRow(cells: readonly Tokens.TableCell[], context: MarkdownContext): HTMLTableRowElement {
  const row = el('tr');
  for (const cell of cells) row.append(renderCell(cell, 'td', context));
  return row;
}

function renderCell(cell: Tokens.TableCell, tag: 'td' | 'th', context: MarkdownContext): HTMLElement {
  return renderInline(cell.tokens, el(tag, cell.align ? `align-${cell.align}` : ''), context);
}

function renderInline<T extends HTMLElement>(
  tokens: readonly Token[] | undefined,
  parent: T,
  context: MarkdownContext,
): T {
  for (const token of tokens ?? []) {
    const node = renderSpan(token, context);
    // Neighbouring texts join: fewer nodes, and the same ones however marked split them.
    if (typeof node !== 'string') parent.append(node);
    else if (parent.lastChild instanceof Text) parent.lastChild.appendData(node);
    else parent.append(node);
  }
  return parent;
}

function renderSpan(token: Token, context: MarkdownContext): Node | string {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return renderInline((token as Tokens.Strong).tokens, el(token.type), context);
    case 'codespan':
      return renderCodeSpan(revealControls((token as Tokens.Codespan).text), context);
    case 'br':
      return el('br');
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      const content = document.createDocumentFragment();
      content.append(...renderInline(tokens, el('span'), context).childNodes);
      return link('link', content, revealControls(href), () => context.openLink(href));
    }
    case 'image':
      return renderImage(token as Tokens.Image, context);
    case 'checkbox':
      return renderCheckbox(token as Tokens.Checkbox);
    case 'escape':
      return (token as Tokens.Escape).text;
    default: {
      const { tokens, text, raw } = token as Tokens.Generic;
      if (tokens?.length) {
        const span = renderInline(tokens, el('span'), context);
        return span.childNodes.length === 1 && span.firstChild instanceof Text ? span.firstChild.data : span;
      }
      return decodeEntities(String(text ?? raw));
    }
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
function renderImage(token: Tokens.Image, context: MarkdownContext): Node {
  const alt = token.text || token.title || 'image';
  if (!/^data:image\/[\w.+-]+[;,]/.test(token.href)) {
    return link('link', alt, revealControls(token.href), () => context.openLink(token.href));
  }
  const image = el('img');
  image.src = token.href;
  image.alt = alt;
  return image;
}
