// Makes characters visible that can disguise a name, path or command. Pure.
import * as l10n from '@vscode/l10n';

const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu;

/** As `⟨U+202E⟩`. Keeps line breaks, tabs, joiners of emoji and Persian, and Han variants. */
export function revealControls(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  });
}

/** Longer runs are replaced by their count. */
const MAX_SPACES = 40;
const MAX_TABS = 8;
const MAX_BLANK_LINES = 2;

const HIDDEN = /([\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800])\1*/gu;
const BLANK_LINES = /(^|\n)((?:[ \t]*\n)+)/g;
const STACKED_MARKS = /\p{M}{6,}/gu;

const JOINERS = ['\u200c', '\u200d', '\ufe0f'];
/** Some fonts have icons for private characters; unpaired surrogates are drawn as a box. */
const DRAWN = /^[\p{Co}\p{Cs}\p{Cn}]$/u;

/**
 * Shows runs as `⟨U+00A0 × 30⟩`, `⟨400 spaces⟩` or `⟨300 blank lines⟩`. Spaces, tabs and line
 * breaks stay unless they could push text out of sight.
 */
export function revealHidden(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(HIDDEN, (run, char: string, at: number, whole: string) => revealRun(run, char, at, whole))
    .replace(STACKED_MARKS, (marks) => l10n.t('⟨{0} marks⟩', [...marks].length))
    .replace(BLANK_LINES, (run, start: string, lines: string) => {
      const count = lines.split('\n').length - 1;
      return count > MAX_BLANK_LINES ? `${start}${l10n.t('⟨{0} blank lines⟩', count)}\n` : run;
    });
}

function revealRun(run: string, char: string, at: number, whole: string): string {
  const count = run.length / char.length;
  if (char === '\n') return run;
  if (char === ' ') return count > MAX_SPACES ? l10n.t('⟨{0} spaces⟩', count) : run;
  if (char === '\t') return count > MAX_TABS ? l10n.t('⟨{0} tabs⟩', count) : run;
  if (DRAWN.test(char)) return run;
  if (JOINERS.includes(run) && joins(whole, at)) return run;
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return count === 1 ? `⟨U+${code}⟩` : `⟨U+${code} × ${count}⟩`;
}

function joins(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  return /[\p{L}\p{M}\p{Emoji}]$/u.test(before) && !/[ -~]$/.test(before);
}
