// Converts Markdown to HTML for standalone pages, with only web and mail links and embedded images.

import { revealControls } from '../base/revealControls';
import { lexBlocks } from './blockLexer';
import type { Block } from './blocks';
import { createBudget, lexInline, type Span } from './inlineLexer';

export interface MarkdownPage {
  readonly details: string;
  readonly alerts: Readonly<Record<NonNullable<Extract<Block, { type: 'quote' }>['alert']>, string>>;
}

const WEB = /^(?:https?:\/\/|mailto:)/i;
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/;
const MAX_SPANS = 10_000;

export function markdownHtml(text: string, page: MarkdownPage): string {
  return htmlOf(lexBlocks(text), page);
}

function htmlOf(blocks: readonly Block[], page: MarkdownPage): string {
  let html = '';
  let open = 0;
  for (const block of blocks) {
    if (block.type === 'fold') open++;
    if (block.type === 'foldEnd' && open-- === 0) open = 0;
    else html += htmlOfBlock(block, page);
  }
  return html + '</details>'.repeat(open);
}

function htmlOfBlock(block: Block, page: MarkdownPage): string {
  switch (block.type) {
    case 'space':
      return '';
    case 'rule':
      return '<hr>';
    case 'paragraph':
      return `<p dir="auto">${inline(block.text, page)}</p>`;
    case 'heading': {
      // The page title and the speakers use the first two levels.
      const level = Math.min(6, block.depth + 2);
      return `<h${level}>${inline(block.text, page)}</h${level}>`;
    }
    case 'math':
      return `<pre><code>${escapeHtml(block.source)}</code></pre>`;
    case 'code':
      return `<pre><code>${escapeHtml(block.text)}</code></pre>`;
    case 'quote': {
      const title = block.alert ? `<p><strong>${escapeHtml(page.alerts[block.alert])}</strong></p>` : '';
      return `<blockquote>${title}${htmlOf(block.blocks, page)}</blockquote>`;
    }
    case 'note':
      return `<div class="note"><sup>${escapeHtml(block.label)}</sup>${htmlOf(block.blocks, page)}</div>`;
    case 'fold':
      return `<details${block.isOpen ? ' open' : ''}><summary>${inline(block.summary || page.details, page)}</summary>`;
    case 'foldEnd':
      return '</details>';
    case 'list': {
      const tag = block.ordered ? 'ol' : 'ul';
      const start = block.ordered && block.start !== 1 ? ` start="${block.start}"` : '';
      const items = block.items.map(({ blocks, checked }) => {
        const box = checked === undefined ? '' : checked ? '☑ ' : '☐ ';
        return `<li>${box}${htmlOf(blocks, page)}</li>`;
      });
      return `<${tag}${start}>${items.join('')}</${tag}>`;
    }
    case 'table': {
      const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
        `<tr>${cells.map((cell) => `<${tag}>${inline(cell, page)}</${tag}>`).join('')}</tr>`;
      const rows = block.rows.map((cells) => row(cells, 'td'));
      return `<div class="table"><table><thead>${row(block.head, 'th')}</thead><tbody>${rows.join('')}</tbody></table></div>`;
    }
  }
}

function inline(text: string, page: MarkdownPage): string {
  return htmlOfSpans(lexInline(text, { ...createBudget(), spans: MAX_SPANS }), page);
}

function htmlOfSpans(spans: readonly Span[], page: MarkdownPage): string {
  return spans.map((span) => (typeof span === 'string' ? escapeHtml(span) : htmlOfSpan(span, page))).join('');
}

function htmlOfSpan(span: Exclude<Span, string>, page: MarkdownPage): string {
  switch (span.type) {
    case 'strong':
    case 'em':
    case 'del':
      return `<${span.type}>${htmlOfSpans(span.spans, page)}</${span.type}>`;
    case 'tag':
      return `<${span.tag}>${htmlOfSpans(span.spans, page)}</${span.tag}>`;
    case 'code':
      return `<code>${escapeHtml(span.text)}</code>`;
    case 'math':
      return `<code>${escapeHtml(span.source)}</code>`;
    case 'break':
      return '<br>';
    case 'note':
      return `<sup>${escapeHtml(span.label)}</sup>`;
    case 'link':
      return linkTo(span.href, htmlOfSpans(span.spans, page));
    case 'image':
      return EMBEDDED.test(span.href)
        ? `<img src="${span.href}" alt="${escapeHtml(span.alt)}">`
        : linkTo(span.href, escapeHtml(span.alt || span.href));
  }
}

function linkTo(href: string, html: string): string {
  const address = escapeHtml(href);
  return WEB.test(href)
    ? `<a href="${address}" title="${address}" rel="noopener noreferrer">${html}</a>`
    : `<span title="${address}">${html}</span>`;
}

export function escapeHtml(text: string): string {
  return revealControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
