// Compares two texts line by line in bounded time. Skips equal lines at both ends, and builds hunks
// only for the lines that are shown.
import * as l10n from '@vscode/l10n';
import { type LineHunk, lineHunks } from '../../base/lineHunks';
import { formatNumber } from '../../base/localFormat';
import { head, sharedEnd, sharedStart, tail } from '../../base/text';
import { countOf } from '../../changes/lines/hunks';
import type { ChangeHunk } from '../../session/events/content';
import { keepLineEnds } from './lineEnds';

const CONTEXT = 3;
/** About two milliseconds. */
const MAX_STEPS = 100_000;
/** Between the first and the last difference. */
const MAX_CHARS = 400_000;
const MAX_LINES = 10_000;
const LINE_BREAK = 10;

const FIRST_SHOWN = 340;
const LAST_SHOWN = 60;
const MAX_SHOWN = FIRST_SHOWN + LAST_SHOWN;
/** Longer lines are cut in the middle. */
const MAX_LINE = 2000;
const LINE_END = 500;

export interface LineDiff {
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly ChangeHunk[];
  /** Number of lines omitted before the hunk with this index. */
  readonly truncated?: { readonly hunk: number; readonly lines: number };
}

/**
 * Undefined if there are too many changes to find in about 10 ms; pure insertions and deletions are
 * always found.
 */
export function lineDiff(oldText: string, newText: string): LineDiff | undefined {
  if (oldText === newText) return { added: 0, removed: 0, hunks: [] };
  const alike = likeOld(oldText, newText);
  if (alike !== newText && alike !== oldText) return lineDiff(oldText, alike);
  const start = commonStart(oldText, newText);
  const tailLength = commonEnd(oldText, newText, start);
  const oldEnd = oldText.length - tailLength;
  const newEnd = newText.length - tailLength;
  const from = linesBack(oldText, start, CONTEXT);
  const line = countLines(oldText, 0, from) + 1;
  const below = oldText.slice(oldEnd, linesOn(oldText, oldEnd, CONTEXT));
  const before = oldText.slice(from, start);
  const removed = countLines(oldText, start, oldEnd);
  const added = countLines(newText, start, newEnd);
  if (removed === 0 || added === 0) {
    const changed = removed === 0 ? linesAt('+', newText, start, newEnd) : linesAt('-', oldText, start, oldEnd);
    const [first, last, left] = changed;
    const above = [...marked(' ', before), ...first];
    const whole = { oldStart: line, newStart: line, lines: [...above, ...last, ...marked(' ', below)] };
    if (left === 0) return { ...boundHunks([whole]), added, removed };
    const hunks = [{ ...whole, lines: above }, followOn(whole, above, left, [...last, ...marked(' ', below)])];
    return { hunks: hunks.map(boundHunk), added, removed, truncated: { hunk: 1, lines: left } };
  }
  if (Math.max(oldEnd, newEnd) - start > MAX_CHARS || Math.max(added, removed) > MAX_LINES) return undefined;
  const oldLines = linesOf(oldText.slice(from, oldEnd) + below);
  const newLines = linesOf(newText.slice(from, newEnd) + below);
  const found = lineHunks(oldLines, newLines, MAX_STEPS);
  return found && { ...boundHunks(withContext(oldLines, newLines, found, line)), ...countOf(found) };
}

/** For texts too large for {@link lineDiff}. */
export function newEnds(oldText: string, newText: string): Pick<LineDiff, 'hunks' | 'truncated'> {
  const start = commonStart(oldText, newText);
  const end = newText.length - commonEnd(oldText, newText, start);
  const [first, last, left] = linesAt('+', newText, start, end);
  const newStart = countLines(newText, 0, start) + 1;
  const hunk = { oldStart: newStart, newStart, lines: first };
  const hunks = left === 0 ? [{ ...hunk, lines: [...first, ...last] }] : [hunk, followOn(hunk, first, left, last)];
  return { hunks: hunks.map(boundHunk), truncated: left > 0 ? { hunk: 1, lines: left } : undefined };
}

function linesAt(sign: string, text: string, start: number, end: number): [string[], string[], left: number] {
  const omitted = countLines(text, start, end) - MAX_SHOWN;
  if (omitted <= 0) return [marked(sign, text.slice(start, end)), [], 0];
  const first = text.slice(start, linesOn(text, start, FIRST_SHOWN));
  return [marked(sign, first), marked(sign, text.slice(linesBack(text, end, LAST_SHOWN), end)), omitted];
}

function followOn(hunk: ChangeHunk, lines: readonly string[], omitted: number, rest: readonly string[]): ChangeHunk {
  const sign = lines.at(-1)?.[0] ?? ' ';
  return { ...after(hunk, [...lines, ...Array.from({ length: omitted }, () => sign)]), lines: rest };
}

