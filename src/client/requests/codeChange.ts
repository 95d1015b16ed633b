// Applies a code block of an agent's answer to a file: which file it names, and the whole file with
// the change.
import { readDiff } from '../../acp/protocol/gitPatch';
import type { ChangeHunk } from '../../session/events/content';
import { onlyIndexOf } from './textEdit';

const MAX_LINE = 300;
/** Characters searched for the parts of a patch: about a second. */
const MAX_SEARCHED = 200_000_000;

const PATCH = /^(?:diff --git |--- .*\n\+\+\+ .*\n@@ -)/;
/** A comment that contains only a path. */
const COMMENT =
  /^\s*(?:\/\/|#|--|;|%|<!--|\/\*)\s*(?:file(?:name)?:\s*)?([\w.@/\\][^\s:"'`<>(){}]*\.[a-z]\w*)\s*(?:-->|\*\/)?\s*$/i;

export interface CodeChange {
  /** The likeliest first. */
  readonly paths: readonly string[];
  readonly isPatch: boolean;
  /**
   * Returns the whole file with the change; undefined if a patch can't be read, covers several
   * files, or has a part that doesn't occur exactly once.
   * @param text of the file, with plain line ends; undefined: no file
   * @param selected the range that code replaces; ignored for patches
   */
  in(text: string | undefined, selected?: Selected): string | undefined;
}

export interface Selected {
  readonly start: number;
  readonly end: number;
}

export function codeChange(code: string, lang: string): CodeChange {
  const plain = code.replaceAll('\r\n', '\n');
  if (/^(?:diff|patch)$/i.test(lang) || PATCH.test(plain)) return patchChange(plain);
  const path = COMMENT.exec(plain.slice(0, MAX_LINE).split('\n', 1)[0] ?? '')?.[1];
  return {
    paths: path === undefined ? [] : [path],
    isPatch: false,
    in(text = '', { start, end } = { start: 0, end: text.length }) {
      const replaced = text.slice(start, end);
      const hasEnd = replaced === '' || replaced.endsWith('\n');
      return text.slice(0, start) + (hasEnd ? withEnd(plain) : plain) + text.slice(end);
    },
  };
}

function patchChange(patch: string): CodeChange {
  const isNamed = !patch.startsWith('@@');
  const text = isNamed ? patch : `--- a\n+++ a\n${patch}`;
  const [file, ...others] = readDiff({ patch: { format: 'git_patch', text: withCounts(text) } });
  if (file?.type !== 'diff' || others.length > 0) return { paths: [], isPatch: true, in: () => undefined };
  const { path, hunks = [], operation = '' } = file;
  return {
    paths: isNamed ? [path.replace(/^[ab]\//, ''), path] : [],
    isPatch: true,
    in: (before) => (['add', 'modify'].includes(operation) ? patched(before ?? '', hunks) : undefined),
  };
}

function patched(before: string, hunks: readonly ChangeHunk[]): string | undefined {
  const text = `\n${withEnd(before)}`;
  if (hunks.length === 0 || hunks.length * text.length > MAX_SEARCHED) return undefined;
  let made = '';
  let from = 0;
  for (const { lines } of hunks) {
    const old = sideOf(lines, '-');
    const at = old === '' ? (before === '' ? 0 : undefined) : onlyIndexOf(text, `\n${old}`);
    if (at === undefined || at + 1 < from) return undefined;
    made += text.slice(from, at + 1) + sideOf(lines, '+');
    from = at + 1 + old.length;
  }
  const after = (made + text.slice(from)).slice(1);
  if (after === '') return undefined;
  return before === '' || before.endsWith('\n') ? after : after.replace(/\n$/, '');
}

function sideOf(lines: readonly string[], sign: '-' | '+'): string {
  const isOfSide = (line: string): boolean => line === '' || line[0] === ' ' || line[0] === sign;
  return lines.flatMap((line) => (isOfSide(line) ? [`${line.slice(1)}\n`] : [])).join('');
}

/** Agents miscount, and such patches are unreadable. Parts are placed by their lines alone. */
function withCounts(patch: string): string {
  const lines = patch.replace(/\n+$/, '').split('\n');
  let [old, fresh] = [0, 0];
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? '';
    const isPart = line.startsWith('@@');
    if (isPart) lines[at] = `@@ -1,${old} +1,${fresh} @@`;
    const isHeader = /^--- /.test(line) && /^\+\+\+ /.test(lines[at + 1] ?? '');
    if (isPart || isHeader || /^(?:diff --git|index) /.test(line)) [old, fresh] = [0, 0];
    else if (line[0] !== '\\') {
      if (line[0] !== '+') old++;
      if (line[0] !== '-') fresh++;
    }
  }
  return lines.join('\n');
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
