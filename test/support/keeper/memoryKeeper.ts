// A keeper in memory, with an agent that is a function: windows attach to it and are killed in the
// middle of what they do.

import type { LineProgress } from '../../../src/acp/jsonrpc/handledLines';
import type { TransportSink } from '../../../src/acp/jsonrpc/transport';
import type { AgentExit } from '../../../src/agents/agentProcess';
import { Deferred } from '../../../src/base/deferred';
import type { KeptAgent } from '../../../src/client/ports/keptAgent';
import type { AgentKeepers, KeptTransport } from '../../../src/client/transport/agentTransport';

export interface Plug {
  readonly isAlive: () => boolean;
}

interface Spooled {
  readonly text: string;
  isAnswered: boolean;
}

export class MemoryKeeper {
  readonly taken: string[] = [];
  onMessage: (message: Record<string, unknown>) => void = () => {};
  onStart: () => void = () => {};
  readonly #spool = new Map<number, Spooled>();
  #agents = 0;
  readonly #exited = new Deferred<AgentExit>();
  #lines = 0;
  #facts: Uint8Array | undefined;
  #live: ((line: number) => void) | undefined;

  say(message: unknown): void {
    this.#spool.set(++this.#lines, { text: `${JSON.stringify(message)}\n`, isAnswered: false });
    this.#live?.(this.#lines);
  }

  keepers(plug: Plug): AgentKeepers {
    return {
      isOn: true,
      find: () => (this.#agents > 0 ? this.#id : undefined),
      attach: async () => this.#attach(plug, true),
      start: async () => {
        if (plug.isAlive()) this.#start();
        return this.#attach(plug, false);
      },
    };
  }

  get #id(): string {
    return `keeper-${this.#agents}`;
  }

  #start(): void {
    this.#agents++;
    this.#spool.clear();
    this.#lines = 0;
    this.#facts = undefined;
    this.#live = undefined;
    this.onStart();
  }

  #attach(plug: Plug, ranBefore: boolean): KeptTransport {
    const facts = this.#facts;
    let next: Uint8Array | undefined;
    let sink: TransportSink | undefined;
    let progress: LineProgress | undefined = ranBefore ? undefined : { line: 0, open: [] };
    const give = (line: number): void => {
      const spooled = this.#spool.get(line);
      if (!spooled) throw new Error(`line ${line} was forgotten too early`);
      if (plug.isAlive() && !spooled.isAnswered) sink?.data(Buffer.from(spooled.text), line);
    };
    const begin = (): void => {
      if (!sink || !progress) return;
      const { line, open } = progress;
      for (const one of open) if (this.#spool.get(one)?.isAnswered !== true) give(one);
      for (let one = line + 1; one <= this.#lines; one++) give(one);
      this.#live = give;
    };
    const flush = (): void => {
      if (next && plug.isAlive()) this.#facts = next;
      next = undefined;
    };
    const kept: KeptAgent = {
      id: this.#id,
      startedAt: 0,
      ranBefore,
      hasEnded: false,
      facts,
      commands: undefined,
      setFacts: (bytes, now) => {
        if (!next) queueMicrotask(flush);
        next = bytes;
        if (now) flush();
      },
      deliver: (from) => {
        progress = from;
        begin();
      },
      stored: ({ line, open }) => {
        if (!plug.isAlive()) return;
        for (const one of this.#spool.keys()) if (one <= line && !open.includes(one)) this.#spool.delete(one);
      },
      lease: () => {},
      detach: async () => {
        flush();
        sink = undefined;
      },
      lost: new Promise(() => {}),
    };
    return {
      kept,
      pid: 1,
      exited: this.#exited.promise,
      stderrTail: () => '',
      close: async () => {},
      dispose: () => {},
      transport: {
        listen: (one) => {
          sink = one;
          begin();
        },
        write: async (message, answers) => {
          if (!plug.isAlive()) return;
          if (next) this.#facts = next;
          next = undefined;
          const asked = answers === undefined ? undefined : this.#spool.get(answers);
          if (asked) asked.isAnswered = true;
          this.taken.push(message);
          this.onMessage(JSON.parse(message) as Record<string, unknown>);
        },
        dispose: () => {
          sink = undefined;
        },
      },
    };
  }
}
