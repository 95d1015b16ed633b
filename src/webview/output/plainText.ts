// Plain text of any length, in boxes of a few lines that the browser lays out when visible.
import { el } from '../dom/dom';

const SHORT = 4_000;
const BOX_CHARS = 4_000;
const BOX_LINES = 80;
/** Longer lines are broken, as the browser lays out each line as a whole. */
const LINE_CHARS = 12_000;
/** px */
const LINE_HEIGHT = 20;
const COLUMNS = 80;

/** The style of `parent` must preserve line breaks. */
function appendPlain(parent: HTMLElement, text: string): void {
  if (text.length <= SHORT && text.split('\n', BOX_LINES + 1).length <= BOX_LINES) {
    parent.append(text);
    return;
  }
  let from = 0;
  let lines = 0;
  const close = (end: number, next: number): void => {
    // The box ends with its last line; a box of blank lines still needs a height.
    const part = text.slice(from, end);
    const box = el('div', 'text-box', part.trim() === '' ? `${part}\n` : part);
    const height = Math.max(lines, Math.ceil(part.length / COLUMNS)) * LINE_HEIGHT;
    box.style.containIntrinsicSize = `auto ${height}px`;
    parent.append(box);
    from = next;
    lines = 0;
  };
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    if (end - at > LINE_CHARS) {
      if (at > from) close(at - 1, at);
      lines = 1;
      at = breakOf(text, at);
      close(at, at);
      continue;
    }
    lines++;
    at = end + 1;
    if (lines === BOX_LINES || end - from >= BOX_CHARS || end === text.length) close(end, at);
  }
}

/** Returns where to break a long line: after a space near the end, never within a character. */
function breakOf(text: string, from: number): number {
  const most = from + LINE_CHARS;
  const blank = text.lastIndexOf(' ', most - 1);
  if (blank > most - BOX_CHARS) return blank + 1;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code <= 0xdbff ? most - 1 : most;
}

export function createText(className: string, text: string): HTMLElement {
  const element = el('div', className);
  appendPlain(element, text);
  return element;
}
