// Text of messages and turns. Texts are compared without whitespace, as agents replay them with
// other chunks and line endings than they sent.
import { head, textOfBlocks } from '../../base/text';
import type { Entry, MessageEntry, SessionState } from './state';

const MOST_BEFORE = 100;

const bareTexts = new WeakMap<object, { readonly blocks: number; readonly bare: string }>();

export function textOf({ content }: Pick<MessageEntry, 'content'>): string {
  return textOfBlocks(content);
}

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

/** Returns `text` after its first `count` non-whitespace characters. */
export function withoutBare(text: string, count: number): string {
  let seen = 0;
  let index = 0;
  for (; index < text.length && seen < count; index++) if (!/\s/.test(text[index] ?? '')) seen++;
  return text.slice(index);
}

export function isEitherPrefix(one: string, other: string): boolean {
  return one.length <= other.length ? other.startsWith(one) : one.startsWith(other);
}

/**
 * Returns the agent's messages of a turn as received (Markdown), separated by blank lines, or ''.
 */
export function textOfTurn({ entries }: Pick<SessionState, 'entries'>, turnId: string): string {
  return entries
    .flatMap((entry) =>
      entry.kind === 'agent' && entry.turnId === turnId && entry.parent === undefined ? entry.content : [],
    )
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n');
}

/**
 * Returns the first line of the user's first message, for a session without a title.
 * @param limit in characters
 */
export function firstWordsOf({ entries }: Pick<SessionState, 'entries'>, limit: number): string | undefined {
  const first = entries.slice(0, MOST_BEFORE).find((entry) => entry.kind === 'user' || isBeingRead(entry));
  const block = first?.kind === 'user' ? first.content.find(({ type }) => type === 'text') : undefined;
  const line = block?.type === 'text' ? block.text.trim().split('\n', 1)[0]?.trimEnd() : undefined;
  return line ? head(line, limit) : undefined;
}

function isBeingRead(entry: Entry): boolean {
  return entry.kind === 'gap' && entry.state === 'loading';
}
