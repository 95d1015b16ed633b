// Splits bytes into lines. Only 0x0A ends a line, and only whole lines are decoded, so characters
// split across chunks stay intact. An incomplete line grows in one buffer, in linear time.

const NEWLINE = 0x0a;
const FIRST_CAPACITY = 64 * 1024;
const MAX_IDLE_CAPACITY = 1024 * 1024;
const BYTE_ORDER_MARK = 0xfeff;

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  #pending = Buffer.alloc(0);
  #pendingBytes = 0;
  #isFirstLine = true;

  /** @param maxBytes per line, without the newline */
  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): boolean {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    if (this.#pendingBytes > 0) {
      const end = bytes.indexOf(NEWLINE);
      if (!this.#append(end === -1 ? bytes : bytes.subarray(0, end))) return false;
      if (end === -1) return true;
      this.#flush();
      start = end + 1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    if (last >= start) {
      // Only a chunk over the limit can contain a line over the limit.
      if (bytes.length > this.#maxBytes && !this.#emitBounded(bytes, start, last)) return false;
      if (bytes.length <= this.#maxBytes) this.#emitAll(bytes.toString('utf8', start, last));
      start = last + 1;
    }
    return start === bytes.length || this.#append(bytes.subarray(start));
  }

  /** Emits the rest as a line, because an agent may die between a message and its newline. */
  end(): void {
    if (this.#pendingBytes > 0) this.#flush();
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
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (line.charCodeAt(0) === BYTE_ORDER_MARK) {
        this.#onLine(line.slice(1));
        return;
      }
    }
    this.#onLine(line);
  }

  #append(part: Uint8Array): boolean {
    const total = this.#pendingBytes + part.length;
    if (total > this.#maxBytes) {
      this.#pending = Buffer.alloc(0);
      this.#pendingBytes = 0;
      return false;
    }
    if (total > this.#pending.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(FIRST_CAPACITY, total, Math.min(this.#pending.length * 2, this.#maxBytes)),
      );
      this.#pending.copy(grown, 0, 0, this.#pendingBytes);
      this.#pending = grown;
    }
    this.#pending.set(part, this.#pendingBytes);
    this.#pendingBytes = total;
    return true;
  }

  #flush(): void {
    const line = this.#pending.toString('utf8', 0, this.#pendingBytes);
    this.#pendingBytes = 0;
    // Frees the memory of a single long line.
    if (this.#pending.length > MAX_IDLE_CAPACITY) this.#pending = Buffer.alloc(0);
    this.#emit(line);
  }
}
