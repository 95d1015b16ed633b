// Converts Markdown to DOM nodes: never through innerHTML, and without `href` in links.

import { revealControls } from '../../base/revealControls';
import type { Alert, Block, ListItem } from '../../markdown/blocks';
import { createBudget, lexInline, type Span, type SpanBudget } from '../../markdown/inlineLexer';
import { button, el, icon, link, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { pathLinks } from '../dom/pathLinks';
import { openLink } from '../host/host';
import { strings } from '../text/strings';
import { createCodeBlock } from './codeBlock';
import type { Piece } from './markdownDoc';
import { loadMath } from './scripts';

export interface MarkdownContext {
  /** Call it when the user changes a height. */
  unpin(): void;
  toggleFold(id: number): void;
  /** @param isBack to the first reference */
  showNote(label: string, isBack: boolean): void;
  hasNote(label: string): boolean;
}

const ALERT_ICONS: Readonly<Record<Alert, IconName>> = {
  note: 'info',
  tip: 'lightbulb',
  important: 'report',
  warning: 'warning',
  caution: 'error',
};

/** Renders nothing for blank lines. */
export function renderBlock(block: Block, context: MarkdownContext, budget: SpanBudget): HTMLElement | undefined {
  switch (block.type) {
    case 'space':
    case 'fold':
    case 'foldEnd':
      return undefined;
    case 'heading': {
      // For assistive technology, levels 1 and 2 belong to the panel. The style depends on the
      // depth.
      const heading = el(`h${Math.min(6, block.depth + 2)}` as 'h3', `h${block.depth}`);
      return renderText(block.text, heading, context, budget);
    }
    case 'code':
      return createCodeBlock(block.lang, block.text, context, {
        title: block.fence?.title ? block.fence.title : undefined,
      }).element;
    case 'quote': {
      const { alert } = block;
      const quote = el('blockquote', alert ? `alert ${alert}` : '');
      if (alert) quote.append(el('p', 'alert-title', icon(ALERT_ICONS[alert]), strings.alerts[alert]));
      renderBlocks(block.blocks, quote, context, budget);
      return quote;
    }
    case 'note': {
      const { label } = block;
      const back = link('note-label', label, strings.backToText, () => context.showNote(label, true));
      const text = el('div', 'note-text');
      renderBlocks(block.blocks, text, context, budget);
      const note = el('div', 'footnote', back, text);
      note.dataset.note = label;
      return note;
    }
    case 'math':
      return renderFormula(block.source, el('div'), block.isOpen);
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

export function renderFold(summary: string, id: number, isOpen: boolean, context: MarkdownContext): HTMLElement {
  const words = renderText(summary || strings.details, el('span', 'fold-words'), context, createBudget());
  // A button cannot contain links.
  for (const anchor of words.querySelectorAll('a')) anchor.replaceWith(...anchor.childNodes);
  const line = button('fold-line', '', () => context.toggleFold(id));
  line.append(words);
  line.dataset.fold = String(id);
  showFold(line, isOpen);
  return el('div', 'fold', line);
}

export function showFold(line: HTMLElement, isOpen: boolean): void {
  if (line.getAttribute('aria-expanded') === String(isOpen)) return;
  line.setAttribute('aria-expanded', String(isOpen));
  line.querySelector('.codicon')?.remove();
  line.prepend(icon(isOpen ? 'chevron-down' : 'chevron-right'));
}

const LETTER = /\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * The first letter decides. `dir="auto"` scans the text on each change, which is quadratic without
 * letters.
 */
function directionOf(text: string): 'rtl' | undefined {
  const letter = LETTER.exec(text)?.[0];
  return letter !== undefined && RIGHT_TO_LEFT.test(letter) ? 'rtl' : undefined;
}

/** Breaking longer words takes quadratic time with kerning. */
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

export function createList(ordered: boolean, start: number): HTMLOListElement | HTMLUListElement {
  const list = el(ordered ? 'ol' : 'ul');
  if (ordered && start !== 1) list.setAttribute('start', String(start));
  return list;
}

/** The spacing depends only on the item itself, so that later items do not change it. */
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
  box.ariaLabel = strings.planStatus[checked ? 'completed' : 'pending'];
  // As an attribute, which copies of the node keep.
  if (checked) box.setAttribute('checked', '');
  return box;
}

export function renderTable(
  { head, align }: Pick<Piece & { kind: 'row' }, 'head' | 'align'>,
  context: MarkdownContext,
  budget: SpanBudget,
): { readonly wrapper: HTMLElement; readonly body: HTMLElement } {
  const body = el('tbody');
  const table = el('table', '', el('thead', '', renderRow(head, align, context, budget, 'th')), body);
  const wrapper = setAttributes(el('div', 'table', table), { tabindex: '0' });
  return { wrapper, body };
}

export function renderRow(
  cells: readonly string[],
  align: readonly string[],
  context: MarkdownContext,
  budget: SpanBudget,
  tag: 'td' | 'th' = 'td',
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

function renderSpans<T extends ParentNode & Node>(
  spans: readonly Span[],
  parent: T,
  context: MarkdownContext,
  inLink = false,
): T {
  for (const span of spans) {
    if (typeof span !== 'string') parent.appendChild(renderSpan(span, context, inLink));
    else if (inLink) parent.append(span);
    else parent.append(...pathLinks(openLink, true)(span));
  }
  return parent;
}

function renderSpan(span: Exclude<Span, string>, context: MarkdownContext, inLink: boolean): Node {
  switch (span.type) {
    case 'strong':
    case 'em':
    case 'del':
      return renderSpans(span.spans, el(span.type), context, inLink);
    case 'tag':
      return renderSpans(span.spans, el(span.tag), context, inLink);
    case 'note':
      return renderNoteReference(span.label, context);
    case 'code':
      return renderCodeSpan(revealControls(span.text), inLink);
    case 'math':
      return renderFormula(span.source, el('span'));
    case 'break':
      return el('br');
    case 'link': {
      const { href, spans } = span;
      const content = renderSpans(spans, document.createDocumentFragment(), context, true);
      return link('link', content, revealControls(href), () => openLink(href));
    }
    case 'image':
      return renderImage(span);
  }
}

/** Text until the footnote arrives. */
function renderNoteReference(label: string, context: MarkdownContext): Node {
  if (!context.hasNote(label)) {
    const text = el('span', 'note-reference', `[^${label}]`);
    text.dataset.note = label;
    return text;
  }
  const content = el('sup', '', el('span', 'mark', '[^'), label, el('span', 'mark', ']'));
  const reference = link('note-reference', content, strings.footnote(label), () => context.showNote(label, false));
  reference.dataset.note = label;
  return reference;
}

export function linkNoteReference(text: HTMLElement, context: MarkdownContext): void {
  text.replaceWith(renderNoteReference(text.dataset.note!, context));
}

/** A path with a directory or line number: `src/app.ts`, `src/app.ts:12`, `README.md:3`. */
const FILE =
  /^(?:\.{0,2}\/)?(?:[\w@.+()[\]-]+\/)+[\w@.+()[\]-]*\.\w{1,8}(?::\d+(?:[:-]\d+)?)?$|^[\w@.+-]+\.\w{1,8}:\d+(?:[:-]\d+)?$/;

function renderCodeSpan(text: string, inLink: boolean): Node {
  const code = el('code', '', text);
  if (inLink || text.length > 200 || !FILE.test(text)) return code;
  return link('link file', code, text, () => openLink(text));
}

/** Only embedded images are shown. Others would have to be fetched, and become links. */
function renderImage({ href, alt }: Extract<Span, { type: 'image' }>): Node {
  if (!/^data:image\/[\w.+-]+[;,]/.test(href)) {
    return link('link', alt || 'image', revealControls(href), () => openLink(href));
  }
  const image = el('img');
  image.src = href;
  image.alt = alt || 'image';
  return image;
}

/**
 * Shows the source of a formula until a script draws it, which is loaded for the first one.
 * @param isOpen the end of the formula is missing: it is not drawn
 */
function renderFormula<T extends HTMLElement>(source: string, element: T, isOpen = false): T {
  element.append(el('code', '', revealControls(source)));
  element.className = 'formula';
  if (isOpen) return element;
  setAttributes(element, { 'data-formula': source, tabindex: element.tagName === 'DIV' ? '0' : undefined });
  void loadMath().then((math) => math?.drawFormula(element, strings.formulas));
  return element;
}
