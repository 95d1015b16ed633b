// Mentions in the message: the query after `@`, the host's items, and mentions of attachments.
import { signal } from '@preact/signals';
import type { MentionView } from '../../panel/contract';

export const mentions = signal<{ readonly query: string; readonly offers: readonly MentionView[] }>({
  query: '',
  offers: [],
});

export interface MentionQuery {
  readonly start: number;
  readonly query: string;
}

const MAX_QUERY = 200;

/** Returns the mention being typed: an `@` at the start of a word, up to the caret. */
export function mentionQuery(text: string, caret: number): MentionQuery | undefined {
  const before = text.slice(Math.max(0, caret - MAX_QUERY - 2), caret);
  const [word, , query = ''] = /(^|[\s([{"'])@([^\s@]*)$/.exec(before) ?? [];
  if (word === undefined || query.length > MAX_QUERY || /^\S/.test(text.slice(caret))) return undefined;
  return { start: caret - query.length - 1, query };
}

/**
 * Returns the start of the mention before the caret, including the space after it.
 * @param labels of the attachments
 */
export function mentionBefore(text: string, caret: number, labels: readonly string[]): number | undefined {
  const before = text.slice(0, caret);
  const end = before.endsWith(' ') ? caret - 1 : caret;
  const lengths = labels.filter((label) => text.slice(0, end).endsWith(`@${label}`)).map(({ length }) => length);
  return lengths.length === 0 ? undefined : end - Math.max(...lengths) - 1;
}

/**
 * Returns the position of the first mention of each label. A longer label does not mention a
 * shorter one.
 */
export function mentionsIn(text: string, labels: readonly string[]): ReadonlyMap<string, number> {
  let rest = text;
  const found = new Map<string, number>();
  for (const label of [...new Set(labels)].sort((a, b) => b.length - a.length)) {
    const start = rest.indexOf(`@${label}`);
    if (start < 0) continue;
    found.set(label, start);
    rest = rest.replaceAll(`@${label}`, '\n'.repeat(label.length + 1));
  }
  return found;
}
