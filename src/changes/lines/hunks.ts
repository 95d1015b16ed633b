// Compares two files by lines, with their bytes.
import { findHunks, idOf, type LineHunk } from '../../base/lineHunks';
import { Slices } from './slices';
import { type TextLines, textLines } from './textLines';

const LIMITS = { stretch: 200_000, all: 40_000_000, isCoarse: true };
/** Lines handled before other work may run. */
const LINES_AT_ONCE = 4096;

/** Compares two contents by lines, with their ends; undefined if one of them is not text. Runs in slices. */
export async function hunks(before: Buffer, after: Buffer): Promise<readonly LineHunk[] | undefined> {
  const slices = new Slices();
  const a = await textLines(before, slices);
  const b = a && (await textLines(after, slices));
  return b && compareLines(a, b, slices);
}

/** The result depends on the contents alone. */
export async function compareLines(a: TextLines, b: TextLines, slices: Slices): Promise<readonly LineHunk[]> {
  if (a.bytes.equals(b.bytes)) return [];
  const most = Math.min(a.count, b.count);
  let start = 0;
  while (start < most && isSameLine(a, start, b, start)) {
    if (++start % LINES_AT_ONCE === 0) await slices.pause();
  }
  let end = 0;
  while (end < most - start && isSameLine(a, a.count - end - 1, b, b.count - end - 1)) {
    if (++end % LINES_AT_ONCE === 0) await slices.pause();
  }
  const ids = new Map<string, number>();
  const idsOf = async ({ bytes, starts, count }: TextLines): Promise<Uint32Array> => {
    const found = new Uint32Array(count - end - start);
    for (let line = start; line < count - end; line++) {
      // Latin-1 has one character for each byte.
      found[line - start] = idOf(ids, bytes.toString('latin1', starts[line], starts[line + 1]));
      if (line % LINES_AT_ONCE === 0) await slices.pause();
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

/** Sums up the lines that hunks add and remove. */
export function countOf(all: readonly LineHunk[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const { aCount, bCount } of all) {
    added += bCount;
    removed += aCount;
  }
  return { added, removed };
}

/** The hunks of the comparison the other way round. */
export function inverted(all: readonly LineHunk[]): readonly LineHunk[] {
  return all.map(({ aStart, aCount, bStart, bCount }) => ({
    aStart: bStart,
    aCount: bCount,
    bStart: aStart,
    bCount: aCount,
  }));
}
