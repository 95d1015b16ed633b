// A bare JSON-RPC client over an agent's stdio, for tests of agents: nothing of the extension's own
// wire is in it, so that it can judge both sides.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';

/** An entry of `parley.agents`: a subprocess. */
export interface AgentDefinition {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into what an agent sent, and a wrong shape fails their assertions
export type Wild = any;

/** Any JSON-RPC message, as far as tests look into it. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Wild;
  readonly result?: Wild;
  readonly error?: Wild;
}

/** Answers a request of the agent; the result, or a thrown {@link Refusal}. */
export type Answer = (params: Message['params'], id: number | string) => unknown;

/** Thrown by an {@link Answer}: the request gets this error. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** How an agent's process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class RawClient {
  /** Everything received, in order. */
  readonly received: Message[] = [];
  /** Lines of stdout that were no JSON. */
  readonly noise: string[] = [];
  stderr = '';
  readonly ended: Promise<Ending>;
  /** Settles when stdout is closed, which may be before the end. */
  readonly stdoutClosed: Promise<void>;
  readonly #process: ChildProcess;
  readonly #answers: Record<string, Answer>;
  readonly #waiting = new Set<() => void>();
  #nextId = 0;
  #ending: Ending | undefined;

  /** @param answers by method; a method that is missing is answered -32601 */
  constructor(definition: AgentDefinition, cwd: string, answers: Record<string, Answer> = {}) {
    this.#answers = answers;
    this.#process = spawn(definition.command, [...definition.args], {
      cwd,
      env: { ...process.env, ...definition.env },
      detached: true,
      stdio: 'pipe',
    });
    this.ended = new Promise((resolve) => {
      this.#process.on('close', (code, signal) => {
        this.#ending = { code, signal };
        this.#wake();
        resolve(this.#ending);
      });
      this.#process.on('error', () => resolve({ code: null, signal: null }));
    });
    this.stdoutClosed = new Promise((resolve) => this.#process.stdout?.on('close', () => resolve()));
    this.#process.stdin?.on('error', () => {});
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    const decoder = new StringDecoder('utf8');
    let parts: string[] = [];
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      const lines = decoder.write(chunk).split('\n');
      parts.push(lines.shift() ?? '');
      for (const line of lines) {
        this.#line(parts.join(''));
        parts = [line];
      }
      this.#wake();
    });
  }

  get pid(): number {
    return this.#process.pid ?? -1;
  }

  /** Sends a request. @returns its id, and a promise of the message that answers it */
  send(method: string, params: unknown): { readonly id: number; readonly answer: Promise<Message> } {
    const id = this.#nextId++;
    this.raw({ jsonrpc: '2.0', id, method, params });
    return { id, answer: this.until((message) => message.id === id && message.method === undefined) };
  }

  /**
   * Sends a request and gives its result.
   * @throws Error with the agent's code and words if it answers with an error
   */
  async request(method: string, params: unknown): Promise<Wild> {
    const { error, result } = await this.send(method, params).answer;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  notify(method: string, params: unknown): void {
    this.raw({ jsonrpc: '2.0', method, params });
  }

  /** Writes any value as a line, or a string as it is. */
  raw(message: unknown): void {
    this.#process.stdin?.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  }

  /**
   * The first message received, from `from` on, that fits.
   * @throws Error if the agent's process ends before
   */
  async until(fits: (message: Message) => boolean, from = 0): Promise<Message> {
    let next = from;
    for (;;) {
      for (; next < this.received.length; next++) {
        const message = this.received[next];
        if (message !== undefined && fits(message)) return message;
      }
      if (this.#ending)
        throw new Error(`The agent ended (${JSON.stringify(this.#ending)}): ${this.stderr.slice(-2000)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** The first update of a kind. */
  async untilUpdate(kind: string, from = 0): Promise<Wild> {
    const found = await this.until((message) => message.params?.update?.sessionUpdate === kind, from);
    return found.params.update;
  }

  /** The updates received from `from` on, of one kind or of all. */
  updates(kind?: string, from = 0): Wild[] {
    return this.received
      .slice(from)
      .flatMap((message) => (message.method === 'session/update' ? [message.params.update] : []))
      .filter((update) => kind === undefined || update.sessionUpdate === kind);
  }

  /** The text of all chunks of a kind, joined. */
  text(kind = 'agent_message_chunk', from = 0): string {
    return this.updates(kind, from)
      .map((update) => update.content?.text ?? '')
      .join('');
  }

  /**
   * Ends the agent: stdin closed, then SIGTERM and SIGKILL to its process group. Each step waits
   * for the process or for its time.
   */
  async close(graceMs = 3000): Promise<Ending> {
    this.#process.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#endedWithin(graceMs)) break;
      this.#killGroup(signal);
    }
    const ending = await this.ended;
    this.#killGroup('SIGKILL'); // what the agent left behind in its group
    return ending;
  }

  async #endedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const ended = await Promise.race([this.ended.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  #killGroup(signal: 'SIGTERM' | 'SIGKILL'): void {
    try {
      process.kill(-this.pid, constants.signals[signal]);
    } catch {
      // the group is empty
    }
  }

  #line(line: string): void {
    if (line.trim() === '') return;
    let message: Message;
    try {
      message = JSON.parse(line.replace(/^\uFEFF/, ''));
    } catch {
      this.noise.push(line);
      return;
    }
    this.received.push(message);
    const { id, method } = message;
    if (method !== undefined && id !== undefined && id !== null) void this.#answer(id, method, message.params);
  }

  async #answer(id: number | string, method: string, params: Message['params']): Promise<void> {
    try {
      const answer = this.#answers[method];
      if (answer === undefined) throw new Refusal(-32601, `Method not found: ${method}`);
      this.raw({ jsonrpc: '2.0', id, result: await answer(params, id) });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : -32603;
      this.raw({
        jsonrpc: '2.0',
        id,
        error: { code, message: error instanceof Error ? error.message : String(error) },
      });
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/**
 * Answers for fs/*: the disk as it is. A file that is missing reads as empty, since an agent that
 * is about to create it asks first.
 */
export const diskAnswers: Record<string, Answer> = {
  'fs/read_text_file': async ({ path }) => ({ content: await readFile(path, 'utf8').catch(() => '') }),
  'fs/write_text_file': async ({ path, content }) => {
    await writeFile(path, content);
    return {};
  },
};

/**
 * Answers a permission for this once if it has such an option, else with any option of that
 * kind; `cancelled` if it has none.
 */
export function choose(kind: 'allow' | 'reject'): Answer {
  return (params) => {
    const fitting = params.options.filter((option: { kind: string }) => option.kind.startsWith(kind));
    const option = fitting.find((one: { kind: string }) => one.kind === `${kind}_once`) ?? fitting[0];
    return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
  };
}
