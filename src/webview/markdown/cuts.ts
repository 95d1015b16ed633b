// Decides where to split a unit that is too long. Each decision depends only on the text from the
// start of the unit, not on the chunks in which it arrived.
import { closesFence } from '../../markdown/blockLexer';
import type { Fence } from '../../markdown/blocks';

export interface OpenFence extends Fence {
  readonly lang: string;
  readonly group: number;
  readonly first: boolean;
  /** The last split was within a line, whose rest cannot close the fence. */
  readonly midLine: boolean;
}

const CODE_LINES = 100;
const CODE_SOFT = 12_000;
const CODE_HARD = 16_384;
const LONGEST_IMAGE = 4_000_000;

export function stripIndent(text: string, indent: number): string {
  if (indent === 0) return text;
  const spaces = ' '.repeat(indent);
  return text
    .split('\n')
    .map((line) => (line.startsWith(spaces) ? line.slice(indent) : line))
    .join('\n');
}

/**
 * Returns where to split a unit longer than `text`: after a line, otherwise after a word outside of
 * spans.
 * @returns isText: the rest continues within a line
 */
export function windowCut(text: string): { readonly at: number; readonly isText: boolean } {
  const soft = text.length / 2;
  const line = text.lastIndexOf('\n');
  if (line >= soft) return { at: line + 1, isText: false };
  let code = false;
  let brackets = 0;
  let strong = 0;
  let word = 0;
  for (let position = 0; position < text.length - 1; position++) {
    const char = text[position];
    if (char === '`') code = !code;
    else if (char === '[') brackets++;
    else if (char === ']') brackets = Math.max(0, brackets - 1);
    else if (char === '*') strong++;
    if (char !== ' ' || position < soft) continue;
    if (!code && brackets === 0 && strong % 2 === 0) return { at: position + 1, isText: true };
    word = position + 1;
  }
  const end = isWhole(text, text.length - 1) ? text.length - 1 : text.length - 2;
  return { at: word || end, isText: true };
}

export const IMAGE_MARK = 'data:image/';
const IMAGE = /!\[[^\]\n]{0,1000}\]\(<?data:image\/[\w.+-]{1,40};base64,/g;
const BASE64 = /[A-Za-z0-9+/=]*/y;

/** The range of an image whose data extends beyond the window, as far as it has arrived. */
interface LongImage {
  readonly start: number;
  readonly end: number;
  readonly isWhole: boolean;
}

/** Returns the image whose data starts within `size` characters and extends beyond them. */
export function longImage(text: string, size: number): LongImage | undefined {
  for (const { index, 0: mark } of text.slice(0, size).matchAll(IMAGE)) {
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
  | { readonly kind: 'open'; readonly textEnd: number }
  | { readonly kind: 'full'; readonly textEnd: number; readonly next: number; readonly midLine: boolean }
  | { readonly kind: 'closed'; readonly textEnd: number; readonly next: number };

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
