// Neutralizes untrusted text for VS Code's UI, where `[x](command:…)` is a link and `$(x)` an icon.
import { revealControls } from '../../base/revealControls';

/** VS Code truncates notifications at 1,000 characters. */
const MAX_LINE = 1_000;
const MAX_LINES = 8_000;

/** Untrusted text, or a codicon of ours. */
export type LabelPart = string | { readonly icon: string };
export type LabelText = string | readonly LabelPart[];

/**
 * Returns one line without links, icons, and characters that hide or reorder text. VS Code finds
 * links and icons by `](` and `$(`, so a word joiner is inserted. Truncates in the middle, since
 * paths end with the file name.
 */
export function inert(text: string): string {
  return parted(revealControls(cut(text, MAX_LINE).replace(/\s+/g, ' ')));
}

/** Preserves line breaks. */
export function inertLines(text: string): string {
  return parted(revealControls(cut(text, MAX_LINES).replace(/\r\n?/g, '\n')));
}

/** Returns whether {@link inertLines} would truncate, for questions that must show everything. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_LINES;
}

export function labelOf(words: LabelText): string {
  if (typeof words === 'string') return inert(words);
  return words.map((part) => (typeof part === 'string' ? inert(part) : `$(${part.icon})`)).join('');
}

/** The preceding text may end with the first half of a link. */
function parted(text: string): string {
  return text.replace(/(^|[\]$])\(/g, '$1\u2060(');
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const head = Math.floor(max * 0.7);
  return `${text.slice(0, head)}…${text.slice(head - max + 1)}`.toWellFormed();
}
