// A compact diff with one element per line; style sheets draw the line numbers.

import { revealControls, revealHidden } from '../../base/revealControls';
import type { DiffView } from '../../panel/contract';
import { el, icon, link, setAttributes } from '../dom/dom';
import { formatNumber, splitPath } from '../text/format';
import { strings } from '../text/strings';
import { COLUMNS, createGap } from './askedText';
import { LONGEST_LINE } from './diffLine';

/** Maximum number of lines; the editor shows the rest. */
const COMPACT_LINES = 60;
const OPEN_LINES = 800;
const NUMBER_WIDTH = 5;

interface DiffOptions {
  readonly expanded: boolean;
  /** The user approves the change: omitted lines are counted. */
  readonly asked: boolean;
  /** The line above already shows the path. */
  readonly hideHead: boolean;
  highlight(lines: HTMLElement): void;
  openDiff(): void;
  /** Opens a diff between the call's change and the written file. */
  openWritten(): void;
}

interface Line {
  readonly sign: string;
  readonly text: string;
  readonly isAfterGap: boolean;
  readonly old?: number;
  readonly new?: number;
  readonly left?: number;
}

export function createDiff(diff: DiffView, options: DiffOptions): HTMLElement {
  const { asked } = options;
  const element = el('div', asked ? 'diff asked' : 'diff');
  if (!options.hideHead) element.append(createHead(diff, options));
  const lines = setAttributes(el('div', 'diff-lines'), {
    tabindex: '0',
    role: 'group',
    'aria-label': diff.label,
    dir: 'ltr',
  });
  const all = asked ? withoutBlankRuns(linesOf(diff)) : diff.tooMany ? [] : linesOf(diff);
  const limit = asked ? all.length : options.expanded ? OPEN_LINES : COMPACT_LINES;
  const middle = asked ? middleOf(all) : undefined;
  const draw = (line: Line): HTMLElement[] => drawLine(line, asked ? askedLine : shorten);
  if (middle) {
    const between = all.slice(middle.start, middle.end);
    const whole = link('link', strings.openDiff, diff.path, options.openDiff);
    const omitted = between.reduce((sum, line) => sum + (line.left ?? 0), between.length);
    const words = strings.notShown(omitted, omitted);
    const gap = between.some(({ left: omitted }) => omitted !== undefined)
      ? createLeft(words)
      : createGap(
          words,
          () => {
            gap.replaceWith(...between.flatMap((line) => drawLine(line, revealHidden)));
            options.highlight(lines);
            lines.focus({ preventScroll: true });
          },
          whole,
        );
    lines.append(...all.slice(0, middle.start).flatMap(draw), gap, ...all.slice(middle.end).flatMap(draw));
  } else lines.append(...all.slice(0, limit).flatMap(draw));
  if (all.length > 0) {
    element.append(lines);
    options.highlight(lines);
  } else if (!diff.truncated && !diff.tooMany) element.append(el('div', 'diff-note dim', strings.noChange));
  const omitted = all.length - Math.min(all.length, limit);
  if (diff.truncated || diff.tooMany || omitted > 0) {
    const words = diff.tooMany
      ? strings.diffTooMany
      : diff.truncated
        ? strings.diffTooLarge
        : strings.openDiffWhole(omitted);
    element.append(el('div', 'diff-note', link('link', words, diff.path, options.openDiff)));
  }
  if (diff.writtenDifferently)
    element.append(el('div', 'diff-note', link('link', strings.writtenDifferently, diff.path, options.openWritten)));
  return element;
}

function linesOf({ hunks, unnumbered, truncated }: DiffView): readonly Line[] {
  return hunks.flatMap((hunk, index) => {
    let oldLine = hunk.oldStart;
    let newLine = hunk.newStart;
    return hunk.lines.map((line, at): Line => {
      const sign = line[0] ?? ' ';
      return {
        sign,
        text: line.slice(1),
        isAfterGap: index > 0 && at === 0,
        left: truncated?.hunk === index && at === 0 ? truncated.lines : undefined,
        old: sign !== '+' && !unnumbered ? oldLine++ : undefined,
        new: sign !== '-' && !unnumbered ? newLine++ : undefined,
      };
    });
  });
}

