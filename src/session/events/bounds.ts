// Limits on what is stored of an agent's output. Beyond a limit, the most useful part is kept, with
// a note about what was left out.
import { head, roughSize, tail } from '../../base/text';
import type { ContentBlock, ToolContent } from './content';
import type { SessionEvent } from './event';

/** Characters of one message; 8 Mi is about two thousand pages. */
export const MAX_MESSAGE_CHARS = 8 * 1024 * 1024;
/** Characters of one text or one side of a diff in a tool call. */
export const MAX_TOOL_TEXT = 1024 * 1024;
export const MAX_TOOL_PARTS = 200;
export const MAX_RAW_CHARS = 256 * 1024;
export const MAX_TERMINAL_CHARS = 1024 * 1024;
/** Characters of the output of all terminals of a session together. */
export const MAX_ALL_TERMINAL_CHARS = 16 * 1024 * 1024;
/** Characters kept of each terminal once all of them exceed {@link MAX_ALL_TERMINAL_CHARS}. */
export const SHORT_TERMINAL_CHARS = 16 * 1024;
/** Characters of the contents and raw values of all tool calls of a session together. */
export const MAX_ALL_TOOL_CHARS = 128 * 1024 * 1024;
/** Characters kept of each tool call once all of them exceed {@link MAX_ALL_TOOL_CHARS}. */
const SHORT_TOOL_CHARS = 20_000;
/** Characters of an image, audio clip or embedded resource: base64 of 12 MB. */
export const MAX_MEDIA_CHARS = 16 * 1024 * 1024;
export const MAX_LIST = 2000;

export function boundBlock(block: ContentBlock): ContentBlock {
  if (block.type === 'unknown') return { ...block, raw: boundRaw(block.raw) };
  const size = mediaSize(block);
  if (size <= MAX_MEDIA_CHARS) return block;
  return { type: 'unknown', kind: `${block.type}, too large to keep`, raw: `${size} characters` };
}

export function mediaSize(block: ContentBlock): number {
  switch (block.type) {
    case 'image':
    case 'audio':
      return block.data.length;
    case 'resource':
      return (block.text?.length ?? 0) + (block.blob?.length ?? 0);
    default:
      return 0;
  }
}

export function boundContent(content: readonly ToolContent[]): readonly ToolContent[] {
  const limited = content.length > MAX_TOOL_PARTS ? firstParts(content) : content;
  return limited.some(isLarge) ? limited.map(shorten) : limited;
}

function firstParts(content: readonly ToolContent[]): readonly ToolContent[] {
  const text = `[${content.length - MAX_TOOL_PARTS + 1} more parts of this call were left out]`;
  return [...content.slice(0, MAX_TOOL_PARTS - 1), { type: 'content', block: { type: 'text', text } }];
}

function isLarge(part: ToolContent): boolean {
  if (part.type === 'unknown') return roughSize(part.raw, MAX_RAW_CHARS) > MAX_RAW_CHARS;
  if (part.type === 'content') {
    const { block } = part;
    if (block.type === 'unknown') return roughSize(block.raw, MAX_RAW_CHARS) > MAX_RAW_CHARS;
    return block.type === 'text' ? block.text.length > MAX_TOOL_TEXT : mediaSize(block) > MAX_MEDIA_CHARS;
  }
  if (part.type === 'diff')
    return part.newText.length > 4 * MAX_TOOL_TEXT || (part.oldText?.length ?? 0) > 4 * MAX_TOOL_TEXT;
  return false;
}

function shorten(part: ToolContent): ToolContent {
  if (!isLarge(part)) return part;
  if (part.type === 'content' && part.block.type === 'text') {
    const note = `[the first ${part.block.text.length - MAX_TOOL_TEXT} characters were left out]\n`;
    // The note counts towards the limit, so that bounding twice changes nothing.
    const text = note + tail(part.block.text, MAX_TOOL_TEXT - note.length);
    return { type: 'content', block: { type: 'text', text } };
  }
  if (part.type === 'content') return { type: 'content', block: boundBlock(part.block) };
  if (part.type === 'unknown') return { ...part, raw: boundRaw(part.raw) };
  if (part.type === 'diff') {
    const text = `A change of ${part.newText.length} characters to ${part.path}: too large to keep here.`;
    return { type: 'content', block: { type: 'text', text } };
  }
  return part;
}

