// A text that the user approves: whole, or its first and last lines and the size of the gap. It
// never scrolls, so that its end is always visible above the answers.
import { revealHidden } from '../../base/revealControls';
import { button, el, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';

export const COLUMNS = 80;

/** Rows of a text shown whole, and of each end of a longer one. */
export interface RowLimits {
  readonly whole: number;
  readonly ends: number;
}

/** For what would run or be written. */
export const LONG: RowLimits = { whole: 12, ends: 5 };
/** For what the agent says about it. */
export const SHORT: RowLimits = { whole: 6, ends: 2 };

/** @param before a prompt before the text */
export function createAskedText(className: string, text: string, limits: RowLimits, before?: string): HTMLElement {
  const shown = revealHidden(text);
  const prompt = before === undefined ? undefined : el('span', 'dim', before);
  const cut = middleOf(shown, limits);
  const dir = limits === SHORT ? 'auto' : 'ltr';
  const box = (part: string, first?: HTMLElement): HTMLElement =>
    setAttributes(el('pre', 'asked-part', first, part), { dir });
  if (!cut) return el('div', `asked-text ${className}`, box(shown, prompt));
  const { start, end } = cut;
  const element = el('div', `asked-text ${className}`);
  const gap = createGap(strings.notShown(shown.slice(start, end).split('\n').length - 1, end - start), () => {
    const whole = setAttributes(box(shown, prompt), { tabindex: '-1' });
    element.replaceChildren(whole);
    whole.focus({ preventScroll: true });
  });
  element.append(box(shown.slice(0, start).replace(/\n$/, ''), prompt), gap, box(shown.slice(end)));
  return element;
}

export function createGap(words: string, show: () => void, ...more: readonly HTMLElement[]): HTMLElement {
  return el('div', 'asked-gap', el('span', 'dim', words), button('text-button', strings.showAll, show), ...more);
}

/** Returns the range to omit; undefined if the text fits. */
function middleOf(text: string, { whole, ends }: RowLimits): { start: number; end: number } | undefined {
  if (offsetOfRow(text, whole) >= text.length) return undefined;
  const start = offsetOfRow(text, ends);
  const back = text.length - offsetOfRow(reversed(text, ends), ends);
  const end = Math.max(start, text[back] === '\n' ? back + 1 : back);
  return { start: start - Number(isPairAt(text, start)), end: end + Number(isPairAt(text, end)) };
}

function offsetOfRow(text: string, rows: number): number {
  let at = 0;
  for (let row = 0; row < rows && at < text.length; row++) {
    const lineBreak = text.indexOf('\n', at);
    at = lineBreak !== -1 && lineBreak - at <= COLUMNS ? lineBreak + 1 : Math.min(at + COLUMNS, text.length);
  }
  return at;
}

/** Returns the last rows of a text, reversed. */
function reversed(text: string, rows: number): string {
  return [...Array(Math.min(text.length, rows * (COLUMNS + 1))).keys()]
    .map((back) => text.charAt(text.length - 1 - back))
    .join('');
}

function isPairAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff;
}
