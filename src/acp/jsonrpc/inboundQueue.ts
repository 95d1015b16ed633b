// Hands over what an agent sends in the order of the wire. Updates and notifications go straight to
// their handlers, those of one chunk of bytes together; requests and responses go through
// vscode-jsonrpc, one at a time, and what arrived behind one waits until it is handled.
import type { Message } from 'vscode-jsonrpc';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';

/**
 * Takes what needs neither an id nor an answer. Errors that it throws are logged, and reading
 * continues.
 */
export interface InboundHandlers {
  /** The params of neighbouring `session/update` notifications. */
  onUpdates(batch: readonly unknown[]): void;
  onNotification(method: string, params: unknown): void;
}

/**
 * A request or response for vscode-jsonrpc, a batch of updates, or anything else that is just
 * called.
 */
type Entry = ({ readonly message: Message } | { readonly updates: unknown[] } | { readonly run: () => void }) & {
  /** The number of its line, of several the last one. */
  line: number;
};

export class InboundQueue {
  readonly #handlers: InboundHandlers;
  readonly #onCancel: (id: string | number) => void;
  readonly #log: Log;
  #deliver: ((message: Message) => void) | undefined;
  #waiting: Entry[] = [];
  #head = 0;
  /** A message is with vscode-jsonrpc, or those who waited for it have not run yet. */
  #isHeld = false;
  #isDraining = false;
  /** The highest number of a line that was handed over, or is being handed over. */
  handled = 0;
  /** The line of the message that is with vscode-jsonrpc. */
  #heldLine = 0;

  /** @param onCancel the agent withdraws its request of this id */
  constructor(handlers: InboundHandlers, onCancel: (id: string | number) => void, log: Log) {
    this.#handlers = handlers;
    this.#onCancel = onCancel;
    this.#log = log;
  }

  /** Lines up to a number were handed over before: only what is numbered higher counts. */
  beginAfter(line: number): void {
    this.handled = line;
  }

  /** Begins delivery. @param deliver gives a request or a response to vscode-jsonrpc */
  start(deliver: (message: Message) => void): void {
    this.#deliver = deliver;
    this.flush();
  }

  /**
   * Adds the params of a `session/update`; handed over with its neighbours at the next {@link
   * flush}.
   */
  pushUpdate(params: unknown, line: number): void {
    const last = this.#waiting.at(-1);
    if (last && 'updates' in last) {
      last.updates.push(params);
      last.line = line;
    } else this.#waiting.push({ updates: [params], line });
  }

  pushNotification(method: string, params: unknown, line: number): void {
    this.#add({ run: () => this.#handlers.onNotification(method, params), line });
  }

  pushCancel(id: string | number, line: number): void {
    this.#add({ run: () => this.#onCancel(id), line });
  }

  /** Adds a request or a response. */
  push(message: Message, line: number): void {
    this.#add({ message, line });
  }

  /**
   * Hands over what waits, as far as no message is in the way; to be called at the end of each
   * chunk.
   */
  flush(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (!this.#isHeld && this.#deliver) {
        const entry = this.#take();
        if (!entry) return;
        if ('message' in entry) {
          this.#isHeld = true;
          this.#heldLine = entry.line;
          this.#deliver(entry.message);
        } else {
          this.#handles(entry.line);
          try {
            if ('updates' in entry) this.#handlers.onUpdates(entry.updates);
            else entry.run();
          } catch (error) {
            this.#log.error(`Handling a notification of the agent failed: ${messageOf(error)}`);
          }
        }
      }
    } finally {
      this.#isDraining = false;
    }
  }

  /** The message is about to be handled. Returns the number of its line. */
  dispatching(): number {
    this.#handles(this.#heldLine);
    return this.#heldLine;
  }

  /**
   * The message was handled. vscode-jsonrpc gives the next one a separate turn; anything else
   * gets one here, so that code that awaits a response runs before later messages are handled.
   */
  dispatched(): void {
    const next = this.#waiting[this.#head];
    if (next && 'message' in next) this.#release();
    else setImmediate(() => this.#release());
  }

  /** Calls `run` once when all that waits now has been handled; never before this returns. */
  whenDrained(run: () => void): void {
    this.#waiting.push({ run, line: 0 });
    queueMicrotask(() => this.flush());
  }

  /** Forgets what waits, and delivers nothing more. */
  clear(): void {
    this.#deliver = undefined;
    this.#waiting = [];
    this.#head = 0;
  }

  #add(entry: Entry): void {
    this.#waiting.push(entry);
    this.flush();
  }

  #handles(line: number): void {
    this.handled = Math.max(this.handled, line);
  }

  #release(): void {
    this.#isHeld = false;
    this.flush();
  }

  #take(): Entry | undefined {
    const entry = this.#waiting[this.#head];
    if (!entry) return undefined;
    this.#head++;
    if (this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    return entry;
  }
}
