// Text of agents, servers and files on its way into VS Code's own interface, where `[x](command:…)`
// is a live link and `$(x)` an icon.
import { revealControls } from '../../base/revealControls';

/** Characters of one line or label; VS Code itself cuts notifications at 1,000. */
const MAX_LINE = 1_000;
/** Characters of a text with several lines, as dialogs show below their question. */
const MAX_LINES = 8_000;

/** Part of a label: text of anybody, or an icon of ours by its codicon name. */
export type LabelPart = string | { readonly icon: string };
export type LabelText = string | readonly LabelPart[];

/**
 * One line of text that VS Code shows as it is: no links, no icons, no characters that hide or turn
 * what stands around them. VS Code finds links and icons by `](` and `$(` next to each other, so a
 * word joiner, which is not drawn, goes between. A long text is cut in its middle: the end of a
 * path says which file it is.
 */
export function inert(text: string): string {
  return parted(revealControls(cut(text, MAX_LINE).replace(/\s+/g, ' ')));
}

/** The same for a text whose line breaks are kept. */
export function inertLines(text: string): string {
  return parted(revealControls(cut(text, MAX_LINES).replace(/\r\n?/g, '\n')));
}

/**
 * Returns whether {@link inertLines} would leave something out: a question must not be asked about
 * what cannot be seen whole.
 */
export function isTooLong(text: string): boolean {
  return text.length > MAX_LINES;
}

/** A label with icons of ours. */
export function labelOf(words: LabelText): string {
  if (typeof words === 'string') return inert(words);
  return words.map((part) => (typeof part === 'string' ? inert(part) : `$(${part.icon})`)).join('');
}

/** An opening parenthesis at the beginning too: what stands before it may be another part. */
function parted(text: string): string {
  return text.replace(/(^|[\]$])\(/g, '$1\u2060(');
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const head = Math.floor(max * 0.7);
  return `${text.slice(0, head)}…${text.slice(head - max + 1)}`.toWellFormed();
}
