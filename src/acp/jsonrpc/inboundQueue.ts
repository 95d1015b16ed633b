// Hands over what an agent sends in the order of the wire. Updates and notifications go straight to
// their handlers, those of one chunk of bytes together; requests and responses go through
// vscode-jsonrpc, one at a time, and what arrived behind one waits until it is handled.
import type { Message } from 'vscode-jsonrpc';

/** Takes what needs neither an id nor an answer. Must not throw. */
export interface InboundHandlers {
  /** The params of neighbouring `session/update` notifications. */
  updates(batch: readonly unknown[]): void;
  notification(method: string, params: unknown): void;
  /** The agent withdraws its request of this id. */
  cancel(id: string | number): void;
}

/**
 * A request or response for vscode-jsonrpc, a batch of updates, or anything else that is just
 * called.
 */
type Entry = { readonly message: Message } | { readonly updates: unknown[] } | { readonly run: () => void };

export class InboundQueue {
  readonly #handlers: InboundHandlers;
  #deliver: ((message: Message) => void) | undefined;
  #waiting: Entry[] = [];
  #head = 0;
  /** A message is with vscode-jsonrpc, or those who waited for it have not run yet. */
  #isHeld = false;
  #isDraining = false;

  constructor(handlers: InboundHandlers) {
    this.#handlers = handlers;
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
  pushUpdate(params: unknown): void {
    const last = this.#waiting.at(-1);
    if (last && 'updates' in last) last.updates.push(params);
    else this.#waiting.push({ updates: [params] });
  }

  pushNotification(method: string, params: unknown): void {
    this.#add({ run: () => this.#handlers.notification(method, params) });
  }

  pushCancel(id: string | number): void {
    this.#add({ run: () => this.#handlers.cancel(id) });
  }

  /** Adds a request or a response. */
  push(message: Message): void {
    this.#add({ message });
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
        if ('updates' in entry) this.#handlers.updates(entry.updates);
        else if ('run' in entry) entry.run();
        else {
          this.#isHeld = true;
          this.#deliver(entry.message);
        }
      }
    } finally {
      this.#isDraining = false;
    }
  }

  /**
   * The message was handled. vscode-jsonrpc gives the next one a turn of its own; anything else
   * gets one here, so that code that awaits a response runs before later messages are handled.
   */
  dispatched(): void {
    const next = this.#waiting[this.#head];
    if (next && 'message' in next) this.#release();
    else setImmediate(() => this.#release());
  }

  /** Calls `run` once when all that waits now has been handled; never before this returns. */
  whenDrained(run: () => void): void {
    this.#waiting.push({ run });
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