export function boundEvent(event: SessionEvent): SessionEvent {
  switch (event.type) {
    case 'message_chunk': {
      const block = boundBlock(event.block);
      return block === event.block ? event : { ...event, block };
    }
    case 'message': {
      if (!event.content) return event;
      const content = event.content.slice(0, MAX_LIST).map(boundBlock);
      return { ...event, content };
    }
    case 'tool_call': {
      const { patch } = event;
      const content = patch.content && boundContent(patch.content);
      const rawInput = patch.rawInput === undefined ? undefined : boundRaw(patch.rawInput);
      const rawOutput = patch.rawOutput === undefined ? undefined : boundRaw(patch.rawOutput);
      const isSame = content === patch.content && rawInput === patch.rawInput && rawOutput === patch.rawOutput;
      return isSame ? event : { ...event, patch: { ...patch, content, rawInput, rawOutput } };
    }
    case 'tool_content': {
      const [part] = boundContent([event.part]);
      return part === undefined || part === event.part ? event : { ...event, part };
    }
    case 'terminal': {
      if (event.output === undefined || event.output.length <= MAX_TERMINAL_CHARS) return event;
      return { ...event, output: tail(event.output, MAX_TERMINAL_CHARS), truncated: true };
    }
    case 'unknown_update':
      return { ...event, raw: boundRaw(event.raw) };
    default:
      return event;
  }
}

export function contentSize(content: readonly ToolContent[]): number {
  return content.reduce((sum, part) => sum + partSize(part), 0);
}

export function partSize(part: ToolContent): number {
  switch (part.type) {
    case 'diff':
      return part.newText.length + (part.oldText?.length ?? 0);
    case 'content':
      if (part.block.type === 'text') return part.block.text.length;
      return part.block.type === 'unknown' ? roughSize(part.block.raw, MAX_RAW_CHARS) : mediaSize(part.block);
    case 'unknown':
      return roughSize(part.raw, MAX_RAW_CHARS);
    case 'terminal':
      return 0;
  }
}

export function shortContent(content: readonly ToolContent[]): readonly ToolContent[] {
  let room = SHORT_TOOL_CHARS;
  return content.map((part): ToolContent => {
    const size = partSize(part);
    room -= size;
    if (room >= 0) return part;
    const keep = Math.max(0, room + size);
    room = 0;
    if (part.type === 'content' && part.block.type === 'text') {
      const text = `${head(part.block.text, keep)}\n[${size - keep} characters of this old call are no longer kept]`;
      return { type: 'content', block: { type: 'text', text } };
    }
    const what = part.type === 'diff' ? `A change to ${head(part.path, 1000)}` : 'A content';
    return { type: 'content', block: { type: 'text', text: `[${what} of this old call is no longer kept]` } };
  });
}

/** Shortens only long texts in a value: a command beside them must stay whole. */
export function boundRaw(value: unknown, limit = MAX_RAW_CHARS): unknown {
  if (roughSize(value, limit) <= limit) return value;
  if (typeof value === 'string') return withoutMiddle(value, limit - 2); // with its quotes
  const shorter = withShortTexts(value, Math.floor(limit / 8), 0);
  return roughSize(shorter, limit) <= limit ? shorter : withoutMiddle(jsonText(value), limit);
}

const MAX_RAW_DEPTH = 100;

function withShortTexts(value: unknown, most: number, depth: number): unknown {
  if (typeof value === 'string') return withoutMiddle(value, most);
  if (typeof value !== 'object' || value === null || depth > MAX_RAW_DEPTH) return value;
  if (Array.isArray(value)) return value.map((one) => withShortTexts(one, most, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withShortTexts(one, most, depth + 1)]));
}

function withoutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = Math.floor(limit / 4);
  const first = limit - end - 40;
  return `${head(text, first)}… [${text.length - first - end} characters cut] …${tail(text, end)}`;
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '[nested too deeply to be shown]';
  }
}
