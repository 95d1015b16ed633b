// The lines of a change that the user approves: broken instead of scrolled, and all of them, or the
// first and last ones and how many lie between.
import { revealHidden } from '../../base/revealControls';
import { formatNumber } from '../text/format';
import { COLUMNS } from './askedText';

/** Rows of a change shown whole, and of each end of a longer one. */
const WHOLE_ROWS = 36;
const END_ROWS = 15;
/** More blank lines in a row are counted. */
const MAX_BLANK = 3;
/** Characters shown of the beginning and the end of a longer line. */
const LINE_START = 320;
const LINE_END = 160;

export interface AskedLine {
  readonly sign: string;
  readonly text: string;
  readonly isAfterGap?: boolean;
}

/** Replaces runs of blank lines by one that counts them. */
export function withoutBlankRuns<T extends AskedLine>(lines: readonly T[], words: (count: number) => string): T[] {
  const shown: T[] = [];
  for (let at = 0; at < lines.length; ) {
    const first = lines[at]!;
    let end = at + 1;
    if (first.text.trim() === '') while (isBlankAfter(first, lines[end])) end++;
    if (end - at > MAX_BLANK) shown.push({ ...first, text: words(end - at) });
    else shown.push(...lines.slice(at, end));
    at = end;
  }
  return shown;
}

function isBlankAfter(first: AskedLine, line: AskedLine | undefined): boolean {
  return line?.sign === first.sign && line.text.trim() === '' && !line.isAfterGap;
}

/** Returns the range of lines to leave out; undefined if all fit. */
export function middleOf(lines: readonly AskedLine[]): { readonly start: number; readonly end: number } | undefined {
  const rows = lines.map(({ text }) => Math.max(1, Math.ceil(Math.min(text.length, LINE_START + LINE_END) / COLUMNS)));
  if (rows.reduce((sum, one) => sum + one, 0) <= WHOLE_ROWS) return undefined;
  return { start: linesThatFit(rows), end: lines.length - linesThatFit(rows.toReversed()) };
}

/** Returns how many of the first lines fit at one end; at least one. */
function linesThatFit(rows: readonly number[]): number {
  let room = END_ROWS;
  const tooMuch = rows.findIndex((one) => {
    room -= one;
    return room < 0;
  });
  return Math.max(1, tooMuch);
}

export function askedLine(text: string, words: (characters: string) => string): string {
  const shown = revealHidden(text);
  const left = shown.length - LINE_START - LINE_END;
  if (left <= 0) return shown;
  return `${shown.slice(0, LINE_START)}⟨${words(formatNumber(left))}⟩${shown.slice(-LINE_END)}`;
}
