// Finds the lines that two files have in common at their beginnings and ends.
import type { Slices } from './slices';
import type { TextLines } from './textLines';

/** Bytes compared at once. */
const CHUNK = 64 * 1024;

/** Returns how many lines two files have in common at their beginnings. */
export async function commonStart(a: TextLines, b: TextLines, slices: Slices): Promise<number> {
  const most = Math.min(a.bytes.length, b.bytes.length);
  let same = 0;
  for (let end = CHUNK; end <= most && isSame(a, b, same, same, end - same); end += CHUNK) {
    same = end;
    await slices.pause();
  }
  for (const end = Math.min(most, same + CHUNK); same < end && a.bytes[same] === b.bytes[same]; ) same++;
  // The last line of the one may go on in the other.
  let lines = lastAt((line) => a.starts[line]! <= same, a.count);
  while (a.starts[lines] !== b.starts[lines]) lines--;
  return lines;
}

/** Returns how many lines after the first `start` ones two files have in common at their ends. */
export async function commonEnd(a: TextLines, b: TextLines, start: number, slices: Slices): Promise<number> {
  const [aEnd, bEnd] = [a.bytes.length, b.bytes.length];
  const most = Math.min(aEnd - a.starts[start]!, bEnd - b.starts[start]!);
  let same = 0;
  for (let size = CHUNK; size <= most && isSame(a, b, aEnd - size, bEnd - size, size - same); size += CHUNK) {
    same = size;
    await slices.pause();
  }
  for (
    const end = Math.min(most, same + CHUNK);
    same < end && a.bytes[aEnd - same - 1] === b.bytes[bEnd - same - 1];
  ) {
    same++;
  }
  const bytesOfLast = (lines: number): number => aEnd - a.starts[a.count - lines]!;
  let lines = lastAt((count) => bytesOfLast(count) <= same, Math.min(a.count, b.count) - start);
  // The first line of them may begin earlier in the other.
  while (bytesOfLast(lines) !== bEnd - b.starts[b.count - lines]!) lines--;
  return lines;
}

function isSame(a: TextLines, b: TextLines, aFrom: number, bFrom: number, size: number): boolean {
  return a.bytes.compare(b.bytes, bFrom, bFrom + size, aFrom, aFrom + size) === 0;
}

/** The greatest number up to `most` of which something holds, if it holds of 0 and all up to there. */
function lastAt(holds: (n: number) => boolean, most: number): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
