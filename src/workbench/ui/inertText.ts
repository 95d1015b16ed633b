// Text of agents, servers and files on its way into VS Code's own interface, where `[x](command:…)`
// is a live link and `$(x)` an icon.
import { revealControls } from '../../base/revealControls';

/** VS Code cuts notifications at 1,000 characters. */
const MAX_LINE = 1_000;
const MAX_LINES = 8_000;

/** Text of anybody, or a codicon of ours. */
export type LabelPart = string | { readonly icon: string };
export type LabelText = string | readonly LabelPart[];

/**
 * One line without links, icons, or characters that hide or turn text. VS Code finds links and
 * icons by `](` and `$(`, so an invisible word joiner goes between. Long text is cut in its middle:
 * the end of a path names the file.
 */
export function inert(text: string): string {
  return parted(revealControls(cut(text, MAX_LINE).replace(/\s+/g, ' ')));
}

/** Keeps line breaks. */
export function inertLines(text: string): string {
  return parted(revealControls(cut(text, MAX_LINES).replace(/\r\n?/g, '\n')));
}

/** Returns whether {@link inertLines} would cut: a question about something must show all of it. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_LINES;
}

export function labelOf(words: LabelText): string {
  if (typeof words === 'string') return inert(words);
  return words.map((part) => (typeof part === 'string' ? inert(part) : `$(${part.icon})`)).join('');
}

/** The text before it may end with another part of a link. */
function parted(text: string): string {
  return text.replace(/(^|[\]$])\(/g, '$1\u2060(');
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const head = Math.floor(max * 0.7);
  return `${text.slice(0, head)}…${text.slice(head - max + 1)}`.toWellFormed();
}
