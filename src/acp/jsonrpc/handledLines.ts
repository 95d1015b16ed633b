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
  readonly #asked = new Map<Id, number>();
  readonly #answers = new Map<Id, number>();
  #again: readonly number[] = [];
  #last = 0;

  resume({ line, open }: LineProgress): void {
    this.#last = line;
    this.#again = open;
  }

  handling(message: Message, line: number): void {
    if (this.#again.length > 0) this.#again = line > this.#last ? [] : this.#again.filter((one) => one !== line);
    if (Message.isRequest(message) && message.id !== null) this.#asked.set(message.id, line);
  }

  answered(id: Id, line: number): void {
    this.#answers.set(id, line);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }

  answers(message: Message): number | undefined {
    if (!Message.isResponse(message) || message.id === null) return undefined;
    const line = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    return line;
  }

  progress(line: number, awaited: ReadonlySet<string>): LineProgress {
    for (const id of this.#answers.keys()) if (!awaited.has(String(id))) this.#answers.delete(id);
    const open = [...this.#again, ...this.#asked.values(), ...this.#answers.values()];
    return { line, open: open.sort((one, two) => one - two) };
  }
}
