// A compact diff with one element per line. Style sheets draw the line numbers, so that they are
// neither selected nor read out.

import { revealControls } from '../../base/revealControls';
import type { DiffView } from '../../panel/contract';
import { el, icon, link, setAttributes } from '../dom/dom';
import { splitPath } from '../text/format';
import { strings } from '../text/strings';
import { COMPACT_LINES, LONGEST_LINE, OPEN_LINES } from './diffLimits';

/** Width of the line numbers in characters. */
const NUMBER_WIDTH = 5;

interface DiffOptions {
  readonly expanded: boolean;
  /** The line above already names the path. */
  readonly hideHead: boolean;
  /** The lines are drawn: marks changed words and draws syntax colours later. */
  highlight(lines: HTMLElement): void;
  openDiff(): void;
  /** Compares the diff with what was really written. */
  openWritten(): void;
}

export function createDiff(diff: DiffView, options: DiffOptions): HTMLElement {
  const element = el('div', 'diff');
  if (!options.hideHead) element.append(createHead(diff, options));
  const lines = setAttributes(el('div', 'diff-lines'), {
    tabindex: '0',
    role: 'group',
    'aria-label': diff.label,
    dir: 'ltr',
  });
  const limit = options.expanded ? OPEN_LINES : COMPACT_LINES;
  const total = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  let drawn = 0;
  for (const [index, hunk] of diff.hunks.entries()) {
    if (drawn >= limit) break;
    if (index > 0) lines.append(el('div', 'diff-gap'));
    let oldLine = hunk.oldStart;
    let newLine = hunk.newStart;
    for (const text of hunk.lines) {
      if (drawn++ >= limit) break;
      const sign = text[0];
      const line = el('div', 'diff-line', shorten(text.slice(1)));
      line.dataset.old = column(sign === '+' || diff.unnumbered ? undefined : oldLine++);
      line.dataset.new = column(sign === '-' || diff.unnumbered ? undefined : newLine++);
      if (sign === '+') line.classList.add('added');
      else if (sign === '-') line.classList.add('removed');
      lines.append(line);
    }
  }
  if (total > 0) {
    element.append(lines);
    options.highlight(lines);
  } else if (!diff.truncated && !diff.tooMany) element.append(el('div', 'diff-note dim', strings.noChange));
  const left = total - Math.min(total, limit);
  if (diff.truncated || diff.tooMany || left > 0) {
    const words = diff.tooMany
      ? strings.diffTooMany
      : diff.truncated
        ? strings.diffTooLarge
        : strings.openDiffWhole(left);
    element.append(el('div', 'diff-note', link('link', words, diff.path, options.openDiff)));
  }
  if (diff.writtenDifferently)
    element.append(el('div', 'diff-note', link('link', strings.writtenDifferently, diff.path, options.openWritten)));
  return element;
}

/** Returns a right-aligned number: text is laid out faster than positioned boxes. */
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
