// Numbers of changed lines: +120 −30, coloured as in VS Code, and in words for who does not see them.
import { el, setAttributes } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { formatNumber } from '../text/format';

interface Lines {
  readonly added: number;
  readonly removed: number;
}

/** Creates the numbers without zeros. */
export function countedLines({ added, removed }: Lines): HTMLElement {
  const plus = added > 0 ? el('span', 'plus', `+${formatNumber(added)}`) : undefined;
  const minus = removed > 0 ? el('span', 'minus', `−${formatNumber(removed)}`) : undefined;
  const numbers = el('span', 'line-counts', plus, plus && minus ? ' ' : undefined, minus);
  return setAttributes(numbers, { 'aria-hidden': 'true' });
}

/** "3 lines added, 1 line removed" */
export function linesLabel({ added, removed }: Lines): string {
  return `${strings.linesAdded(added)}, ${strings.linesRemoved(removed)}`;
}
