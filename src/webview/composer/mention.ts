// Mentions in the message: finding the letters after `@`, and what the host offers for them.
import { signal } from '@preact/signals';
import type { MentionView } from '../../panel/contract';

export const mentions = signal<{ readonly query: string; readonly offers: readonly MentionView[] }>({
  query: '',
  offers: [],
});

export interface MentionQuery {
  /** Position of the `@`. */
  readonly start: number;
  readonly query: string;
}

const MAX_QUERY = 200;

/** Returns the mention that is being typed: an `@` that begins a word, up to the caret. */
export function mentionQuery(text: string, caret: number): MentionQuery | undefined {
  const before = text.slice(Math.max(0, caret - MAX_QUERY - 2), caret);
  const [word, , query = ''] = /(^|[\s([{"'])@([^\s@]*)$/.exec(before) ?? [];
  if (word === undefined || query.length > MAX_QUERY || /^\S/.test(text.slice(caret))) return undefined;
  return { start: caret - query.length - 1, query };
}

/**
 * Returns the mention before the caret, with the space after it.
 * @param labels of the attachments
 */
export function mentionBefore(
  text: string,
  caret: number,
  labels: readonly string[],
): { readonly start: number; readonly label: string } | undefined {
  const before = text.slice(0, caret);
  const end = before.endsWith(' ') ? caret - 1 : caret;
  const label = labels
    .filter((one) => text.slice(0, end).endsWith(`@${one}`))
    .sort((a, b) => b.length - a.length)
    .at(0);
  return label === undefined ? undefined : { start: end - label.length - 1, label };
}
