// The parts that a text is read into before its spans are known: marks that can become the edge of a
// span, and how they are paired. Pure: no DOM.
import { unescapeMarks } from './addresses';
import type { Span } from './inlineLexer';

/** A span whose neighbours are not known yet; marks become text or the edge of a span. */
export interface Part {
  /** The text of a mark or run; undefined if `span` is complete. */
  text: string;
  span: Exclude<Span, string> | undefined;
  depth: number;
  /** The first of several unchanging parts, which are skipped together. */
  inner: Part | undefined;
  previous: Part | undefined;
  next: Part | undefined;
}

export interface Delimiter {
  readonly part: Part;
  readonly char: string;
  readonly length: number;
  /** Its position among all delimiters of the text. */
  readonly order: number;
  left: number;
  readonly opens: boolean;
  readonly closes: boolean;
  previous: Delimiter | undefined;
  next: Delimiter | undefined;
}

export interface Bracket {
  readonly part: Part;
  readonly isImage: boolean;
  readonly delimiter: Delimiter | undefined;
  /** Where the text between the brackets starts. */
  readonly from: number;
}

/** An opening tag whose closing one has not come yet. */
export interface OpenTag {
  readonly part: Part;
  readonly name: string;
  readonly delimiter: Delimiter | undefined;
  /** Where the text after the tag starts. */
  readonly from: number;
}

export function createPart(text: string): Part {
  return { text, span: undefined, depth: 0, inner: undefined, previous: undefined, next: undefined };
}

export function unlink(one: Delimiter): void {
  if (one.previous) one.previous.next = one.next;
  if (one.next) one.next.previous = one.previous;
}

export function matches(opener: Delimiter, closer: Delimiter): boolean {
  if (!opener.opens || opener.char !== closer.char) return false;
  if (closer.char === '~') return opener.length === closer.length;
  // A run that can open and close matches one whose combined length is a multiple of three only if
  // both lengths are.
  const both = opener.closes || closer.opens;
  return !both || (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

export function runEnd(text: string, start: number): number {
  let end = start;
  while (text[end] === text[start]) end++;
  return end;
}

/** Returns the positions of backtick runs by length, last first. */
export function findTicks(text: string): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let at = text.indexOf('`'); at !== -1; ) {
    const end = runEnd(text, at);
    const places = found.get(end - at);
    if (places) places.push(at);
    else found.set(end - at, [at]);
    at = text.indexOf('`', end);
  }
  for (const places of found.values()) places.reverse();
  return found;
}

export function charBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.slice(Math.max(0, at - 1), at);
}

export function charAfter(text: string, at: number): string {
  const high = text.charCodeAt(at);
  return text.slice(at, high >= 0xd800 && high <= 0xdbff ? at + 2 : at + 1);
}

/** Returns a text without its marks, for the description of an image. */
export function plainText(text: string): string {
  return unescapeMarks(text.replace(/[*_`~]/g, ''));
}
