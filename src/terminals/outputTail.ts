// Keeps the last part of a process's output, measured in bytes of UTF-8 as the protocol does, cut
// between characters. Appending costs only what is appended.

import { detached } from '../base/text';

/**
 * Small pieces are joined up to this size, so that a program that writes byte by byte does not cost
 * an object for each.
 */
const PIECE_BYTES = 8 * 1024;
/**
 * Dropped pieces stay in the array until there are this many, so that dropping is not a copy each
 * time.
 */
const COMPACT_AT = 256;

interface Piece {
  text: string;
  bytes: number;
}

export interface OutputText {
  readonly output: string;
  readonly truncated: boolean;
}

/**
 * Keeps at least the last `capacity` bytes of a text that only grows, and at most one piece more.
 */
export class OutputTail {
  readonly #capacity: number;
  readonly #pieces: Piece[] = [];
  #first = 0;
  #kept = 0;
  #total = 0;

  /** @param capacity bytes of UTF-8 that can be asked for later */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Takes more output: whole characters only (a streaming decoder gives those). */
  append(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes === 0) return;
    this.#total += bytes;
    if (bytes >= this.#capacity) {
      const output = lastBytes(text, this.#capacity);
      this.#pieces.length = 0;
      this.#first = 0;
      this.#kept = Buffer.byteLength(output);
      this.#pieces.push({ text: output, bytes: this.#kept });
      return;
    }
    const last = this.#pieces.length > this.#first ? this.#pieces[this.#pieces.length - 1] : undefined;
    if (last && last.bytes + bytes <= PIECE_BYTES) {
      last.text += text;
      last.bytes += bytes;
    } else {
      // Put together from many small pieces, it would take up to ten times its length.
      if (last) last.text = detached(last.text);
      this.#pieces.push({ text, bytes });
    }
    this.#kept += bytes;
    this.#drop();
  }

  /**
   * The last `limit` bytes, or as many as are kept.
   * @param limit bytes of UTF-8; a character that would be cut is left out whole
   */
  text(limit: number = this.#capacity): OutputText {
    const kept = this.#pieces
      .slice(this.#first)
      .map((piece) => piece.text)
      .join('');
    const most = Math.min(limit, this.#capacity);
    return { output: this.#kept > most ? lastBytes(kept, most) : kept, truncated: this.#total > most };
  }

  #drop(): void {
    let oldest = this.#pieces[this.#first];
    while (oldest && this.#kept - oldest.bytes >= this.#capacity) {
      this.#kept -= oldest.bytes;
      // The text is let go at once; only the empty place in the array waits for compaction.
      this.#pieces[this.#first] = { text: '', bytes: 0 };
      this.#first += 1;
      oldest = this.#pieces[this.#first];
    }
    if (this.#first >= COMPACT_AT && this.#first * 2 >= this.#pieces.length) {
      this.#pieces.splice(0, this.#first);
      this.#first = 0;
    }
  }
}

/** The end of a text in at most that many bytes of UTF-8, beginning with a whole character. */
export function lastBytes(text: string, limit: number): string {
  if (limit <= 0) return '';
  // A UTF-16 unit is at least one byte, so no more units than `limit` can be needed: a long text is
  // not encoded whole.
  const bytes = Buffer.from(text.length > limit + 1 ? text.slice(-(limit + 1)) : text);
  if (bytes.length <= limit && text.length <= limit + 1) return text;
  let start = Math.max(0, bytes.length - limit);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
