// Delivers what an agent sends in wire order. Updates and notifications go straight to their
// handlers, those of one chunk together. Requests and responses go through vscode-jsonrpc one at a
// time, and later messages wait until each is handled.
import type { Message } from 'vscode-jsonrpc';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';

/** Handles notifications. Errors thrown here are logged, and reading continues. */
export interface InboundHandlers {
  /** Params of consecutive `session/update` notifications. */
  onUpdates(batch: readonly unknown[]): void;
  onNotification(method: string, params: unknown): void;
}

/** A request or response for vscode-jsonrpc, a batch of updates, or a callback. */
type Entry = ({ readonly message: Message } | { readonly updates: unknown[] } | { readonly run: () => void }) & {
  line: number;
};

export class InboundQueue {
  readonly #handlers: InboundHandlers;
  readonly #onCancel: (id: string | number) => void;
  readonly #log: Log;
  #deliver: ((message: Message) => void) | undefined;
  #entries: Entry[] = [];
  #head = 0;
  /** vscode-jsonrpc is handling a message, or code that awaited its response has not run yet. */
  #isDispatching = false;
  #isDraining = false;
  handled = 0;
  /** Line of the message that vscode-jsonrpc is handling. */
  #dispatchingLine = 0;

  constructor(handlers: InboundHandlers, onCancel: (id: string | number) => void, log: Log) {
    this.#handlers = handlers;
    this.#onCancel = onCancel;
    this.#log = log;
  }

  /** Ignores lines up to this number: an earlier connection handled them. */
  beginAfter(line: number): void {
    this.handled = line;
  }

  /** Starts delivery. @param deliver passes a request or response to vscode-jsonrpc */
  start(deliver: (message: Message) => void): void {
    this.#deliver = deliver;
    this.flush();
  }

  /** Adds the params of a `session/update`, to be delivered at the next {@link flush}. */
  pushUpdate(params: unknown, line: number): void {
    const last = this.#entries.at(-1);
    if (last && 'updates' in last) {
      last.updates.push(params);
      last.line = line;
    } else this.#entries.push({ updates: [params], line });
  }

  pushNotification(method: string, params: unknown, line: number): void {
    this.#add({ run: () => this.#handlers.onNotification(method, params), line });
  }

  pushCancel(id: string | number, line: number): void {
    this.#add({ run: () => this.#onCancel(id), line });
  }

  push(message: Message, line: number): void {
    this.#add({ message, line });
  }

  /** Delivers queued entries until one has to wait. Call it after each chunk. */
  flush(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (!this.#isDispatching && this.#deliver) {
        const entry = this.#shift();
        if (!entry) return;
        if ('message' in entry) {
          this.#isDispatching = true;
          this.#dispatchingLine = entry.line;
          this.#deliver(entry.message);
        } else {
          this.#markHandled(entry.line);
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

  /** Call before a message is handled. Returns its line number. */
  dispatching(): number {
    this.#markHandled(this.#dispatchingLine);
    return this.#dispatchingLine;
  }

  /**
   * Call after a message was handled. Delivers the next entry in a later turn of the event loop, so
   * that code awaiting a response runs before later messages are handled.
   */
  dispatched(): void {
    const next = this.#entries[this.#head];
    if (next && 'message' in next) this.#release();
    else setImmediate(() => this.#release());
  }

  /** Calls `run` once everything queued so far has been handled, and never synchronously. */
  whenDrained(run: () => void): void {
    this.#entries.push({ run, line: 0 });
    queueMicrotask(() => this.flush());
  }

  clear(): void {
    this.#deliver = undefined;
    this.#entries = [];
    this.#head = 0;
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    this.flush();
  }

  #markHandled(line: number): void {
    this.handled = Math.max(this.handled, line);
  }

  #release(): void {
    this.#isDispatching = false;
    this.flush();
  }

  #shift(): Entry | undefined {
    const entry = this.#entries[this.#head];
    if (!entry) return undefined;
    this.#head++;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    }
    return entry;
  }
}
