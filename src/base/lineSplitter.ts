// Splits bytes into lines. Only byte 0x0A ends a line (U+2028 and U+2029 are ordinary text), and
// only whole lines are decoded, so a character that a chunk cuts stays whole. The rest of a line is
// kept in one growing buffer: linear in the length of the line, whatever the size of the chunks.

const NEWLINE = 0x0a;
const FIRST_CAPACITY = 64 * 1024;
const KEPT_CAPACITY = 1024 * 1024;
const BYTE_ORDER_MARK = 0xfeff;

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  #kept = Buffer.alloc(0);
  #keptBytes = 0;
  #isFirst = true;

  /** @param maxBytes without the newline */
  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): boolean {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    if (this.#keptBytes > 0) {
      const end = bytes.indexOf(NEWLINE);
      if (!this.#keep(end === -1 ? bytes : bytes.subarray(0, end))) return false;
      if (end === -1) return true;
      this.#flush();
      start = end + 1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    if (last >= start) {
      // A line inside one chunk can be too long only where the chunk itself is.
      if (bytes.length > this.#maxBytes && !this.#emitBounded(bytes, start, last)) return false;
      if (bytes.length <= this.#maxBytes) this.#emitAll(bytes.toString('utf8', start, last));
      start = last + 1;
    }
    return start === bytes.length || this.#keep(bytes.subarray(start));
  }

  /**
   * Ends the input. The remaining bytes count as a line, because an agent may die between a
   * message and its newline.
   */
  end(): void {
    if (this.#keptBytes > 0) this.#flush();
  }

  #emitAll(text: string): void {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      this.#emit(text.substring(from, to));
      from = to + 1;
    }
    this.#emit(from === 0 ? text : text.substring(from));
  }

  #emitBounded(bytes: Buffer, start: number, last: number): boolean {
    for (let from = start; from <= last; ) {
      const to = bytes.indexOf(NEWLINE, from);
      if (to - from > this.#maxBytes) return false;
      this.#emit(bytes.toString('utf8', from, to));
      from = to + 1;
    }
    return true;
  }

  #emit(line: string): void {
    if (this.#isFirst) {
      this.#isFirst = false;
      if (line.charCodeAt(0) === BYTE_ORDER_MARK) {
        this.#onLine(line.slice(1));
        return;
      }
    }
    this.#onLine(line);
  }

  #keep(part: Uint8Array): boolean {
    const total = this.#keptBytes + part.length;
    if (total > this.#maxBytes) {
      this.#kept = Buffer.alloc(0);
      this.#keptBytes = 0;
      return false;
    }
    if (total > this.#kept.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(FIRST_CAPACITY, total, Math.min(this.#kept.length * 2, this.#maxBytes)),
      );
      this.#kept.copy(grown, 0, 0, this.#keptBytes);
      this.#kept = grown;
    }
    this.#kept.set(part, this.#keptBytes);
    this.#keptBytes = total;
    return true;
  }

  #flush(): void {
    const line = this.#kept.toString('utf8', 0, this.#keptBytes);
    this.#keptBytes = 0;
    // One long line should not hold its memory for the rest of the session.
    if (this.#kept.length > KEPT_CAPACITY) this.#kept = Buffer.alloc(0);
    this.#emit(line);
  }
}
