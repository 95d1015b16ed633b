// Tracks which numbered lines of an agent are done: all up to the last one that was handed over,
// except requests that we have not answered and responses that are still needed.
import { Message } from 'vscode-jsonrpc';

export interface LineProgress {
  readonly line: number;
  readonly open: readonly number[];
}

type Id = string | number;

/** Maximum answers to remember: more requests are never open together. */
const MAX_ANSWERS = 1000;

export class HandledLines {
  readonly #requestLines = new Map<Id, number>();
  readonly #responseLines = new Map<Id, number>();
  #unhandledBefore: readonly number[] = [];
  #lastLine = 0;

  resume({ line, open }: LineProgress): void {
    this.#lastLine = line;
    this.#unhandledBefore = open;
  }

  handling(message: Message, line: number): void {
    if (this.#unhandledBefore.length > 0)
      this.#unhandledBefore = line > this.#lastLine ? [] : this.#unhandledBefore.filter((one) => one !== line);
    if (Message.isRequest(message) && message.id !== null) this.#requestLines.set(message.id, line);
  }

  answered(id: Id, line: number): void {
    this.#responseLines.set(id, line);
    const [oldest] = this.#responseLines.keys();
    if (this.#responseLines.size > MAX_ANSWERS && oldest !== undefined) this.#responseLines.delete(oldest);
  }

  answers(message: Message): number | undefined {
    if (!Message.isResponse(message) || message.id === null) return undefined;
    const line = this.#requestLines.get(message.id);
    this.#requestLines.delete(message.id);
    return line;
  }

  progress(line: number, awaited: ReadonlySet<string>): LineProgress {
    for (const id of this.#responseLines.keys()) if (!awaited.has(String(id))) this.#responseLines.delete(id);
    const open = [...this.#unhandledBefore, ...this.#requestLines.values(), ...this.#responseLines.values()];
    return { line, open: open.sort((one, two) => one - two) };
  }
}
