// Extracts one command's output from its terminal's data, by the marks of shell integration.
import { OutputTail, type OutputText } from '../../terminals/outputTail';

/** C: output begins; D: the command has ended (VS Code's shell integration and FinalTerm's). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin and end with them
const MARK = /\u001b\][16]33;([CD])(?:;[^\u0007\u001b]{0,32})?(?:\u0007|\u001b\\)/g;
const BEGUN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin and end with them
  /\u001b(?:\](?:[16](?:3(?:3(?:;(?:[CD](?:;[^\u0007\u001b]{0,32})?\u001b?)?)?)?)?)?)?$/;

export class MarkedOutput {
  readonly #capacity: number;
  #tail: OutputTail;
  #partialMark = '';
  #state: 'before' | 'within' | 'after' = 'before';

  /** @param capacity in bytes of UTF-8 */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#tail = new OutputTail(capacity);
  }

  append(piece: string): void {
    const text = this.#partialMark + piece;
    const end = BEGUN.exec(text)?.index ?? text.length;
    this.#partialMark = text.slice(end);
    let from = 0;
    for (const { index, 0: mark, 1: kind } of text.slice(0, end).matchAll(MARK)) {
      this.#keep(text.slice(from, index));
      this.#mark(kind === 'C');
      from = index + mark.length;
    }
    this.#keep(text.slice(from, end));
  }

  text(): OutputText {
    return this.#tail.text();
  }

  #keep(text: string): void {
    if (this.#state !== 'after') this.#tail.append(text);
  }

  /** The end of the previous command may arrive after this one began. */
  #mark(isBegin: boolean): void {
    if (this.#state === 'after') return;
    if (this.#state === 'within') {
      if (!isBegin) this.#state = 'after';
      return;
    }
    this.#tail = new OutputTail(this.#capacity);
    if (isBegin) this.#state = 'within';
  }
}
