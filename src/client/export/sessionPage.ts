// A session as a self-contained HTML page that runs and loads nothing. Texts of agents are escaped
// or rendered by our own Markdown.
import { createHash } from 'node:crypto';
import * as l10n from '@vscode/l10n';
import { plainOutput } from '../../base/ansi';
import { formatTime } from '../../base/localFormat';
import { escapeHtml, type MarkdownPage, markdownHtml } from '../../markdown/markdownHtml';
import { changedLines } from '../../session/model/changedLines';
import { type TurnLineFacts, turnLine } from '../view/turnWords';
import type { ItemBlock, ItemPart, SessionHead, SessionItem, ToolItem } from './sessionItems';

const CSS = `:root{color-scheme:light dark;--line:#8884;--soft:#8881;--dim:#888}
body{max-width:50rem;margin:2rem auto;padding:0 1rem;font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.4rem;margin-bottom:0}h2{font-size:1rem;margin:2rem 0 .5rem}h3,h4,h5,h6{font-size:1rem;margin:1rem 0 .5rem}
pre,code{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.6rem;border:1px solid var(--line);border-radius:6px;background:var(--soft);white-space:pre-wrap}
code{background:var(--soft);border-radius:3px;padding:0 .2em}pre code{background:none;padding:0}
.user{padding:.4rem .8rem;border:1px solid var(--line);border-radius:8px;background:var(--soft)}
.dim,.note{color:var(--dim);font-size:.9em}details{margin:.4rem 0}summary{cursor:pointer}
table{border-collapse:collapse}.table{overflow:auto}td,th{border:1px solid var(--line);padding:.2rem .5rem;text-align:start}
blockquote{margin:.5rem 0;padding-left:.8rem;border-left:3px solid var(--line)}img,audio{max-width:100%}
.nested{margin-left:1rem;padding-left:.6rem;border-left:2px solid var(--line)}.error{border-left:3px solid #c33;padding-left:.8rem}@media print{details{display:block}}`;

const MAX_TEXT = 200_000;

