// The text of a transcript entry as the panel shows it when everything is expanded, to search in.
import { plainOutput } from '../../base/ansi';
import { localize } from '../../base/localizable';
import type { ContentBlock, ToolContent } from '../../session/events/content';
import { changedLines } from '../../session/model/changedLines';
import type { Entry, SessionState, ToolEntry } from '../../session/model/state';
import { noticeTexts } from './ownTexts';
import { labelOf, printedIn } from './projectItem';

export interface FindTextContext {
  readonly terminals: SessionState['terminals'];
  readonly roots: readonly string[];
}

export function findTextOf(entry: Entry, context: FindTextContext): string {
  switch (entry.kind) {
    case 'user':
      return joined(entry.content.map((block) => blockText(block, false)));
    case 'agent':
    case 'thought':
      return joined(entry.content.map((block) => blockText(block, true)));
    case 'tool':
      return toolText(entry, context);
    case 'plan':
      if (entry.removed) return '';
      return joined([...entry.entries.map(({ content }) => content), shownText(entry.markdown ?? '')]);
    case 'notice': {
      const { title, text } = noticeTexts(entry);
      return joined([title, text, entry.detail ?? '']);
    }
    case 'error':
      return joined([localize(entry.text), entry.hint ? localize(entry.hint) : '', entry.stderr ?? '']);
    default:
      return '';
  }
}

export function terminalsOf(entry: Entry): readonly string[] {
  if (entry.kind !== 'tool') return [];
  return entry.content.flatMap((content) => (content.type === 'terminal' ? [content.terminalId] : []));
}

function toolText(entry: ToolEntry, context: FindTextContext): string {
  const { title, name, locations, content, rawInput, rawOutput } = entry;
  const head = title || name || '';
  const places = locations.map(({ path }) => labelOf(path, context.roots)).filter((place) => !head.includes(place));
  const parts = content.map((part) => contentText(part, entry, context, head));
  // Shown as received where there is nothing else.
  if (content.length === 0) parts.push(jsonText(rawInput), jsonText(rawOutput));
  return joined([head, ...new Set(content.some(({ type }) => type === 'diff') ? [] : places), ...parts]);
}

function contentText(content: ToolContent, { rawOutput }: ToolEntry, context: FindTextContext, head: string): string {
  switch (content.type) {
    case 'content':
      return blockText(content.block, false);
    case 'diff': {
      const { path, oldText = '', newText, hunks } = content;
      const lines = hunks?.flatMap((hunk) => hunk.lines) ?? changedLines(oldText, newText);
      const label = labelOf(path, context.roots);
      return joined([head.includes(label) ? '' : label, lines.map((line) => line.slice(1)).join('\n')]);
    }
    case 'terminal': {
      const { command = '', output = '' } = context.terminals.get(content.terminalId) ?? {};
      return joined([
        head.includes(command) ? '' : command,
        plainOutput(output === '' ? printedIn(rawOutput) : output),
      ]);
    }
    case 'unknown':
      return jsonText(content.raw);
  }
}

function blockText(block: ContentBlock, isMarkdown: boolean): string {
  switch (block.type) {
    case 'text':
      return isMarkdown ? shownText(block.text) : plainOutput(block.text);
    case 'resource_link':
      return block.name;
    case 'resource':
      return joined([block.uri, block.text ?? '']);
    default:
      return '';
  }
}

function jsonText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

/** Returns Markdown nearly as it is drawn, without its marks. */
function shownText(markdown: string): string {
  let fence = '';
  return markdown
    .split('\n')
    .flatMap((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (fence === '' && mark === '') return [withoutMarks(line)];
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
      else return [line];
      return [];
    })
    .join('\n');
}

/** Tags that the panel draws as elements. */
const TAG =
  /<\/?(?:b|i|ins|kbd|mark|s|small|strong|sub|sup|u|summary|details)>|<details open(?:="")?>|<br\s{0,9}\/?>/gi;

/** No part of a pattern can begin again within what it has passed: the time grows with the text. */
function withoutMarks(line: string): string {
  if (!/[#>*~`[<]/.test(line)) return line;
  return line
    .replaceAll(TAG, '')
    .replace(/^[ >]{0,20}\[!(?:note|tip|important|warning|caution)\]\s{0,20}$/i, '')
    .replace(/^[ >]{0,20}(?:#{1,6} )?/, '')
    .replaceAll(/!?\[([^[\]]{1,1000})\]\([^()[\]\s]{0,2000}\)/g, '$1')
    .replaceAll(/\*\*|~~|`/g, '')
    .replaceAll(/(?<![\w*])\*([^\s*][^*]{0,500})\*(?!\w)/g, '$1');
}
