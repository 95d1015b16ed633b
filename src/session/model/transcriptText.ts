// Renders a transcript as text for an agent that did not take part: messages, and one line for each
// tool call.
import { head, tail } from '../../base/text';
import type { ContentBlock } from '../events/content';
import type { Entry, GapEntry } from './state';

/** Characters of the text, of which the newest are kept. */
const MAX_CHARS = 60_000;
const MAX_ENTRY_CHARS = 8_000;
const WORDS = { user: 'User', agent: 'Assistant' } as const;
const CUT = '[the beginning is left out]\n\n';

/**
 * Returns undefined if the transcript is empty.
 * @param limit in characters
 */
export function transcriptText(entries: readonly Entry[], isCut = false, limit = MAX_CHARS): string | undefined {
  const parts: string[] = [];
  let room = limit;
  for (let index = entries.length - 1; index >= 0 && room > 0; index--) {
    const part = partOf(entries[index]);
    if (part === undefined) continue;
    parts.push(tail(part, room));
    room -= part.length;
  }
  if (parts.length === 0) return undefined;
  return (isCut || room <= 0 ? CUT : '') + parts.reverse().join('\n\n');
}

function partOf(entry: Entry | undefined): string | undefined {
  if (entry?.kind === 'user' || entry?.kind === 'agent') {
    if (entry.parent !== undefined) return undefined;
    const text = entry.content.map(blockText).join('');
    return text === '' ? undefined : `${WORDS[entry.kind]}: ${shorten(text)}`;
  }
  if (entry?.kind === 'gap')
    return `[${entry.state === 'unloaded' ? 'not loaded' : 'unavailable'}: ${shorten(gapText(entry))}]`;
  if (entry?.kind === 'tool') return `[${entry.toolKind}: ${shorten(entry.title)}, ${entry.status}]`;
  return undefined;
}

function gapText({ said, text }: GapEntry): string {
  return said ? [said.code, ...said.args].join(' ') : text;
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.title ?? block.name}: ${block.uri}]`;
  if (block.type === 'resource') return block.text ?? `[${block.uri}]`;
  return `[${block.type}]`;
}

function shorten(text: string): string {
  if (text.length <= MAX_ENTRY_CHARS) return text;
  const half = MAX_ENTRY_CHARS / 2;
  return `${head(text, half)}\n[… ${text.length - MAX_ENTRY_CHARS} characters …]\n${tail(text, half)}`;
}
