// Recognizes text that agents add to user messages for their own use. Pure.

/** An element on its own lines whose name has several words, such as `<system-reminder>`. */
export interface AgentText {
  readonly type: 'kept';
  readonly name: string;
  readonly text: string;
}

type MessagePart =
  | AgentText
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** The user's own HTML and XML rarely has such names; if it does, it is only folded. */
const OPENING = /^<([a-z]+(?:[-_][a-z]+)+)>/gm;
const MAX_ELEMENTS = 50;
/** Base64 prefixes of PNG, JPEG, GIF and WebP. */
const IMAGES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;
const SHORTEST_IMAGE = 64;

/** Splits a user message into the user's own text and what the agent added. */
export function splitMessage(text: string): readonly MessagePart[] {
  const image = imageIn(text.trim());
  if (image) return [image];
  const parts: MessagePart[] = [];
  const add = (words: string): void => {
    if (words.trim() !== '') parts.push({ type: 'text', text: words });
  };
  let from = 0;
  let elements = 0;
  for (const { index, 0: opening, 1: name } of text.matchAll(OPENING)) {
    if (index < from) continue;
    if (++elements > MAX_ELEMENTS) break;
    const closing = `</${name}>`;
    const end = text.indexOf(closing, index);
    const after = end + closing.length;
    if (end < 0 || /^[ \t]*[^\s]/.test(text.slice(after, after + 100))) continue;
    add(text.slice(from, index).replace(/\n+$/, ''));
    parts.push({ type: 'kept', name: name!, text: text.slice(index + opening.length, end).trim() });
    from = after + /^[ \t]*\n*/.exec(text.slice(after))![0].length;
  }
  if (from === 0) return [{ type: 'text', text }];
  add(text.slice(from));
  return parts;
}

function imageIn(text: string): MessagePart | undefined {
  const head = /^data:(image\/[\w.+-]+);base64,/.exec(text);
  const data = text.slice(head?.[0].length ?? 0);
  const mimeType = head?.[1] ?? IMAGES.find(([start]) => data.startsWith(start))?.[1];
  if (mimeType === undefined || data.length < SHORTEST_IMAGE || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  return { type: 'image', data, mimeType };
}
