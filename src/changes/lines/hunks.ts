// Compares two files by lines, as bytes.
import { findHunks, idOf, type LineHunk } from '../../base/lineHunks';
import { Slices } from './slices';

const LIMITS = { stretch: 200_000, all: 40_000_000, isCoarse: true };
const LINES_PER_PAUSE = 4096;

export async function hunks(before: Buffer, after: Buffer): Promise<readonly LineHunk[] | undefined> {
  const slices = new Slices();
  const a = await textLines(before, slices);
  const b = a && (await textLines(after, slices));
  return b && compareLines(a, b, slices);
}

export async function compareLines(a: TextLines, b: TextLines, slices: Slices): Promise<readonly LineHunk[]> {
  if (a.bytes.equals(b.bytes)) return [];
  const most = Math.min(a.count, b.count);
  let start = 0;
  while (start < most && isSameLine(a, start, b, start)) {
    if (++start % LINES_PER_PAUSE === 0) await slices.pause();
  }
  let end = 0;
  while (end < most - start && isSameLine(a, a.count - end - 1, b, b.count - end - 1)) {
    if (++end % LINES_PER_PAUSE === 0) await slices.pause();
  }
  const ids = new Map<string, number>();
  const idsOf = async ({ bytes, starts, count }: TextLines): Promise<Uint32Array> => {
    const found = new Uint32Array(count - end - start);
    for (let line = start; line < count - end; line++) {
      // Latin-1 has one character per byte.
      found[line - start] = idOf(ids, bytes.toString('latin1', starts[line], starts[line + 1]));
      if (line % LINES_PER_PAUSE === 0) await slices.pause();
    }
    return found;
  };
  const [aIds, bIds] = [await idsOf(a), await idsOf(b)];
  const found = await slices.run(findHunks(aIds, bIds, ids.size, LIMITS));
  return found!.map((hunk) => ({ ...hunk, aStart: start + hunk.aStart, bStart: start + hunk.bStart }));
}

function isSameLine(a: TextLines, x: number, b: TextLines, y: number): boolean {
  const [aFrom, aTo, bFrom, bTo] = [a.starts[x]!, a.starts[x + 1]!, b.starts[y]!, b.starts[y + 1]!];
  return aTo - aFrom === bTo - bFrom && a.bytes.compare(b.bytes, bFrom, bTo, aFrom, aTo) === 0;
}

export function countOf(all: readonly LineHunk[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const { aCount, bCount } of all) {
    added += bCount;
    removed += aCount;
  }
  return { added, removed };
}

export function inverted(all: readonly LineHunk[]): readonly LineHunk[] {
  return all.map(({ aStart, aCount, bStart, bCount }) => ({
    aStart: bStart,
    aCount: bCount,
    bStart: aStart,
    bCount: aCount,
  }));
}

const LINE_FEED = 10;
/** Git looks for a NUL at the start. */
const BYTES_CHECKED = 8000;

export interface TextLines {
  readonly bytes: Buffer;
  readonly count: number;
  /** Offset of each line, and of the end. */
  readonly starts: Uint32Array;
  /** The last line has no line feed. */
  readonly isOpen: boolean;
}

export function isText(bytes: Buffer): boolean {
  return !bytes.subarray(0, BYTES_CHECKED).includes(0);
}

/** Undefined if the content is not text. Only LF ends a line. */
export async function textLines(bytes: Buffer, slices: Slices): Promise<TextLines | undefined> {
  if (!isText(bytes)) return undefined;
  const isOpen = bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED;
  let count = isOpen ? 1 : 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (++count % LINES_PER_PAUSE === 0) await slices.pause();
  }
  const starts = new Uint32Array(count + 1);
  for (let line = 1; line < count; line++) {
    starts[line] = bytes.indexOf(LINE_FEED, starts[line - 1]) + 1;
    if (line % LINES_PER_PAUSE === 0) await slices.pause();
  }
  starts[count] = bytes.length;
  return { bytes, count, starts, isOpen };
}

export function bytesOf(lines: TextLines, from: number, to: number): Buffer {
  return lines.bytes.subarray(lines.starts[from]!, lines.starts[to]!);
}
