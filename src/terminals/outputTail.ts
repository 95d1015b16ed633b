// Keeps the end of a process's output, measured in bytes of UTF-8 and cut between characters.

import { detached } from '../base/text';

/** Small pieces are merged up to this size: a program may write byte by byte. */
const PIECE_BYTES = 8 * 1024;
/** Dropped pieces stay in the array up to this number, so that not every drop copies it. */
const COMPACT_AT = 256;

interface Piece {
  text: string;
  bytes: number;
}

export interface OutputText {
  readonly output: string;
  readonly truncated: boolean;
}

/** Retains at least the last `capacity` bytes, and at most one piece more. */
export class OutputTail {
  readonly #capacity: number;
  readonly #pieces: Piece[] = [];
  #first = 0;
  #retainedBytes = 0;
  #totalBytes = 0;

  /** @param capacity bytes of UTF-8 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Appends whole characters, as a streaming decoder returns them. */
  append(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes === 0) return;
    this.#totalBytes += bytes;
    if (bytes >= this.#capacity) {
      const output = lastBytes(text, this.#capacity);
      this.#pieces.length = 0;
      this.#first = 0;
      this.#retainedBytes = Buffer.byteLength(output);
      this.#pieces.push({ text: output, bytes: this.#retainedBytes });
      return;
    }
    const last = this.#pieces.length > this.#first ? this.#pieces[this.#pieces.length - 1] : undefined;
    if (last && last.bytes + bytes <= PIECE_BYTES) {
      last.text += text;
      last.bytes += bytes;
    } else {
      // A string concatenated from many pieces takes up to ten times its length.
      if (last) last.text = detached(last.text);
      this.#pieces.push({ text, bytes });
    }
    this.#retainedBytes += bytes;
    this.#drop();
  }

  /** Returns the last `limit` bytes of UTF-8, without a partial character. */
  text(limit: number = this.#capacity): OutputText {
    const retained = this.#pieces
      .slice(this.#first)
      .map((piece) => piece.text)
      .join('');
    const maxBytes = Math.min(limit, this.#capacity);
    return {
      output: this.#retainedBytes > maxBytes ? lastBytes(retained, maxBytes) : retained,
      truncated: this.#totalBytes > maxBytes,
    };
  }

  #drop(): void {
    let oldest = this.#pieces[this.#first];
    while (oldest && this.#retainedBytes - oldest.bytes >= this.#capacity) {
      this.#retainedBytes -= oldest.bytes;
      // Frees the text now; the array is compacted later.
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

/** Returns the last `limit` bytes of UTF-8, starting with a whole character. */
export function lastBytes(text: string, limit: number): string {
  if (limit <= 0) return '';
  // A UTF-16 unit takes at least one byte, so a long text needn't be encoded as a whole.
  const bytes = Buffer.from(text.length > limit + 1 ? text.slice(-(limit + 1)) : text);
  if (bytes.length <= limit && text.length <= limit + 1) return text;
  let start = Math.max(0, bytes.length - limit);
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}
