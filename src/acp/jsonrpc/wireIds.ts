// The ids of our requests on the wire. vscode-jsonrpc counts from 0 in each connection; ours count
// from a number that no other connection has. Several clients may share one session, and an agent
// names a prompt by its id to all of them (turnComplete.ts). A connection that continues an earlier
// one with the same agent continues its ids.
import { randomInt } from 'node:crypto';
import { Message } from 'vscode-jsonrpc';

const FIRST_IDS = { min: 1, max: 2 ** 30 };

export function newFirstId(): number {
  return randomInt(FIRST_IDS.min, FIRST_IDS.max);
}

export class WireIds {
  readonly #first: number;
  #next: number;

  constructor(first: number) {
    this.#first = first;
    this.#next = first;
  }

  get next(): number {
    return this.#next;
  }

  readonly toWire = (message: Message): Message => {
    if (!Message.isRequest(message) || typeof message.id !== 'number') return message;
    const id = this.idOf(message.id);
    this.#next = Math.max(this.#next, id + 1);
    return id === message.id ? message : ({ ...message, id } as Message);
  };

  idOf(id: number): number {
    return id + this.#first;
  }

  toInner(message: Message, id: string | number): Message {
    const inner = typeof id === 'number' ? id - this.#first : id;
    return { ...message, id: inner } as Message;
  }
}
