// Pure functions on file texts: lines, and the smallest change between two texts.
import { sharedEnd, sharedStart } from '../../base/text';

/** `line` is 1-based; lines include their ends. */
export function sliceLines(text: string, line: number | undefined, limit: number | undefined): string {
  if (line === undefined && limit === undefined) return text;
  const ends = /\r\n|\r|\n/g;
  const start = afterLines(ends, text, 0, (line ?? 1) - 1);
  return text.slice(start, limit === undefined ? undefined : afterLines(ends, text, start, limit));
}

function afterLines(ends: RegExp, text: string, from: number, lines: number): number {
  ends.lastIndex = from;
  let offset = from;
  for (let n = 0; n < lines; n += 1) {
    if (!ends.exec(text)) return text.length;
    offset = ends.lastIndex;
  }
  return offset;
}

export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Undefined if equal. Never splits surrogate or CRLF pairs. */
export function smallestChange(before: string, after: string): TextChange | undefined {
  if (before === after) return undefined;
  let start = sharedStart(before, after);
  let tail = sharedEnd(before, after, start);
  while (start > 0 && (cutsPair(before, start) || cutsPair(after, start))) start -= 1;
  while (tail > 0 && (cutsPair(before, before.length - tail) || cutsPair(after, after.length - tail))) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

function cutsPair(text: string, offset: number): boolean {
  const left = text.charCodeAt(offset - 1);
  const right = text.charCodeAt(offset);
  return (left === 13 && right === 10) || (left >= 0xd800 && left <= 0xdbff && right >= 0xdc00 && right <= 0xdfff);
}

/** Undefined unless the part occurs exactly once. Linear (Knuth, Morris, Pratt) for any input. */
export function onlyIndexOf(text: string, part: string): number | undefined {
  if (part === text) return 0;
  if (part === '') return undefined;
  const borders = failureTableOf(part);
  let only: number | undefined;
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && (matched === part.length || part.charCodeAt(matched) !== code))
      matched = borders[matched] ?? 0;
    if (part.charCodeAt(matched) === code) matched++;
    if (matched < part.length) continue;
    if (only !== undefined) return undefined;
    only = at + 1 - part.length;
  }
  return only;
}

/** By length of a prefix: how much of it is also its suffix. */
function failureTableOf(part: string): Int32Array {
  const borders = new Int32Array(part.length + 1);
  let matched = 0;
  for (let at = 1; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched] ?? 0;
    if (part.charCodeAt(matched) === code) matched++;
    borders[at + 1] = matched;
  }
  return borders;
}
