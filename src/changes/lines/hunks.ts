// Compares two files by lines.
import { commonEnd, commonStart } from './commonEnds';
import { matchLines } from './lineMatch';
import { numberLines } from './lineNumbers';
import { Slices } from './slices';
import { type TextLines, textLines } from './textLines';

/**
 * Steps of the search for changes, in one stretch and in all. A stretch that needs more counts as
 * changed as a whole: less fine, and as true.
 */
const STEPS = { stretch: 2_000_000, all: 40_000_000 };
/** Lines handled before other work may run. */
const LINES_AT_ONCE = 4096;

/**
 * A change between two files: lines of the first that lines of the second replace. Lines count from
 * 0; there is no context. Hunks of a comparison are in order and do not touch each other.
 */
export interface LineHunk {
  readonly aStart: number;
  readonly aCount: number;
  readonly bStart: number;
  readonly bCount: number;
}

/**
 * Compares two contents by lines, with their ends. The result depends on the contents alone. Runs
 * in slices.
 * @returns undefined where one of them is not text
 */
export async function hunks(before: Buffer, after: Buffer): Promise<readonly LineHunk[] | undefined> {
  const slices = new Slices();
  const a = await textLines(before, slices);
  const b = a && (await textLines(after, slices));
  return b && compareLines(a, b, slices);
}

/** As {@link hunks}, for lines that are known. */
export async function compareLines(a: TextLines, b: TextLines, slices: Slices): Promise<readonly LineHunk[]> {
  if (a.bytes.equals(b.bytes)) return [];
  const start = await commonStart(a, b, slices);
  const end = await commonEnd(a, b, start, slices);
  const numbers = await numberLines(
    { lines: a, from: start, to: a.count - end },
    { lines: b, from: start, to: b.count - end },
    slices,
  );
  const [aCount, bCount] = [numbers.a.length, numbers.b.length];
  // Cannot be undefined, as no stretch may fail.
  const { removed, added } = (await slices.run(
    matchLines(numbers.a, numbers.b, numbers.size, { ...STEPS, isCoarse: true }),
  ))!;
  const found: LineHunk[] = [];
  for (let x = 0, y = 0, turn = 0; x < aCount || y < bCount; x++, y++, turn++) {
    const [aStart, bStart] = [x, y];
    while (removed[x] === 1) x++;
    while (added[y] === 1) y++;
    if (x > aStart || y > bStart) {
      found.push({ aStart: start + aStart, aCount: x - aStart, bStart: start + bStart, bCount: y - bStart });
    }
    if (turn % LINES_AT_ONCE === 0) await slices.pause();
  }
  return found;
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
