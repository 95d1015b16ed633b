// Writes an agent's stderr to the log, line by line, and keeps a bounded tail that explains its
// exit.
import type { Readable } from 'node:stream';
import type { Log } from '../base/log';
import { detached } from '../base/text';

const TAIL_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 4096;

/** Reads a stderr from its beginning to its end; a full pipe would stop the agent. */
export class StderrLog {
  readonly tail = new TailBuffer(TAIL_CHARS);
  readonly #log: Log;
  readonly #onLine: (line: string) => void;
  #line = '';
  #isFinished = false;

  /** @param onLine also gets each line, bounded */
  constructor(stderr: Readable, log: Log, onLine: (line: string) => void = () => {}) {
    this.#log = log;
    this.#onLine = onLine;
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => this.#take(text));
    stderr.on('end', () => this.finish());
    stderr.on('error', () => this.finish());
  }

  /** Logs the last line even if it has no line break. Call at the end of stderr. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (this.#line !== '') this.#write(this.#line);
    this.#line = '';
  }

  #take(text: string): void {
    this.tail.append(text);
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.#write(this.#line + line);
      this.#line = '';
    }
    // Of an endless line only the beginning is of use.
    if (this.#line.length <= MAX_LINE_CHARS) this.#line += last;
  }

  #write(line: string): void {
    const text = line.trimEnd();
    if (text === '') return;
    const shown = text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
    this.#log.info(`[stderr] ${shown}`);
    this.#onLine(shown);
  }
}

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
