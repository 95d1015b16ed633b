// The newest messages on the wire, in bounded memory.
import { head } from '../../base/text';

const MAX_LINES = 1000;
const MAX_LINE = 4000;
/**
 * Kept beyond that, so that a secret at the end of what is shown is whole when it is looked for.
 */
const MARGIN = 1000;

interface Line {
  readonly at: number;
  readonly key: string;
  readonly dir: 'in' | 'out';
  readonly text: string;
  readonly length: number;
}

/** Keeps the beginnings of the last 1,000 messages. */
export class TrafficRing {
  readonly #ring: Line[] = [];
  #next = 0;

  /** Notes one line of the wire. Cheap: called for each message. @param at ms since 1970 */
  note(key: string, dir: 'in' | 'out', line: string, at: number): void {
    this.#ring[this.#next] = { at, key, dir, text: head(line, MAX_LINE + MARGIN), length: line.length };
    this.#next = (this.#next + 1) % MAX_LINES;
  }

  /** The lines in order, as text. @param clean takes secrets out of a line */
  text(clean: (line: string) => string = (line) => line): string {
    const ordered = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    const lines = ordered.map(({ at, key, dir, text, length }) => {
      const cut = length > MAX_LINE ? ` … (${length} characters)` : '';
      return `${new Date(at).toISOString()} ${key} ${dir === 'in' ? '<-' : '->'} ${head(clean(text), MAX_LINE)}${cut}`;
    });
    return lines.join('\n');
  }
}
