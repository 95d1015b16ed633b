// The last lines of terminal output, redrawn in each frame and therefore bounded.

import { type AnsiColor, cleanOutput, styledText } from '../../base/ansi';
import type { TerminalView } from '../../panel/contract';
import { button, el, icon, setAttributes } from '../dom/dom';
import { pathLinks } from '../dom/pathLinks';
import { lastLines, shortLines } from '../text/format';
import { strings } from '../text/strings';

const TAIL_LINES = 5;
const OPEN_LINES = 400;
/** Maximum characters drawn, as a single line can be a megabyte. */
const LONGEST = 60_000;

interface TerminalOptions {
  readonly expanded: boolean;
  readonly showCommand: boolean;
  openLink(href: string): void;
  openTerminal(): void;
  openOutput(): void;
}

export interface TerminalOutput {
  readonly element: HTMLElement;
  update(terminal: TerminalView): void;
}

export function createTerminalOutput(first: TerminalView, options: TerminalOptions): TerminalOutput {
  const output = setAttributes(el('pre', 'terminal-lines'), { tabindex: '0', dir: 'ltr', role: 'group' });
  const note = el('div', 'terminal-note dim');
  const element = el('div', 'terminal');
  if (options.showCommand && first.command) {
    element.append(el('pre', 'terminal-command', el('span', 'dim prompt', '$ '), cleanOutput(first.command)));
    output.setAttribute('aria-label', first.command);
  }
  // The style keeps the box scrolled to the end without measuring it.
  element.append(note, el('div', 'terminal-scroll', output));
  const openOutput = button('secondary small', strings.openOutput, options.openOutput);
  const actions = el('div', 'terminal-actions', openOutput);
  if (options.expanded) {
    if (first.openable) {
      const open = button('secondary small', '', options.openTerminal);
      open.append(icon('terminal'), strings.openInTerminal);
      actions.append(open);
    }
    element.append(actions);
  }

  function update(terminal: TerminalView): void {
    const last = lastLines(terminal.output, options.expanded ? OPEN_LINES : TAIL_LINES).slice(-LONGEST);
    const clean = cleanOutput(last);
    const text = shortLines(clean);
    openOutput.hidden = !terminal.truncated && last.length >= terminal.output.length && text === clean;
    actions.hidden = openOutput.hidden && !first.openable;
    // No links while the output is redrawn in each frame.
    drawAnsi(output, text.endsWith('\n') ? text.slice(0, -1) : text, terminal.running ? undefined : options.openLink);
    const words = options.expanded
      ? terminal.truncated && strings.terminalTruncated
      : linesAbove(terminal.output, last, terminal.truncated);
    note.textContent = words || '';
    note.hidden = !words;
    output.hidden = text === '' && terminal.running;
    if (text === '' && !terminal.running) output.replaceChildren(el('span', 'dim', strings.noOutput));
  }

  update(first);
  return { element, update };
}

/** Returns a label with the number of lines above those shown. */
export function linesAbove(all: string, shown: string, isCut = false): string {
  let count = 0;
  for (let at = all.indexOf('\n'); at >= 0 && at < all.length - shown.length; at = all.indexOf('\n', at + 1)) count++;
  if (count === 0) return '';
  return isCut ? strings.manyLinesAbove(count) : strings.linesAbove(count);
}

/**
 * Draws text with SGR sequences.
 * @param openLink called for links to paths in the text
 */
export function drawAnsi(parent: HTMLElement, text: string, openLink?: (href: string) => void): void {
  const parts = openLink ? pathLinks(openLink) : (part: string) => [part];
  if (!text.includes('\u001b')) {
    parent.replaceChildren(...parts(text));
    return;
  }
  parent.replaceChildren(
    ...styledText(text).flatMap(({ text: part, color, background, decorations }) => {
      if (!color && !background && decorations.length === 0) return parts(part);
      const span = el('span', decorations.map((decoration) => `ansi-${decoration}`).join(' '), ...parts(part));
      paint(span, color, 'fg');
      paint(span, background, 'bg');
      return span;
    }),
  );
}

function paint(span: HTMLElement, color: AnsiColor | undefined, side: 'fg' | 'bg'): void {
  if (!color) return;
  const isNamed = color.startsWith('ansi-');
  if (isNamed) span.classList.add(`${side}-${color}`);
  const variable = color.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  // Set via the CSSOM: the content security policy forbids style attributes.
  span.style[side === 'fg' ? 'color' : 'backgroundColor'] = isNamed
    ? `var(--vscode-terminal-${variable})`
    : `rgb(${color})`;
}
