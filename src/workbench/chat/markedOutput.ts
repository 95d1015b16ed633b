// What one command printed, cut out of what its terminal received: shells with shell integration mark
// where the output of a command begins and ends.
import { OutputTail, type OutputText } from '../../terminals/outputTail';

/** C: what a command prints begins; D: it has ended (of VS Code's shell integration and of FinalTerm's). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin and end with them
const MARK = /\u001b\][16]33;([CD])(?:;[^\u0007\u001b]{0,32})?(?:\u0007|\u001b\\)/g;
/** The beginning of a mark whose rest has not come. */
const BEGUN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks begin and end with them
  /\u001b(?:\](?:[16](?:3(?:3(?:;(?:[CD](?:;[^\u0007\u001b]{0,32})?\u001b?)?)?)?)?)?)?$/;

/** Keeps the end of what stands between the marks of one command. */
export class MarkedOutput {
  readonly #capacity: number;
  #tail: OutputTail;
  #rest = '';
  #state: 'before' | 'within' | 'after' = 'before';

  /** @param capacity bytes of UTF-8 that are kept */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#tail = new OutputTail(capacity);
  }

  /** Takes what the terminal received next, in pieces of any size. */
  append(piece: string): void {
    const text = this.#rest + piece;
    const end = BEGUN.exec(text)?.index ?? text.length;
    this.#rest = text.slice(end);
    let from = 0;
    for (const { index, 0: mark, 1: kind } of text.slice(0, end).matchAll(MARK)) {
      this.#keep(text.slice(from, index));
      this.#mark(kind === 'C');
      from = index + mark.length;
    }
    this.#keep(text.slice(from, end));
  }

  /** What is kept; where no mark of a beginning came, all since the end of the command before. */
  text(): OutputText {
    return this.#tail.text();
  }

  #keep(text: string): void {
    if (this.#state !== 'after') this.#tail.append(text);
  }

  /** The end of the command before may come late, after this one has been told of. */
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
