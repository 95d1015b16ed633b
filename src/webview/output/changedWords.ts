// Marks the words that differ between a removed line of a diff and the added line that replaces it.
import { sharedEnd, sharedStart } from '../../base/text';
import { wrapPart } from './diffLine';

/** Includes surrogates, so that no character is split. */
const WORD = /[\p{L}\p{M}\p{N}\p{Cs}\p{Pc}\u200d]/u;
/** Minimum share of common text; with less, marks are noise. */
const LEAST_SHARED = 0.3;

/** Pairs each run of removed lines of a drawn diff with the run of added lines after it. */
export function markWords(lines: Element): void {
  let removed: Element[] = [];
  let paired = 0;
  for (const line of lines.children) {
    if (line.classList.contains('removed')) {
      if (paired > 0) removed = [];
      paired = 0;
      removed.push(line);
    } else if (line.classList.contains('added')) {
      const partner = removed[paired++];
      if (partner) markPair(partner, line);
    } else removed = [];
  }
}

function markPair(removed: Element, added: Element): void {
  const [old, fresh] = [removed.textContent, added.textContent];
  let start = sharedStart(old, fresh);
  let end = sharedEnd(old, fresh, start);
  const isInWord = (text: string, at: number): boolean => isWord(text[at - 1]) && isWord(text[at]);
  while (start > 0 && (isInWord(old, start) || isInWord(fresh, start))) start--;
  while (end > 0 && (isInWord(old, old.length - end) || isInWord(fresh, fresh.length - end))) end--;
  const shared = (old.slice(0, start) + old.slice(old.length - end)).trim().length;
  if (shared < LEAST_SHARED * Math.max(old.trim().length, fresh.trim().length)) return;
  wrapPart(removed, start, old.length - end, 'changed');
  wrapPart(added, start, fresh.length - end, 'changed');
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && WORD.test(char);
}
