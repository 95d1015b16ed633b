// Where a unit that is too long for one may be cut. Each answer depends only on the text from the unit's beginning, so that it is the same however the text arrived.
import type { Token, Tokens } from 'marked';

/** A code fence whose end has not come. */
export interface OpenFence {
  readonly marker: string;
  readonly lang: string;
  readonly indent: number;
  readonly group: number;
  /** Nothing of it was cut off yet. */
  readonly first: boolean;
  /** The last cut fell inside a line, so what follows cannot be its closing line. */
  readonly midLine: boolean;
}

const PARAGRAPH_SOFT = 4_096;
const PARAGRAPH_HARD = 8_192;
const BLOCK_LONG = 8_192;
const CODE_LINES = 100;
const CODE_SOFT = 12_000;
const CODE_HARD = 16_384;
const LETTER = /^\p{L}/u;

/** What opens a fenced code block, or undefined for any other token. */
export function fenceOf(token: Token): Pick<OpenFence, 'marker' | 'lang' | 'indent'> | undefined {
  if (token.type !== 'code') return undefined;
  const match = /^( {0,3})(`{3,}|~{3,})([^\n]*)/.exec(token.raw);
  if (!match) return undefined;
  const info = match[3]!.trim();
  return { indent: match[1]!.length, marker: match[2]!, lang: info.split(/\s/, 1)[0] ?? '' };
}

/** Removes the indentation of the fence from the lines that have it. */
export function stripIndent(text: string, indent: number): string {
  if (indent === 0) return text;
  const spaces = ' '.repeat(indent);
  return text
    .split('\n')
    .map((line) => (line.startsWith(spaces) ? line.slice(indent) : line))
    .join('\n');
}

/**
 * The length of the first part of an overlong paragraph, or 0 to leave it whole. The rest must still read as a paragraph, so it begins with a letter; marks
 * that span words are kept together where that is possible.
 */
function paragraphCut(raw: string): number {
  if (raw.length <= PARAGRAPH_SOFT) return 0;
  let code = false;
  let brackets = 0;
  let strong = 0;
  for (let index = 0; index < raw.length - 2; index++) {
    const char = raw[index];
    if (char === '`') code = !code;
    else if (char === '[') brackets++;
    else if (char === ']') brackets = Math.max(0, brackets - 1);
    else if (char === '*') strong++;
    if (index < PARAGRAPH_SOFT) continue;
    const calm = !code && brackets === 0 && strong % 2 === 0 && (char === ' ' || char === '\n');
    if ((calm || index >= PARAGRAPH_HARD) && LETTER.test(raw.slice(index + 1, index + 3)) && isWhole(raw, index + 1)) {
      return index + 1;
    }
  }
  return 0;
}

/** Where to cut a block or one of its units (an item of a list), as offsets in the source. */
export interface LongCut {
  readonly unit: number;
  readonly start: number;
  readonly cut: number;
}

/**
 * The first unit of a block that is too long, or undefined. Lists and tables are taken apart by their items and rows anyway; what has no such parts is cut
 * after a line, once the next line of it is there too.
 * @param start where `token` stands in `source`
 */
export function longCut(token: Token, source: string, start: number): LongCut | undefined {
  if (token.raw.length <= PARAGRAPH_SOFT || token.type === 'table' || token.type === 'space') return undefined;
  if (token.type === 'paragraph') {
    const cut = paragraphCut(token.raw);
    return cut > 0 ? { unit: 0, start, cut: start + cut } : undefined;
  }
  const lengths =
    token.type === 'list' ? (token as Tokens.List).items.map((item) => item.raw.length) : [token.raw.length];
  let at = start;
  for (const [unit, length] of lengths.entries()) {
    const line = length > BLOCK_LONG ? source.indexOf('\n', at + BLOCK_LONG) : -1;
    const next = line === -1 ? -1 : source.indexOf('\n', line + 1);
    if (next !== -1 && next <= at + length) return { unit, start: at, cut: line + 1 };
    at += length;
  }
  return undefined;
}

function isWhole(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code < 0xdc00 || code > 0xdfff;
}

type CodeCut =
  /** Neither full nor closed; the text to show ends at `textEnd`. */
  | { readonly kind: 'open'; readonly textEnd: number }
  | { readonly kind: 'full'; readonly textEnd: number; readonly next: number; readonly midLine: boolean }
  | { readonly kind: 'closed'; readonly textEnd: number; readonly next: number };

/** Looks for the fence's closing line, or for the place where the stretch of code is long enough. */
export function codeCut(text: string, fence: OpenFence): CodeCut {
  let start = 0;
  let lines = 0;
  let midLine = fence.midLine;
  for (;;) {
    const end = text.indexOf('\n', start);
    const isClosing =
      !midLine && closes(text.slice(start, Math.min(end === -1 ? text.length : end, start + 80)), fence);
    if (end === -1) {
      if (isClosing) return { kind: 'open', textEnd: start };
      if (text.length - 1 <= CODE_HARD) return { kind: 'open', textEnd: text.length };
      const cut = isWhole(text, CODE_HARD) ? CODE_HARD : CODE_HARD + 1;
      return { kind: 'full', textEnd: cut, next: cut, midLine: true };
    }
    if (isClosing) return { kind: 'closed', textEnd: start, next: end + 1 };
    if (end > CODE_HARD) {
      const cut = isWhole(text, CODE_HARD) ? CODE_HARD : CODE_HARD + 1;
      return { kind: 'full', textEnd: cut, next: cut, midLine: true };
    }
    midLine = false;
    lines++;
    start = end + 1;
    if (lines >= CODE_LINES || start >= CODE_SOFT) return { kind: 'full', textEnd: start, next: start, midLine: false };
  }
}

function closes(line: string, fence: OpenFence): boolean {
  const rest = line.replace(/^ {0,3}/, '');
  return rest.startsWith(fence.marker) && /^[~`]* *$/.test(rest.slice(fence.marker.length));
}
