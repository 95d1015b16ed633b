// Hands the transcript to a new session where the agent cannot reopen the old one: as text, with
// the next message. It is labelled as a transcript, so that the agent does not take it for its own
// memory.

import type { PromptCapabilities } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { Entry, GapEntry } from '../../session/model/state';

/** Characters of a transcript that go along; the newest part is kept. */
const MAX_CHARS = 60_000;
/** Characters of one entry. */
const MAX_ENTRY_CHARS = 8_000;

const INTRODUCTION =
  'Transcript of the conversation so far. It was held in an earlier session, which could not be continued; go on from it.';
/** Before a transcript that goes as text. */
const OPEN = '<transcript>\n';

const WORDS = { user: 'User', agent: 'Assistant' } as const;

export class ContextHandoff {
  /**
   * What comes behind it is known to the agent. Not a number: a gap before it may be filled with
   * more than one entry.
   */
  #last: Entry | undefined;
  #isWanted = false;

  /**
   * @param entries what stands here before the agent starts: what comes with its new session is
   * known to it
   */
  starting(entries: readonly Entry[]): void {
    this.#last = entries.at(-1);
  }

  /** The agent's session can be used. @returns whether it is to be told of what stands here */
  ready(isNew: boolean, entries: readonly Entry[]): boolean {
    this.#isWanted = isNew && this.#textOf(entries) !== undefined;
    return this.#isWanted;
  }

  /** What goes with the next message, once. */
  take(capabilities: PromptCapabilities, entries: readonly Entry[]): readonly ContentBlock[] {
    const transcript = this.#isWanted ? this.#textOf(entries) : undefined;
    this.#isWanted = false;
    return transcript === undefined ? [] : [handoffBlock(transcript, capabilities)];
  }

  #textOf(entries: readonly Entry[]): string | undefined {
    return transcriptText(entries.slice(0, this.#last === undefined ? 0 : this.#last.index + 1));
  }
}

/**
 * What the user said of a message that an agent repeats: without the transcript that went with it
 * as text.
 */
export function withoutHandoff(text: string): string {
  const at = text.indexOf(`${OPEN}${INTRODUCTION}`);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

/** The transcript of what was said and done, or undefined where nothing was. */
function transcriptText(entries: readonly Entry[]): string | undefined {
  const parts: string[] = [];
  let room = MAX_CHARS;
  for (let index = entries.length - 1; index >= 0 && room > 0; index--) {
    const part = partOf(entries[index]);
    if (part === undefined) continue;
    parts.push(part.slice(-room));
    room -= part.length;
  }
  if (parts.length === 0) return undefined;
  const head = room <= 0 ? '[the beginning is left out]\n\n' : '';
  return head + parts.reverse().join('\n\n');
}

/**
 * The block that goes with the next message, behind it: an agent looks for its commands at the
 * beginning.
 * @param capabilities decide whether it goes as a document of its own
 */
function handoffBlock(transcript: string, capabilities: PromptCapabilities): ContentBlock {
  const text = `${INTRODUCTION}\n\n${transcript}`;
  return capabilities.embeddedContext
    ? { type: 'resource', uri: 'parley:transcript', mimeType: 'text/markdown', text }
    : { type: 'text', text: `\n\n${OPEN}${text}\n</transcript>` };
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

/** Codes are the same in every language, as the words around them for the agent. */
function gapText({ said, text }: GapEntry): string {
  return said ? [said.code, ...said.args].join(' ') : text;
}

/** What stands for a block: text, where something lies, or at least what kind of thing it is. */
function blockText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.title ?? block.name}: ${block.uri}]`;
  if (block.type === 'resource') return block.text ?? `[${block.uri}]`;
  return `[${block.type}]`;
}

function shorten(text: string): string {
  if (text.length <= MAX_ENTRY_CHARS) return text;
  const half = MAX_ENTRY_CHARS / 2;
  return `${text.slice(0, half)}\n[… ${text.length - MAX_ENTRY_CHARS} characters …]\n${text.slice(-half)}`;
}
