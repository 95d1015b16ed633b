// The text of messages and turns. It is compared without white space: agents repeat the same words in other pieces than they sent them, joined, cut, and with other ends
// of lines.
import type { MessageEntry, SessionState } from './state';

/** Bare texts by the last block of their message, which is another object as soon as the text has grown. */
const bareTexts = new WeakMap<object, { readonly blocks: number; readonly bare: string }>();

/** Returns the text of a message. */
export function textOf({ content }: Pick<MessageEntry, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Returns the text of a message without white space. */
export function bareTextOf(message: Pick<MessageEntry, 'content'>): string {
  const { content } = message;
  const last = content.at(-1);
  if (!last) return '';
  const known = bareTexts.get(last);
  if (known?.blocks === content.length) return known.bare;
  const bare = textOf(message).replaceAll(/\s+/g, '');
  bareTexts.set(last, { blocks: content.length, bare });
  return bare;
}

/** Returns `text` without as much of its beginning as holds `count` characters that are no white space. */
export function withoutBare(text: string, count: number): string {
  let seen = 0;
  let index = 0;
  for (; index < text.length && seen < count; index++) if (!/\s/.test(text[index] ?? '')) seen++;
  return text.slice(index);
}

/** Whether one of two texts is the beginning of the other. */
export function isBeginning(one: string, other: string): boolean {
  return one.length <= other.length ? other.startsWith(one) : one.startsWith(other);
}

/** Returns the texts of the agent's messages of that turn as they came (Markdown), with a blank line between two; '' where it said nothing */
export function textOfTurn({ entries }: Pick<SessionState, 'entries'>, turnId: string): string {
  return entries
    .flatMap((entry) => (entry.kind === 'agent' && entry.turnId === turnId ? entry.content : []))
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n');
}
