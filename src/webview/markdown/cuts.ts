// Where a unit that is too long for one may be cut. Each answer depends only on the text from the unit's beginning, so that it is the same however the text arrived.
import { closesFence, type Fence } from './blockLexer';

/** A code fence whose end has not come. */
export interface OpenFence extends Fence {
  readonly lang: string;
  readonly group: number;
  /** Nothing of it was cut off yet. */
  readonly first: boolean;
  /** The last cut fell inside a line, so what follows cannot be its closing line. */
  readonly midLine: boolean;
}

const CODE_LINES = 100;
const CODE_SOFT = 12_000;
const CODE_HARD = 16_384;
/** The longest data of an image that is drawn from a text. */
const LONGEST_IMAGE = 4_000_000;

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
 * Where to cut a unit that is longer than `text`: after a line, else after a word outside of the marks that span words, else where the text ends.
 * @returns isText: what follows goes on within a line
 */
export function windowCut(text: string): { readonly at: number; readonly isText: boolean } {
  const soft = text.length / 2;
  const line = text.lastIndexOf('\n');
  if (line >= soft) return { at: line + 1, isText: false };
  let code = false;
  let brackets = 0;
  let strong = 0;
  let word = 0;
  for (let at = 0; at < text.length - 1; at++) {
    const char = text[at];
    if (char === '`') code = !code;
    else if (char === '[') brackets++;
    else if (char === ']') brackets = Math.max(0, brackets - 1);
    else if (char === '*') strong++;
    if (char !== ' ' || at < soft) continue;
    if (!code && brackets === 0 && strong % 2 === 0) return { at: at + 1, isText: true };
    word = at + 1;
  }
  const end = isWhole(text, text.length - 1) ? text.length - 1 : text.length - 2;
  return { at: word || end, isText: true };
}

const IMAGE = /!\[[^\]\n]{0,1000}\]\(<?data:image\/[\w.+-]{1,40};base64,/g;
const BASE64 = /[A-Za-z0-9+/=]*/y;

/** An image whose data goes on behind the window: from its mark to the end of what is there of its data. */
export interface LongImage {
  readonly start: number;
  readonly end: number;
  /** Its data ends in the text, or may still go on. */
  readonly isWhole: boolean;
}

/** The image in a text whose data begins within the first `size` characters and goes on behind them. */
export function longImage(text: string, size: number): LongImage | undefined {
  const part = text.slice(0, size);
  if (!part.includes('data:image/')) return undefined;
  for (const { index, 0: mark } of part.matchAll(IMAGE)) {
    BASE64.lastIndex = index + mark.length;
    const end = BASE64.lastIndex + BASE64.exec(text)![0].length;
    if (end <= size) continue;
    const isWhole = text[end] === ')' || text[end] === '>';
    return end - index <= LONGEST_IMAGE && (isWhole || end === text.length)
      ? { start: index, end, isWhole }
      : undefined;
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
  return rest.startsWith(fence.marker) && closesFence(rest, fence);
}
