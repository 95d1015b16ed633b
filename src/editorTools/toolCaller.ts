// The tools of one session and the limits on concurrent calls.

import type { ToolAnswer } from './answer';
import { TOOLS, type ToolArgs, type ToolEffect, type ToolName } from './tools';

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface OtherTools {
  list(): readonly ListedTool[];
  /** @throws Error with a sentence for the model */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}

export type ToolCall<Name extends ToolName> = (args: ToolArgs<Name>, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolCaller {
  readonly version: string;
  tools(): readonly ToolName[];
  listed?(count: number): void;
  /** `args` as from `readArgs`. Throws Error with a sentence for the model. */
  call<Name extends ToolName>(name: Name, args: ToolArgs<Name>, signal: AbortSignal): Promise<ToolAnswer>;
  readonly others: OtherTools;
}

const LIMITS: Readonly<Record<ToolEffect, { readonly running: number; readonly waiting: number }>> = {
  read: { running: 8, waiting: 64 },
  // These wait for the user, and must not block reads.
  write: { running: 4, waiting: 16 },
};

export class CallLimit {
  readonly #limit: { readonly running: number; readonly waiting: number };
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(limit: { readonly running: number; readonly waiting: number }) {
    this.#limit = limit;
  }

  /** @throws the reason of `signal`; Error with a sentence for the model if too many calls wait */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#running >= this.#limit.running) await this.#waitForSlot(signal);
    else this.#running++;
    try {
      signal.throwIfAborted();
      return await call();
    } finally {
      const [next] = this.#queue;
      if (next) next();
      else this.#running--;
    }
  }

  async #waitForSlot(signal: AbortSignal): Promise<void> {
    if (this.#queue.size >= this.#limit.waiting)
      throw new Error('Too many calls at once: wait for the answers to the others.');
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        this.#queue.delete(start);
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#queue.delete(start);
        reject(signal.reason);
      };
      this.#queue.add(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

export function limitCalls(caller: ToolCaller): ToolCaller {
  const limits = { read: new CallLimit(LIMITS.read), write: new CallLimit(LIMITS.write) };
  return {
    version: caller.version,
    tools: () => caller.tools(),
    call: (name, args, signal) => limits[TOOLS[name].effect].run(() => caller.call(name, args, signal), signal),
    others: {
      list: () => caller.others.list(),
      call: (name, args, signal) => limits.write.run(() => caller.others.call(name, args, signal), signal),
    },
  };
}
