// The lines of a file, as its bytes: nothing is decoded, so that nothing is lost.
import type { Slices } from './slices';

const LINE_FEED = 10;
/** Where git looks for a zero byte to tell whether a file is text. */
const LOOK_AT = 8000;
/** Lines found before other work may run. */
const LINES_AT_ONCE = 4096;

/** A text file: each line with its end, which the last line may lack. */
export interface TextLines {
  readonly bytes: Buffer;
  readonly count: number;
  /** Where each line begins; one more, for the end. */
  readonly starts: Uint32Array;
  /** There are lines, and the last one has no end. */
  readonly isOpen: boolean;
}

/** Returns whether a content is text: as in git, there is no zero byte in its beginning. */
export function isText(bytes: Buffer): boolean {
  return !bytes.subarray(0, LOOK_AT).includes(0);
}

/** Finds the lines of a content; undefined where it is not text. Only LF ends a line. */
export async function textLines(bytes: Buffer, slices: Slices): Promise<TextLines | undefined> {
  if (!isText(bytes)) return undefined;
  const isOpen = bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED;
  let count = isOpen ? 1 : 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (++count % LINES_AT_ONCE === 0) await slices.pause();
  }
  const starts = new Uint32Array(count + 1);
  for (let line = 1; line < count; line++) {
    starts[line] = bytes.indexOf(LINE_FEED, starts[line - 1]) + 1;
    if (line % LINES_AT_ONCE === 0) await slices.pause();
  }
  starts[count] = bytes.length;
  return { bytes, count, starts, isOpen };
}

/** Returns the bytes of lines; `from` and `to` count from 0, `to` is not included. */
export function bytesOf(lines: TextLines, from: number, to: number): Buffer {
  return lines.bytes.subarray(lines.starts[from]!, lines.starts[to]!);
}