export class SessionPage {
  readonly #agent: string;
  readonly #language: string;
  readonly #names: MarkdownPage = {
    details: l10n.t('Details'),
    alerts: {
      note: l10n.t('Note'),
      tip: l10n.t('Tip'),
      important: l10n.t('Important'),
      warning: l10n.t('Warning'),
      caution: l10n.t('Caution'),
    },
  };
  #speaker: 'user' | 'agent' | undefined;
  #turn: Pick<TurnLineFacts, 'number' | 'origin' | 'elsewhere'> | undefined;
  #depth = 0;

  constructor(agent: string, language = '') {
    this.#agent = agent;
    this.#language = language;
  }

  begin({ title = l10n.t('Session'), exported }: SessionHead): string {
    const hash = createHash('sha256').update(CSS).digest('base64');
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'`;
    const when = exported === undefined ? '' : formatTime(Date.parse(exported));
    return `<!DOCTYPE html>
<html lang="${escapeHtml(this.#language)}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title><style>${CSS}</style></head>
<body><h1 dir="auto">${escapeHtml(title)}</h1><p class="dim">${escapeHtml([this.#agent, when].filter(Boolean).join(' · '))}</p>
`;
  }

  entry(item: SessionItem): string {
    const depth = ('depth' in item && item.depth) || 0;
    const begin = `<details class="nested"><summary>${escapeHtml(l10n.t('Subagent'))}</summary>\n`;
    const between = depth > this.#depth ? begin.repeat(depth - this.#depth) : nestEnd(this.#depth - depth);
    this.#depth = depth;
    return between + this.#entry(item);
  }

  close(): string {
    const end = nestEnd(this.#depth);
    this.#depth = 0;
    return end;
  }

  #entry(item: SessionItem): string {
    switch (item.type) {
      case 'turn':
        this.#turn = {
          number: (this.#turn?.number ?? 0) + 1,
          origin: item.by,
          elsewhere: item.elsewhere || undefined,
        };
        return '';
      case 'turn_end':
        return this.#turn ? `<p class="dim">${escapeHtml(endLine(this.#turn, item))}</p>\n` : '';
      case 'user':
        return `${this.#message('user')}<div class="user">${this.#blocks(item.content)}</div>\n`;
      case 'agent':
        return `${this.#message('agent')}<div>${this.#blocks(item.content)}</div>\n`;
      case 'thought':
        return `${this.#message('agent')}${folded(escapeHtml(l10n.t('Thought')), this.#blocks(item.content))}\n`;
      case 'tool':
        return `${this.#message('agent')}${this.#tool(item)}\n`;
      case 'plan': {
        if (item.removed) return '';
        const steps = item.steps.map(
          ({ content, status }) => `<li>${status === 'completed' ? '☑' : '☐'} ${escapeHtml(content)}</li>`,
        );
        const list = steps.length > 0 ? `<ul>${steps.join('')}</ul>` : '';
        const text =
          item.markdown === undefined ? escapeHtml(item.uri ?? '') : markdownHtml(item.markdown, this.#names);
        return `${this.#message('agent')}<section><strong>${escapeHtml(l10n.t('Plan'))}</strong>${list}${text}</section>\n`;
      }
      case 'notice':
        return `<p class="dim"><strong>${escapeHtml(item.title)}</strong> ${escapeHtml(item.text)}</p>\n`;
      case 'error': {
        const { text, hint, stderr } = item;
        const printed = stderr
          ? folded(escapeHtml(l10n.t('What the agent printed')), `<pre>${escapeHtml(stderr)}</pre>`)
          : '';
        return `<div class="error"><p>${escapeHtml(hint ? `${text} ${hint}` : text)}</p>${printed}</div>\n`;
      }
      case 'missing':
        return `<p class="dim">${escapeHtml(item.text)}</p>\n`;
    }
  }

  end(): string {
    return `${this.close()}</body></html>\n`;
  }

  #message(speaker: 'user' | 'agent'): string {
    if (this.#speaker === speaker) return '';
    this.#speaker = speaker;
    return `<h2>${escapeHtml(speaker === 'user' ? l10n.t('You') : this.#agent)}</h2>`;
  }

  #blocks(blocks: readonly ItemBlock[]): string {
    // Joined, since a code block may span several parts of a message.
    let html = '';
    let text = '';
    for (const block of blocks) {
      if (block.type === 'text') {
        text += block.text;
        continue;
      }
      html += markdownHtml(text, this.#names) + blockHtml(block);
      text = '';
    }
    return html + markdownHtml(text, this.#names);
  }

  #tool({ title, kind, status, locations, content, input, output, decision }: ToolItem): string {
    const where = locations.map(
      ({ path, line }) => `<code>${escapeHtml(line === undefined ? path : `${path}:${line}`)}</code>`,
    );
    const head = [`<strong>${escapeHtml(title || kind)}</strong>`, ...new Set(where), escapeHtml(status)];
    const parts = content.map((part) => this.#part(part));
    const raw = (name: string, value: unknown): string =>
      value === undefined
        ? ''
        : folded(escapeHtml(name), `<pre>${escapeHtml(cut(JSON.stringify(value, undefined, 2)))}</pre>`);
    const outcome = decision
      ? `<p class="dim">${escapeHtml([decision.name ?? decision.outcome, decision.rule].filter(Boolean).join(' · '))}</p>`
      : '';
    return folded(
      head.join(' · '),
      [...parts, outcome, raw(l10n.t('Input'), input), parts.length > 0 ? '' : raw(l10n.t('Output'), output)].join(''),
    );
  }

  #part(part: ItemPart): string {
    switch (part.type) {
      case 'content':
        return part.block.type === 'text' ? markdownHtml(cut(part.block.text), this.#names) : blockHtml(part.block);
      case 'diff': {
        const lines = part.hunks?.flatMap((hunk) => hunk.lines) ?? changedLines(part.oldText ?? '', part.newText);
        return `<p><code>${escapeHtml(part.path)}</code></p><pre>${escapeHtml(cut(lines.join('\n')))}</pre>`;
      }
      case 'terminal': {
        const command = part.command === undefined ? '' : `$ ${part.command}\n`;
        const code = part.exitCode === undefined ? '' : `\n[${part.exitCode}]`;
        return `<pre>${escapeHtml(cut(`${command}${plainOutput(part.output)}${code}`))}</pre>`;
      }
      case 'unknown':
        return `<pre>${escapeHtml(cut(JSON.stringify(part.raw) ?? ''))}</pre>`;
    }
  }
}

function endLine(
  turn: Pick<TurnLineFacts, 'number' | 'origin' | 'elsewhere'>,
  { reason, barrier, interrupted, note }: Extract<SessionItem, { type: 'turn_end' }>,
): string {
  return turnLine({ ...turn, stopReason: reason, barrier, isInterrupted: interrupted === true, note });
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
const SOUND = /^audio\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

function blockHtml(block: Exclude<ItemBlock, { type: 'text' }> | ItemBlock): string {
  switch (block.type) {
    case 'text':
      return escapeHtml(block.text);
    case 'image':
      return PICTURE.test(block.mimeType) && BASE64.test(block.data)
        ? `<p><img src="data:${block.mimeType};base64,${block.data}" alt=""></p>`
        : named(block.uri ?? block.mimeType);
    case 'audio':
      return SOUND.test(block.mimeType) && BASE64.test(block.data)
        ? `<p><audio controls src="data:${block.mimeType};base64,${block.data}"></audio></p>`
        : named(block.mimeType);
    case 'resource_link':
      return named(block.title ?? block.name, block.uri);
    case 'resource':
      return folded(escapeHtml(block.uri), block.text === undefined ? '' : `<pre>${escapeHtml(cut(block.text))}</pre>`);
    case 'unknown':
      return named(block.kind);
  }
}

function nestEnd(levels: number): string {
  return '</details>\n'.repeat(levels);
}

function named(name: string, uri = ''): string {
  return `<p><code title="${escapeHtml(uri)}">${escapeHtml(name)}</code></p>`;
}

function folded(summary: string, html: string): string {
  return `<details><summary>${summary}</summary>${html}</details>`;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT / 2)}\n…\n${text.slice(-MAX_TEXT / 2)}`;
}
