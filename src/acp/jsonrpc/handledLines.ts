// Which numbered lines of an agent are done with: all up to the last one that was handed over, but
// for requests without our answer, and answers to requests that still matter.
import { Message } from 'vscode-jsonrpc';

/** How far the lines of an agent were handled. */
export interface LineProgress {
  /** Number of the last line that was handled; the first line of an agent has number 1. */
  readonly line: number;
  /** Numbers up to `line` of the lines that have to be delivered again, ascending. */
  readonly open: readonly number[];
}

type Id = string | number;

/** Answers that are remembered: more requests than that never matter at once. */
const MAX_ANSWERS = 1000;

export class HandledLines {
  /** Lines of the agent's requests, by id. */
  readonly #asked = new Map<Id, number>();
  /** Lines of the answers to ours, by id. */
  readonly #answers = new Map<Id, number>();
  /** Lines of before that are still to be delivered again, which comes before all new ones. */
  #again: readonly number[] = [];
  #last = 0;

  /** An earlier connection has handled so much. */
  resume({ line, open }: LineProgress): void {
    this.#last = line;
    this.#again = open;
  }

  /** A message of the agent is about to be handled. */
  handling(message: Message, line: number): void {
    if (this.#again.length > 0) this.#again = line > this.#last ? [] : this.#again.filter((one) => one !== line);
    if (Message.isRequest(message) && message.id !== null) this.#asked.set(message.id, line);
  }

  /** The agent has answered a request of ours. */
  answered(id: Id, line: number): void {
    this.#answers.set(id, line);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }

  /** Returns the line whose request a message of ours answers; that line is done with then. */
  answers(message: Message): number | undefined {
    if (!Message.isResponse(message) || message.id === null) return undefined;
    const line = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    return line;
  }

  /** @param awaited ids of our requests, as text, whose answers have to be delivered again */
  progress(line: number, awaited: ReadonlySet<string>): LineProgress {
    for (const id of this.#answers.keys()) if (!awaited.has(String(id))) this.#answers.delete(id);
    const open = [...this.#again, ...this.#asked.values(), ...this.#answers.values()];
    return { line, open: open.sort((one, two) => one - two) };
  }
}
