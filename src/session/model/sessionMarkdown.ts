// Renders a session as one Markdown text, to read, search and copy.
import { plainOutput } from '../../base/ansi';
import type { ContentBlock, ToolContent } from '../events/content';
import { changedLines } from './changedLines';
import type { Entry, PlanRecord, SessionState, Turn } from './state';
import { inNestedOrder, type PlacedEntry } from './state';

/** Characters of the text, of which the newest are kept. VS Code opens no larger texts. */
const MAX_CHARS = 20_000_000;

const STEP = 20;

export interface MarkdownLabels {
  readonly title: string;
  readonly user: string;
  readonly agent: string;
  readonly thought: string;
  readonly plan: string;
  readonly missing: string;
  readonly end: (turn: Readonly<Turn>) => string | undefined;
}

/**
 * Returns the transcript: messages as received (Markdown), thoughts, plans, tool calls with their
 * text, changes and terminal output, and how turns ended. Yields after each small step.
 * @param only renders these entries, without headings
 */
export function* markdownOfSession(
  { entries, nests, terminals, turns }: Pick<SessionState, 'entries' | 'nests' | 'terminals' | 'turns'>,
  labels: MarkdownLabels,
  only?: { readonly from: number; readonly to: number },
): Generator<void, string> {
  const turnsById = new Map(turns.map((turn) => [turn.id, turn]));
  const parts: string[] = [];
  let room = MAX_CHARS;
  const wanted = only && new Set(entries.slice(only.from, only.to));
  const placed = inNestedOrder(entries, nests).filter(({ entry }) => wanted?.has(entry) ?? true);
  for (let index = placed.length - 1; index >= 0 && room > 0; index--) {
    const { entry, depth } = placed[index]!;
    const part =
      depth > 0
        ? indented(bodyOf(entry, labels, terminals), depth)
        : entry.kind === 'turn_end'
          ? endOf(turnsById.get(entry.turnId), labels)
          : partOf(entry, only !== undefined || isContinued(placed, index), labels, terminals);
    if (!part) continue;
    parts.push(part.slice(-room));
    room -= part.length;
    if (parts.length % STEP === 0) yield;
  }
  if (room <= 0) parts.push(labels.missing);
  if (!only) parts.push(`# ${labels.title.replaceAll(/\s+/g, ' ')}`);
  return `${parts.reverse().join('\n\n')}\n`;
}

function isContinued(placed: readonly PlacedEntry[], index: number): boolean {
  const kind = placed[index]?.entry.kind;
  for (let before = index - 1; before >= 0; before--) {
    const other = placed[before]?.entry.kind;
    if (other === 'user') return kind === 'user';
    if (other === 'agent' || other === 'thought' || other === 'tool' || other === 'plan') return kind !== 'user';
  }
  return false;
}

function endOf(turn: Readonly<Turn> | undefined, { end }: MarkdownLabels): string {
  const line = (turn && end(turn))?.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*[\]<>]/g, '\\$&');
  return line ? `*${line}*` : '';
}

function partOf(
  entry: Entry,
  continued: boolean,
  labels: MarkdownLabels,
  terminals: SessionState['terminals'],
): string {
  const text = bodyOf(entry, labels, terminals);
  if (text === '') return '';
  return continued ? text : `## ${entry.kind === 'user' ? labels.user : labels.agent}\n\n${text}`;
}

function bodyOf(entry: Entry, labels: MarkdownLabels, terminals: SessionState['terminals']): string {
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought': {
      const text = joined([...entry.content.map(blockText), entry.dropped > 0 ? labels.missing : '']);
      return entry.kind === 'thought' && text !== '' ? quoted(`*${labels.thought}*\n\n${text}`) : text;
    }
    case 'tool': {
      const where = entry.locations.map(({ path, line }) => code(line === undefined ? path : `${path}:${line}`));
      const head = `- ${[code(entry.title || entry.toolKind), ...new Set(where)].join(' · ')} (${entry.status})`;
      return joined([head, ...entry.content.map((content) => contentText(content, terminals))]);
    }
    case 'plan': {
      const text = planMarkdown(entry);
      return text === '' ? '' : `**${labels.plan}**\n\n${text}`;
    }
    case 'gap':
      return labels.missing;
    default:
      return '';
  }
}

function contentText(content: ToolContent, terminals: SessionState['terminals']): string {
  switch (content.type) {
    case 'content':
      return content.block.type === 'text' ? fenced(plainOutput(content.block.text)) : blockText(content.block);
    case 'diff': {
      const { path, oldText = '', newText, hunks } = content;
      const lines = hunks?.flatMap((hunk) => hunk.lines) ?? changedLines(oldText, newText);
      return fenced([`+++ ${path}`, ...lines].join('\n'), 'diff');
    }
    case 'terminal': {
      const terminal = terminals.get(content.terminalId);
      if (!terminal) return '';
      return fenced(
        [...(terminal.command === undefined ? [] : [`$ ${terminal.command}`]), plainOutput(terminal.output)].join('\n'),
      );
    }
    default:
      return '';
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `${code(block.name)} (${code(block.uri)})`;
    case 'resource':
      return joined([code(block.uri), block.text === undefined ? '' : fenced(block.text)]);
    case 'image':
    case 'audio':
      return code(block.mimeType);
    default:
      return '';
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

function indented(text: string, depth: number): string {
  return text.replaceAll(/^(?=.)/gm, '  '.repeat(depth));
}

function quoted(text: string): string {
  return text.replaceAll(/^/gm, '> ');
}

/** Uses a fence longer than any in the text, so that the text cannot end the block. */
function fenced(text: string, language = ''): string {
  if (text.trim() === '') return '';
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const ticks = '`'.repeat(longestRun(line) + 1);
  const space = /^`|`$/.test(line) ? ' ' : '';
  return `${ticks}${space}${line}${space}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

export function planMarkdown({ removed, markdown, entries }: PlanRecord): string {
  if (removed) return '';
  const steps = entries.map(
    ({ content, status }) => `- [${status === 'completed' ? 'x' : ' '}] ${content.replaceAll(/\s+/g, ' ')}`,
  );
  return markdown ?? steps.join('\n');
}
