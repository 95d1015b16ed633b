// The last messages on the wire, for whoever wants to see them: a bounded ring in memory, redacted when it is shown.
import { window, workspace } from 'vscode';
import { redactSignatures } from '../distributed/resourceUrl';
import { head } from '../session/bounds';
import { redact } from './vscodeLog';

const MAX_LINES = 1000;
const MAX_LINE = 4000;

interface Line {
  readonly at: number;
  readonly key: string;
  readonly dir: 'in' | 'out';
  readonly text: string;
  readonly length: number;
}

export class Traffic {
  readonly #ring: Line[] = [];
  #next = 0;

  /** Notes one line of the wire. Cheap: called for each message. */
  note(key: string, dir: 'in' | 'out', line: string): void {
    this.#ring[this.#next] = {
      at: Date.now(),
      key,
      dir,
      text: line.length > MAX_LINE ? head(line, MAX_LINE) : line,
      length: line.length,
    };
    this.#next = (this.#next + 1) % MAX_LINES;
  }

  /** The lines in order, as text. */
  text(): string {
    const ordered = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    const lines = ordered.map(({ at, key, dir, text, length }) => {
      const cut = length > text.length ? ` … (${length} characters)` : '';
      return `${new Date(at).toISOString()} ${key} ${dir === 'in' ? '<-' : '->'} ${text}${cut}`;
    });
    return redact(redactSignatures(lines.join('\n')));
  }

  /** Opens the lines in an editor. */
  async show(): Promise<void> {
    const content = this.text() || 'Nothing has gone over the wire in this window yet.';
    const document = await workspace.openTextDocument({ content, language: 'log' });
    await window.showTextDocument(document, { preview: true });
  }
}
