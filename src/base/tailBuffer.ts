// The end of a long text in bounded memory, for the output that explains why an agent exited.
import { detached } from './text';

/** Keeps the last characters of what is appended. */
export class TailBuffer {
  readonly #capacity: number;
  #chunks: string[] = [];
  #length = 0;

  /** @param capacity number of characters to keep (UTF-16 units) */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  append(text: string): void {
    this.#chunks.push(text);
    this.#length += text.length;
    // Compact only at twice the capacity, so that many small pieces cost no more than their length.
    if (this.#length > this.#capacity * 2 || this.#chunks.length > 1024) this.#compact();
  }

  /**
   * Returns the retained text. If text was dropped, it starts after the first line break, so that
   * no partial line shows.
   */
  toString(): string {
    this.#compact();
    return this.#chunks[0] ?? '';
  }

  /** Returns the last `count` lines without the final line break. */
  lines(count: number): string {
    const lines = this.toString().replace(/\s+$/, '').split('\n');
    return lines.slice(-count).join('\n');
  }

  #compact(): void {
    let text = this.#chunks.join('');
    if (text.length > this.#capacity) {
      text = text.slice(-this.#capacity);
      const lineBreak = text.indexOf('\n');
      if (lineBreak !== -1 && lineBreak < text.length - 1) text = text.slice(lineBreak + 1);
    }
    this.#chunks = text === '' ? [] : [detached(text)];
    this.#length = text.length;
  }
}