function drawLine(line: Line, shown: (text: string) => string): HTMLElement[] {
  const element = el('div', 'diff-line', shown(line.text));
  element.dataset.old = column(line.old);
  element.dataset.new = column(line.new);
  if (line.sign === '+') element.classList.add('added');
  else if (line.sign === '-') element.classList.add('removed');
  if (line.left !== undefined) return [createLeft(strings.notShown(line.left, line.left)), element];
  return line.isAfterGap ? [el('div', 'diff-gap'), element] : [element];
}

function createLeft(words: string): HTMLElement {
  return el('div', 'asked-gap', el('span', 'dim', words));
}

/** Padded text is laid out faster than positioned boxes. */
function column(number: number | undefined): string {
  return String(number ?? '').padStart(NUMBER_WIDTH);
}

function createHead(diff: DiffView, options: DiffOptions): HTMLElement {
  const [folder, name] = splitPath(revealControls(diff.label));
  const path = link('path mono', el('span', 'cut', folder), revealControls(diff.path), options.openDiff);
  path.append(el('span', 'name', name));
  const head = el('div', 'diff-head', icon('diff'), path);
  if (diff.isNew) head.append(el('span', 'chip', strings.newFile));
  head.append(el('span', 'grow'));
  if (!diff.tooMany) head.append(el('span', 'dim counts', `+${diff.added} −${diff.removed}`));
  return head;
}

function shorten(text: string): string {
  return revealControls(text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text);
}

/** For a change to approve: rows shown whole, and of each end of a longer one. */
const WHOLE_ROWS = 36;
const END_ROWS = 15;
/** Maximum number of consecutive blank lines; more are counted. */
const MAX_BLANK = 3;
/** Characters shown of the start and the end of a longer line. */
const LINE_START = 320;
const LINE_END = 160;

function withoutBlankRuns(lines: readonly Line[]): readonly Line[] {
  const shown: Line[] = [];
  for (let at = 0; at < lines.length; ) {
    const first = lines[at]!;
    let end = at + 1;
    if (first.text.trim() === '') while (isBlankAfter(first, lines[end])) end++;
    if (end - at > MAX_BLANK) shown.push({ ...first, text: strings.blankLines(end - at) });
    else shown.push(...lines.slice(at, end));
    at = end;
  }
  return shown;
}

function isBlankAfter(first: Line, line: Line | undefined): boolean {
  return line?.sign === first.sign && line.text.trim() === '' && !line.isAfterGap;
}

/** Returns the range of lines to omit; undefined if all fit. */
function middleOf(lines: readonly Line[]): { readonly start: number; readonly end: number } | undefined {
  const rows = lines.map(({ text }) => Math.max(1, Math.ceil(Math.min(text.length, LINE_START + LINE_END) / COLUMNS)));
  if (rows.reduce((sum, count) => sum + count, 0) <= WHOLE_ROWS) return undefined;
  return { start: linesThatFit(rows), end: lines.length - linesThatFit(rows.toReversed()) };
}

function linesThatFit(rows: readonly number[]): number {
  let room = END_ROWS;
  const tooMuch = rows.findIndex((count) => {
    room -= count;
    return room < 0;
  });
  return Math.max(1, tooMuch);
}

function askedLine(text: string): string {
  const shown = revealHidden(text);
  const omitted = shown.length - LINE_START - LINE_END;
  if (omitted <= 0) return shown;
  return `${shown.slice(0, LINE_START)}⟨${strings.charactersLeft(formatNumber(omitted))}⟩${shown.slice(-LINE_END)}`;
}
