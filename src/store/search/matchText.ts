// How well a text fits what is looked for, and the part of it to show.
import { type SearchWord, type Token, tokensOf } from './searchWords';

const SNIPPET_WORDS = 24;
/** Of BM25, as in the search index: how soon more of the same counts less, and how much length does. */
const K = 1.2;
const B = 0.75;
const USUAL_WORDS = 60;

/** A part of a snippet. Agent text: never markup. */
export interface SnippetPart {
  readonly text: string;
  readonly hit: boolean;
}

/** Where a word was found: tokens of the text, the last one included. */
interface Match {
  readonly word: number;
  readonly first: number;
  readonly last: number;
}

/** Returns how well a text fits; the greater, the better. It has all of the words. */
export function scoreOf(text: string, words: readonly SearchWord[]): number {
  const tokens = tokensOf(text);
  const counts = new Array<number>(words.length).fill(0);
  for (const { word } of matchesOf(tokens, words)) counts[word] = (counts[word] ?? 0) + 1;
  const length = K * (1 - B + (B * tokens.length) / USUAL_WORDS);
  return counts.reduce((sum, count) => sum + (count * (K + 1)) / (count + length), 0);
}

/** Returns the part of a text with the most of the words, in which they are marked. */
export function snippetOf(text: string, words: readonly SearchWord[]): readonly SnippetPart[] {
  const tokens = tokensOf(text);
  const matches = matchesOf(tokens, words);
  const start = startOf(matches, tokens.length);
  const end = Math.min(tokens.length, start + SNIPPET_WORDS);
  const from = start === 0 ? 0 : (tokens[start]?.from ?? 0);
  const to = end === tokens.length ? text.length : (tokens[end - 1]?.to ?? text.length);
  const parts: SnippetPart[] = [];
  const add = (part: string, hit: boolean): void => {
    if (part !== '') parts.push({ text: part, hit });
  };
  let done = from;
  for (const { first, last } of matches) {
    if (first < start || last >= end) continue;
    const begin = Math.max(done, tokens[first]?.from ?? 0);
    const finish = tokens[last]?.to ?? 0;
    if (finish <= done) continue;
    add(text.slice(done, begin), false);
    add(text.slice(begin, finish), true);
    done = finish;
  }
  add(text.slice(done, to), false);
  if (start > 0) addText(parts, 0, '…');
  if (to < text.length) addText(parts, parts.length, '…');
  return parts;
}

function addText(parts: SnippetPart[], at: number, text: string): void {
  const index = at === 0 ? 0 : at - 1;
  const beside = parts[index];
  if (!beside || beside.hit) parts.splice(at, 0, { text, hit: false });
  else parts[index] = { text: at === 0 ? text + beside.text : beside.text + text, hit: false };
}

function matchesOf(tokens: readonly Token[], words: readonly SearchWord[]): readonly Match[] {
  const matches: Match[] = [];
  for (let first = 0; first < tokens.length; first++)
    for (const [word, { tokens: wanted, isOpen }] of words.entries()) {
      const fits = wanted.every((term, index) => {
        const found = tokens[first + index]?.term;
        return found === term || (isOpen && index === wanted.length - 1 && found?.startsWith(term) === true);
      });
      if (fits) matches.push({ word, first, last: first + wanted.length - 1 });
    }
  return matches;
}

/** The token that the snippet begins with: most different words, in the middle of it. */
function startOf(matches: readonly Match[], count: number): number {
  let best = { words: 0, first: 0, last: 0 };
  for (const [index, { first }] of matches.entries()) {
    const words = new Set<number>();
    let last = first;
    for (let next = index; next < matches.length; next++) {
      const match = matches[next];
      if (!match || match.last - first >= SNIPPET_WORDS) break;
      words.add(match.word);
      last = Math.max(last, match.last);
    }
    if (words.size > best.words) best = { words: words.size, first, last };
  }
  const before = Math.max(0, Math.floor((SNIPPET_WORDS - (best.last - best.first + 1)) / 2));
  return Math.max(0, Math.min(best.first - before, count - SNIPPET_WORDS));
}
