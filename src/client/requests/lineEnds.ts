// Line ends of a file that is written anew: a line that did not change keeps its end. Pure.
import { changedLines } from '../../changes/lines/lineMatch';

type LineEnd = '' | '\n' | '\r\n';

/** Steps of the search for changed lines in a file with both kinds: about 0.1 s. */
const MAX_STEPS = 5_000_000;

/** A text with LF for each CRLF. */
export function plainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/**
 * Returns a new text of a file with the line ends of the file.
 *
 * - A line that is not changed keeps its end.
 * - A changed line gets the end of the line that it replaces, a new one that of the line before it.
 * - In a file that mixes ends, a text that mixes them too and repeats those of all unchanged lines is
 *   taken as it is.
 *
 * Whether the last line has an end is for the new text to say.
 * @param left steps that finding changed lines may take; of more, the stretch that changed counts as
 * changed as a whole
 */
export function keepLineEnds(before: string, text: string, left = MAX_STEPS): string {
  const old = linesOf(before);
  const [only, other] = kindsOf(old);
  if (only === undefined) return text;
  if (other === undefined) return withEnds(text, only);
  const fresh = linesOf(text);
  const { removed, added } = changedIn(old, fresh, left);
  const ends: LineEnd[] = [];
  let isRepeated = kindsOf(fresh).length > 1;
  for (let at = 0; ends.length < fresh.length; ) {
    const from = at;
    while (removed[at]) at++;
    for (let n = 0; added[ends.length]; n++) ends.push(endAt(old, at === from ? from - 1 : Math.min(from + n, at - 1)));
    if (ends.length === fresh.length) break;
    const end = endAt(old, at++);
    const own = fresh[ends.length]!.end;
    isRepeated &&= own === end || own === '';
    ends.push(end);
  }
  return isRepeated ? text : fresh.map(({ content, end }, n) => content + (end && ends[n]!)).join('');
}

/** Marks by 1 the lines that are not the same in both; their ends do not count. */
function changedIn(old: readonly Line[], fresh: readonly Line[], left: number) {
  const isSame = (one: number, two: number): boolean => old[one]?.content === fresh[two]?.content;
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && isSame(start, start)) start++;
  let end = 0;
  while (end < shorter - start && isSame(old.length - 1 - end, fresh.length - 1 - end)) end++;
  const middle = (lines: readonly Line[]) => lines.slice(start, lines.length - end).map(({ content }) => content);
  const found = changedLines(middle(old), middle(fresh), { left });
  const marks = (lines: readonly Line[], changed: Uint8Array | undefined): Uint8Array => {
    const all = new Uint8Array(lines.length);
    if (changed) all.set(changed, start);
    else all.fill(1, start, lines.length - end);
    return all;
  };
  return { removed: marks(old, found?.removed), added: marks(fresh, found?.added) };
}

interface Line {
  readonly content: string;
  /** '' for a last line without. */
  readonly end: LineEnd;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
    const isCrlf = at > from && text.charCodeAt(at - 1) === 13;
    lines.push({ content: text.slice(from, isCrlf ? at - 1 : at), end: isCrlf ? '\r\n' : '\n' });
    from = at + 1;
  }
  if (from < text.length) lines.push({ content: text.slice(from), end: '' });
  return lines;
}

function kindsOf(lines: readonly Line[]): readonly LineEnd[] {
  return [...new Set(lines.map(({ end }) => end))].filter((end) => end !== '');
}

/** The end of a line, or of the nearest one that has an end: before it, else after it. */
function endAt(lines: readonly Line[], line: number): LineEnd {
  for (let at = Math.min(line, lines.length - 1); at >= 0; at--) if (lines[at]!.end) return lines[at]!.end;
  return lines[0]?.end || '\n';
}

function withEnds(text: string, end: LineEnd): string {
  const plain = plainEnds(text);
  return end === '\r\n' ? plain.replaceAll('\n', '\r\n') : plain;
}
