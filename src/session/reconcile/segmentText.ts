// The text of one role between two user messages, in which replayed text is found.
import { bareTextOf } from '../model/entryText';
import type { MessageEntry } from '../model/state';

/** Shorter texts are too common to identify a message. Characters without whitespace. */
export const MIN_MATCH_CHARS = 8;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What one role said between two user messages, and which of it has been matched. */
export class SegmentText {
  readonly #messages: { readonly start: number; readonly entry: MessageEntry }[] = [];
  readonly #pieces: string[] = [];
  #length = 0;
  #text: string | undefined;
  #open: Span[] = [];
  #cursor = 0;

  add(entry: MessageEntry): void {
    const bare = bareTextOf(entry);
    if (bare === '') return;
    this.#messages.push({ start: this.#length, entry });
    this.#pieces.push(bare);
    this.#length += bare.length;
    this.#open = [{ start: 0, end: this.#length }];
  }

  /**
   * Finds a text that is here whole: right after the last match if possible, otherwise behind it,
   * otherwise before it.
   */
  find(words: string, strict: boolean): MessageEntry | undefined {
    const text = this.#whole();
    const goesOn = !strict || this.#cursor > 0;
    if (goesOn && text.startsWith(words, this.#cursor) && this.#isOpen(this.#cursor, words.length))
      return this.#take(this.#cursor, words.length);
    const at = words.length < MIN_MATCH_CHARS ? this.#findMessage(words, strict) : this.#findIn(words);
    return at === undefined ? undefined : this.#take(at, words.length);
  }

  /** Finds the beginning of a text whose end is missing here. */
  findBeginning(words: string): { readonly entry: MessageEntry; readonly length: number } | undefined {
    const text = this.#whole();
    const last = this.#messages.at(-1);
    const open = this.#open.at(-1);
    if (!last || open?.end !== this.#length) return undefined;
    const overlap = this.#overlapWith(words, open);
    if (overlap > 0) {
      this.#take(this.#length - overlap, overlap);
      return { entry: last.entry, length: overlap };
    }
    const end = text.slice(Math.max(open.start, last.start));
    const at = end.length < MIN_MATCH_CHARS ? -1 : words.indexOf(end);
    if (at < 0) return undefined;
    this.#take(this.#length - end.length, end.length);
    return { entry: last.entry, length: at + end.length };
  }

  /** Returns the number of characters at the end of this text with which `words` starts. */
  #overlapWith(words: string, { start }: Span): number {
    const text = this.#whole();
    const head = words.slice(0, MIN_MATCH_CHARS);
    for (let at = text.indexOf(head, start); at >= 0; at = text.indexOf(head, at + 1))
      if (words.startsWith(text.slice(at))) return this.#length - at;
    const starts = [...(start === this.#cursor ? [start] : []), ...this.#messages.map((one) => one.start)];
    const from = starts.filter((one) => one >= start && this.#length - one < MIN_MATCH_CHARS);
    const at = from.find((one) => words.startsWith(text.slice(one)));
    return at === undefined ? 0 : this.#length - at;
  }

  #whole(): string {
    this.#text ??= this.#pieces.join('');
    return this.#text;
  }

  #isOpen(start: number, length: number): boolean {
    return this.#open.some((span) => span.start <= start && start + length <= span.end);
  }

  #findMessage(words: string, strict: boolean): number | undefined {
    const text = this.#whole();
    return this.#messages.find(({ start }, index) => {
      const length = (this.#messages[index + 1]?.start ?? this.#length) - start;
      if (strict && length !== words.length) return false;
      return text.startsWith(words, start) && this.#isOpen(start, words.length);
    })?.start;
  }

  #findIn(words: string): number | undefined {
    const text = this.#whole();
    const ahead = this.#open.filter(({ end }) => end > this.#cursor);
    const behind = this.#open.filter(({ end }) => end <= this.#cursor);
    for (const { start, end } of [...ahead, ...behind]) {
      const at = text.slice(start, end).indexOf(words);
      if (at >= 0) return start + at;
    }
    return undefined;
  }

  #take(start: number, length: number): MessageEntry | undefined {
    const end = start + length;
    this.#open = this.#open.flatMap((span) => {
      if (span.end <= start || span.start >= end) return [span];
      const before = { start: span.start, end: start };
      const after = { start: end, end: span.end };
      return [before, after].filter((one) => one.start < one.end);
    });
    this.#cursor = Math.max(this.#cursor, end);
    return this.#messages.findLast((one) => one.start <= start)?.entry;
  }
}
