// Resolves messages that the agent may not have received: those in its replay have arrived.
import type { Entry } from '../model/state';
import type { QueueItem } from '../queue/queue';
import { comparableText } from './segments';

/**
 * Removes messages from the queue that the replay has. One copy in the replay resolves one message:
 * of two equal ones, the second stays in doubt.
 */
export function resolveDoubtfulPrompts(
  queue: { readonly items: readonly QueueItem[]; readonly remove: (id: string) => unknown },
  known: readonly Entry[],
  repeated: readonly Entry[],
): QueueItem[] {
  const doubtful = queue.items.filter((item) => item.doubtful);
  if (doubtful.length === 0) return [];
  const ids = new Set(doubtful.map(({ id, repeats = id }) => repeats));
  const certain = userTexts(known.filter((entry) => !(entry.kind === 'user' && ids.has(entry.promptId ?? ''))));
  const repeatedTexts = userTexts(repeated);
  const after = endOf(certain, repeatedTexts);
  const taken = doubtful.filter((item) => {
    const forms = item.attachments.flatMap((attachment) => attachment.forms.slice(0, 1));
    const words = comparableText({ content: [{ type: 'text', text: item.text }, ...forms] });
    const spare = count(repeatedTexts, words) - count(certain, words);
    const at = repeatedTexts.lastIndexOf(words);
    if (spare <= 0 || at < after) return false;
    repeatedTexts.splice(at, 1);
    return true;
  });
  for (const { id } of taken) queue.remove(id);
  return taken;
}

function endOf(certain: readonly string[], shown: readonly string[]): number {
  const last = certain.at(-1);
  if (last === undefined) return -1;
  const copies = shown.flatMap((words, index) => (words === last ? [index] : []));
  return copies[Math.min(count(certain, last), copies.length) - 1] ?? -1;
}

function userTexts(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === 'user' ? [comparableText(entry)] : []));
}

function count(all: readonly string[], one: string): number {
  return all.filter((words) => words === one).length;
}
