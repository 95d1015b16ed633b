// What has arrived and waits its turn. vscode-jsonrpc spends one event-loop turn on each message; a flood of updates cannot pay that, so neighbouring
// `session/update` notifications become one entry here, and the order against everything else stays that of the wire.
import type { Message } from 'vscode-jsonrpc';

/** The method of our in-process messages. It cannot be spoofed: every notification of the wire is wrapped in one, whatever it calls itself. */
export const inboundMethod = 'parley/inbound';

/** What an in-process message carries. */
export type Inbound =
  | { readonly kind: 'updates'; readonly batch: unknown[] }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'cancel'; readonly id: string | number };

interface InboundMessage extends Message {
  readonly method: string;
  readonly params: Inbound;
}

/**
 * Feeds messages to vscode-jsonrpc one at a time. Its own queue is keyed by id, so two waiting messages with one id would overwrite each other; with one at a
 * time it never holds two.
 */
export class InboundQueue {
  #deliver: ((message: Message) => void) | undefined;
  #waiting: Message[] = [];
  #head = 0;
  #inFlight = false;
  #onDrained: (() => void) | undefined;
  #openBatch: unknown[] | undefined;

  /** Begins delivery. */
  start(deliver: (message: Message) => void): void {
    this.#deliver = deliver;
    this.#next();
  }

  /** Adds the params of a `session/update`, joining them to the updates that wait at the end of the queue. */
  pushUpdate(params: unknown): void {
    if (this.#openBatch) {
      this.#openBatch.push(params);
      return;
    }
    const batch = [params];
    this.#add(wrap({ kind: 'updates', batch }));
    this.#openBatch = batch;
  }

  /** Adds any other notification. */
  pushInbound(inbound: Inbound): void {
    this.#add(wrap(inbound));
  }

  /** Adds a request or a response as it came. */
  push(message: Message): void {
    this.#add(message);
  }

  /** The message in flight is about to be handled, so nothing may join it any more. */
  dispatching(): void {
    if (this.#head === this.#waiting.length) this.#openBatch = undefined;
  }

  /** The message in flight was handed over: the next one may follow, in a later turn. */
  dispatched(): void {
    this.#inFlight = false;
    this.#next();
  }

  /** Calls `run` once when all that waits now has been handled; never before this returns. */
  whenDrained(run: () => void): void {
    this.#onDrained = run;
    if (!this.#inFlight) queueMicrotask(() => this.#next());
  }

  /** Forgets what waits. */
  clear(): void {
    this.#deliver = undefined;
    this.#waiting = [];
    this.#head = 0;
    this.#openBatch = undefined;
    this.#onDrained = undefined;
  }

  #add(message: Message): void {
    this.#openBatch = undefined;
    this.#waiting.push(message);
    this.#next();
  }

  #next(): void {
    if (this.#inFlight || !this.#deliver) return;
    const message = this.#waiting[this.#head];
    if (!message) {
      const run = this.#onDrained;
      this.#onDrained = undefined;
      run?.();
      return;
    }
    this.#head++;
    if (this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    this.#inFlight = true;
    this.#deliver(message);
  }
}

function wrap(params: Inbound): InboundMessage {
  return { jsonrpc: '2.0', method: inboundMethod, params };
}
