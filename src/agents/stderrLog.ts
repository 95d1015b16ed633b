// Writes an agent's stderr to the log, line by line, and keeps a bounded tail that explains its
// exit.
import type { Readable } from 'node:stream';
import type { Log } from '../base/log';
import { TailBuffer } from '../base/tailBuffer';

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
