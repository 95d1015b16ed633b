// How much of what an agent says is kept. Beyond it the model keeps the part that a reader needs most and says what it left out.
import type { ContentBlock, ToolContent } from './content';

/** Characters of one message; 8 Mi is about two thousand pages. */
export const MAX_MESSAGE_CHARS = 8 * 1024 * 1024;
/** Characters of one text or diff side in a tool call. */
export const MAX_TOOL_TEXT = 1024 * 1024;
/** Contents and locations of one tool call. */
export const MAX_TOOL_PARTS = 200;
/** Rough size of raw input or output that is kept as it is. */
export const MAX_RAW_CHARS = 256 * 1024;
/** Characters of terminal output. */
export const MAX_TERMINAL_CHARS = 1024 * 1024;
/** Characters of an image, a sound or an embedded resource: base64 of 12 MB. */
export const MAX_MEDIA_CHARS = 16 * 1024 * 1024;
/** Options, commands, plan entries and the like in one list. */
export const MAX_LIST = 2000;

/** The last `limit` characters of a text, not cutting a surrogate pair. */
export function tail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let start = text.length - limit;
  const code = text.charCodeAt(start);
  if (code >= 0xdc00 && code <= 0xdfff) start++;
  return text.slice(start);
}

/** The first `limit` characters of a text, not cutting a surrogate pair. */
export function head(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit);
}

/** Media and resources that are too large to keep are named instead. The text of a message is bounded where it is put together. */
export function boundBlock(block: ContentBlock): ContentBlock {
  if (block.type === 'unknown') return { ...block, raw: boundRaw(block.raw) };
  const size = mediaSize(block);
  if (size <= MAX_MEDIA_CHARS) return block;
  return { type: 'unknown', kind: `${block.type}, too large to keep`, raw: `${size} characters` };
}

/** Characters of a block beside its text. */
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

/** Bounds the content list of a tool call. */
export function boundContent(content: readonly ToolContent[]): readonly ToolContent[] {
  const kept = content.length > MAX_TOOL_PARTS ? content.slice(0, MAX_TOOL_PARTS) : content;
  return kept.some(isLarge) ? kept.map(shorten) : kept;
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
    return { type: 'content', block: { type: 'text', text: note + tail(part.block.text, MAX_TOOL_TEXT) } };
  }
  if (part.type === 'content') return { type: 'content', block: boundBlock(part.block) };
  if (part.type === 'unknown') return { ...part, raw: boundRaw(part.raw) };
  if (part.type === 'diff') {
    const text = `A change of ${part.newText.length} characters to ${part.path}: too large to keep here.`;
    return { type: 'content', block: { type: 'text', text } };
  }
  return part;
}

/** Raw values stay as they are while they are small; a large one is kept as the beginning of its JSON text. */
export function boundRaw(value: unknown): unknown {
  if (roughSize(value, MAX_RAW_CHARS) <= MAX_RAW_CHARS) return value;
  return `${head(jsonText(value), MAX_RAW_CHARS)}… [cut]`;
}

/** JSON text of any value; a few thousand levels of nesting, which an agent can send in a short line, are too many for JSON.stringify. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return '[nested too deeply to be shown]';
  }
}

/** About the length of the JSON text, giving up as soon as it is past `limit`. */
function roughSize(value: unknown, limit: number): number {
  let size = 0;
  const walk = (v: unknown, depth: number): void => {
    if (size > limit) return;
    if (typeof v === 'string') size += v.length + 2;
    else if (typeof v !== 'object' || v === null) size += 8;
    else if (depth > 64) size = limit + 1;
    else
      for (const key in v) {
        size += key.length + 4;
        walk((v as Record<string, unknown>)[key], depth + 1);
        if (size > limit) return;
      }
  };
  walk(value, 0);
  return size;
}
