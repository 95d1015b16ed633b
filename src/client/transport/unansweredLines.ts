// Passes on the output of a kept agent from a line on, without the requests that an earlier window
// has answered already.
import type { TransportSink } from '../../acp/jsonrpc/transport';

const NEWLINE = 0x0a;

export class UnansweredLines {
  readonly #answered: ReadonlySet<number>;
  readonly #lastAnswered: number;
  /** The line that the next byte begins or belongs to. */
  #line: number;
  #parts: Buffer[] = [];
  /** The next chunk goes with its number. */
  #isNumbered = true;

  /**
   * @param answered lines to leave out
   * @param line the first one
   */
  constructor(answered: readonly number[], line: number) {
    this.#answered = new Set(answered);
    this.#lastAnswered = Math.max(0, ...answered);
    this.#line = line;
  }

  push(chunk: Buffer, sink: TransportSink): void {
    let rest = chunk;
    // Only where some are left out do lines matter.
    while (this.#line <= this.#lastAnswered) {
      const end = rest.indexOf(NEWLINE);
      this.#parts.push(end === -1 ? rest : rest.subarray(0, end + 1));
      if (end === -1) return;
      if (!this.#answered.has(this.#line)) sink.data(Buffer.concat(this.#parts), this.#line);
      this.#parts = [];
      this.#line++;
      rest = rest.subarray(end + 1);
    }
    if (rest.length === 0) return;
    if (this.#isNumbered) sink.data(rest, this.#line);
    else sink.data(rest);
    this.#isNumbered = false;
  }
}
