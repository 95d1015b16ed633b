// Numbers the lines of two files, so that equal lines have the same number.
import type { Slices } from './slices';
import type { TextLines } from './textLines';

/** Bytes at each end of a line that tell it from most others; all are compared before it is taken as the same. */
const HASHED = 128;
const AT_ONCE = 2048;

/** A part of a file: `to` is not included. */
interface Part {
  readonly lines: TextLines;
  readonly from: number;
  readonly to: number;
}

/** Gives numbers from 0 to `size`, which is not included, to the lines of two files. */
export async function numberLines(
  a: Part,
  b: Part,
  slices: Slices,
): Promise<{ readonly a: Uint32Array; readonly b: Uint32Array; readonly size: number }> {
  const count = a.to - a.from + b.to - b.from;
  // A table of its final size: one that grows takes a long pause each time.
  const table = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2))).fill(-1);
  /** Where each number is first; lines of the second file are counted on from the first. */
  const firsts = new Uint32Array(count);
  let size = 0;
  const number = (lines: TextLines, line: number): number => {
    let slot = hashOf(lines.bytes, lines.starts[line]!, lines.starts[line + 1]!) & (table.length - 1);
    for (; ; slot = (slot + 1) & (table.length - 1)) {
      const known = table[slot]!;
      if (known < 0) {
        table[slot] = size;
        firsts[size] = lines === a.lines ? line : a.lines.count + line;
        return size++;
      }
      const first = firsts[known]!;
      const isSame =
        first < a.lines.count
          ? isSameLine(a.lines, first, lines, line)
          : isSameLine(b.lines, first - a.lines.count, lines, line);
      if (isSame) return known;
    }
  };
  const numbersOf = async ({ lines, from, to }: Part): Promise<Uint32Array> => {
    const numbers = new Uint32Array(to - from);
    for (let line = from; line < to; line++) {
      numbers[line - from] = number(lines, line);
      if (line % AT_ONCE === 0) await slices.pause();
    }
    return numbers;
  };
  const [first, second] = [await numbersOf(a), await numbersOf(b)];
  return { a: first, b: second, size };
}

function isSameLine(a: TextLines, x: number, b: TextLines, y: number): boolean {
  const [aFrom, aTo, bFrom, bTo] = [a.starts[x]!, a.starts[x + 1]!, b.starts[y]!, b.starts[y + 1]!];
  return aTo - aFrom === bTo - bFrom && a.bytes.compare(b.bytes, bFrom, bTo, aFrom, aTo) === 0;
}

/** FNV-1a over the length and both ends. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = (0x811c9dc5 ^ (to - from)) | 0;
  const head = Math.min(to, from + HASHED);
  for (let at = from; at < head; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  for (let at = Math.max(head, to - HASHED); at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
