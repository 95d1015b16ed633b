// The end of a long text, in bounded memory: what an agent printed last is what explains its end.
import { detached } from './text';

/** Keeps the last characters of what is appended. */
export class TailBuffer {
  readonly #capacity: number;
  #chunks: string[] = [];
  #length = 0;

  /** @param capacity how many characters (UTF-16 units) are kept */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  append(text: string): void {
    this.#chunks.push(text);
    this.#length += text.length;
    // Joined only at twice the capacity, so that many small pieces cost no more than their length.
    if (this.#length > this.#capacity * 2 || this.#chunks.length > 1024) this.#compact();
  }

  /** What is kept. Where text was dropped it begins after the first line break, so that no half line shows. */
  toString(): string {
    this.#compact();
    return this.#chunks[0] ?? '';
  }

  /** The last `count` lines of what is kept, without the line break at the end. */
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