function after({ oldStart, newStart }: ChangeHunk, lines: readonly string[]): Omit<ChangeHunk, 'lines'> {
  const count = (other: string): number => lines.filter((line) => !line.startsWith(other)).length;
  return { oldStart: oldStart + count('+'), newStart: newStart + count('-') };
}

/** As a write does. Models omit byte order marks and line ends: every line would look changed. */
function likeOld(oldText: string, newText: string): string {
  const isMarkMissing = oldText.startsWith('\ufeff') && newText !== '' && !newText.startsWith('\ufeff');
  const withMark = isMarkMissing ? `\ufeff${newText}` : newText;
  return oldText.includes('\r\n') === withMark.includes('\r\n') ? withMark : keepLineEnds(oldText, withMark, MAX_STEPS);
}

/** Includes line breaks, so that a last line without one differs. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line, index, all) => (index < all.length - 1 ? `${line}\n` : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function withContext(
  oldLines: readonly string[],
  newLines: readonly string[],
  found: readonly LineHunk[],
  line: number,
): readonly ChangeHunk[] {
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  const show = (sign: string, lines: readonly string[]): void => {
    for (const text of lines) hunks.at(-1)?.lines.push(sign + text.replace(/\n$/, ''));
  };
  let shown = 0;
  for (const { aStart, aCount, bStart, bCount } of found) {
    if (hunks.length === 0 || aStart - shown > 2 * CONTEXT) {
      show(' ', oldLines.slice(shown, shown + CONTEXT));
      shown = Math.max(0, aStart - CONTEXT);
      hunks.push({ oldStart: line + shown, newStart: line + bStart - (aStart - shown), lines: [] });
    }
    show(' ', oldLines.slice(shown, aStart));
    show('-', oldLines.slice(aStart, aStart + aCount));
    show('+', newLines.slice(bStart, bStart + bCount));
    shown = aStart + aCount;
  }
  show(' ', oldLines.slice(shown, shown + CONTEXT));
  return hunks;
}

export function boundHunks(all: readonly ChangeHunk[]): LineDiff {
  let added = 0;
  let removed = 0;
  const hunks = all.flatMap(({ oldStart, newStart, lines: given }) => {
    // "\ No newline at end of file" isn't a line of the file.
    const lines = given.filter((line) => !line.startsWith('\\'));
    for (const line of lines) {
      if (line.startsWith('+')) added++;
      else if (line.startsWith('-')) removed++;
    }
    return lines.length > 0 ? [{ oldStart, newStart, lines }] : [];
  });
  const omitted = hunks.reduce((sum, { lines }) => sum + lines.length, 0) - MAX_SHOWN;
  if (omitted <= 0) return { added, removed, hunks: hunks.map(boundHunk) };
  let room = FIRST_SHOWN;
  const first = hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, room));
    room -= lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
  room = LAST_SHOWN;
  const last = hunks.toReversed().flatMap((hunk) => {
    const before = hunk.lines.slice(0, Math.max(0, hunk.lines.length - room));
    const lines = hunk.lines.slice(before.length);
    room -= lines.length;
    return lines.length > 0 ? [{ ...after(hunk, before), lines }] : [];
  });
  const shown = [...first, ...last.reverse()].map(boundHunk);
  return { added, removed, hunks: shown, truncated: { hunk: first.length, lines: omitted } };
}

function boundHunk(hunk: ChangeHunk): ChangeHunk {
  return { ...hunk, lines: hunk.lines.map(boundLine) };
}

function boundLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const omitted = formatNumber(line.length - MAX_LINE);
  return `${head(line, MAX_LINE - LINE_END)}⟨${l10n.t('{0} characters not shown', omitted)}⟩${tail(line, LINE_END)}`;
}

function commonStart(a: string, b: string): number {
  const at = sharedStart(a, b);
  return at === 0 ? 0 : a.lastIndexOf('\n', at - 1) + 1;
}

function commonEnd(a: string, b: string, start: number): number {
  const length = sharedEnd(a, b, start);
  const begins = (text: string): boolean => length === text.length || text[text.length - length - 1] === '\n';
  if (begins(a) && begins(b)) return length;
  const lineBreak = a.indexOf('\n', a.length - length);
  return lineBreak < 0 ? 0 : a.length - lineBreak - 1;
}

function linesBack(text: string, at: number, count: number): number {
  let begin = at;
  for (let n = 0; n < count && begin > 0; n++) begin = begin < 2 ? 0 : text.lastIndexOf('\n', begin - 2) + 1;
  return begin;
}

function linesOn(text: string, at: number, count: number): number {
  let end = at;
  for (let n = 0; n < count && end < text.length; n++) {
    const lineBreak = text.indexOf('\n', end);
    end = lineBreak < 0 ? text.length : lineBreak + 1;
  }
  return end;
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === LINE_BREAK) count++;
  return to > from && text.charCodeAt(to - 1) !== LINE_BREAK ? count + 1 : count;
}

function marked(sign: string, text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map((line) => sign + line);
}
