// Keeps the line ends of unchanged lines when a file is written again. Pure.
import { lineHunks } from '../../base/lineHunks';

type LineEnd = '' | '\n' | '\r\n';

/** For a file with mixed line ends: about 0.1 s. */
const MAX_STEPS = 1_000_000;

export function plainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Also removes a byte order mark. */
export function plainText(text: string): string {
  return plainEnds(text.startsWith('\ufeff') ? text.slice(1) : text);
}

/**
 * Returns a new text with the line ends of the file: an unchanged line keeps its end, a changed one
 * gets that of the line it replaces, a new one that of the line before. A text that mixes ends too
 * and repeats those of all unchanged lines is returned unchanged. The new text decides whether the
 * last line has an end.
 * @param maxSteps steps of the comparison; the rest counts as changed
 */
export function keepLineEnds(before: string, text: string, maxSteps = MAX_STEPS): string {
  const oldLines = linesOf(before);
  const [only, other] = kindsOf(oldLines);
  if (only === undefined) return text;
  if (other === undefined) return withEnds(text, only);
  const newLines = linesOf(text);
  const contents = (lines: readonly Line[]) => lines.map(({ content }) => content);
  const hunks = lineHunks(contents(oldLines), contents(newLines), maxSteps, true) ?? [];
  const ends: LineEnd[] = [];
  let isRepeated = kindsOf(newLines).length > 1;
  const keepUntil = (line: number, shift: number): void => {
    while (ends.length < line) {
      const end = endAt(oldLines, ends.length + shift);
      const own = newLines[ends.length]!.end;
      isRepeated &&= own === end || own === '';
      ends.push(end);
    }
  };
  let shift = 0;
  for (const { aStart, aCount, bStart, bCount } of hunks) {
    keepUntil(bStart, shift);
    const last = aStart + aCount - 1;
    for (let n = 0; n < bCount; n++) ends.push(endAt(oldLines, Math.min(aStart + n, last)));
    shift += aCount - bCount;
  }
  keepUntil(newLines.length, shift);
  return isRepeated ? text : newLines.map(({ content, end }, n) => content + (end && ends[n]!)).join('');
}

interface Line {
  readonly content: string;
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

/** Of the nearest line that has one: before, else after. */
function endAt(lines: readonly Line[], line: number): LineEnd {
  for (let at = Math.min(line, lines.length - 1); at >= 0; at--) if (lines[at]!.end) return lines[at]!.end;
  return lines[0]?.end || '\n';
}

function withEnds(text: string, end: LineEnd): string {
  const plain = plainEnds(text);
  return end === '\r\n' ? plain.replaceAll('\n', '\r\n') : plain;
}
