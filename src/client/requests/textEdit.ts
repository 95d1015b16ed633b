// Pure functions on the text of files: lines, and the smallest change from one text to another.
import { sharedEnd, sharedStart } from '../../base/sharedEnds';

/**
 * The lines from `line` (1-based; absent: the first), at most `limit` of them (absent: all), with
 * their line ends. Past the end: the empty text.
 */
export function sliceLines(text: string, line: number | undefined, limit: number | undefined): string {
  if (line === undefined && limit === undefined) return text;
  const ends = /\r\n|\r|\n/g;
  const start = afterLines(ends, text, 0, (line ?? 1) - 1);
  return text.slice(start, limit === undefined ? undefined : afterLines(ends, text, start, limit));
}

/**
 * The offset behind that many line ends, counted from an offset; the length where there are fewer.
 */
function afterLines(ends: RegExp, text: string, from: number, lines: number): number {
  ends.lastIndex = from;
  let offset = from;
  for (let n = 0; n < lines; n += 1) {
    if (!ends.exec(text)) return text.length;
    offset = ends.lastIndex;
  }
  return offset;
}

/** Replaces `[start, end)` of the old text. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The smallest single replacement that makes `after` of `before`; undefined where they are equal.
 * Pairs (surrogates, CRLF) are never cut.
 */
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
