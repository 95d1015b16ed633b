// The agent of a wire, in memory: answers what every agent must, and sends what it is told to.
import { STEERING } from '../../../src/acp/proposals/steering';
import type { AgentExit } from '../../../src/agents/agentProcess';
import { Deferred } from '../../../src/base/deferred';
import { at } from '../../../src/base/untrusted';
import type { AgentTransport } from '../../../src/client/transport/agentTransport';
import { MemoryTransport } from '../memoryTransport';
import type { Act, Repetition, Update, Wire } from './wire';

const SESSION_ID = 'wire-session';
const OPENING: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/resume']);
let nextPid = 2 ** 29;

export class WireAgent implements AgentTransport {
  readonly pid = nextPid++;
  readonly transport: MemoryTransport;
  /** The JSON-RPC ids of the prompts that have arrived. */
  readonly prompts: unknown[];
  readonly exited: Promise<AgentExit>;
  readonly #wire: Wire;
  #repeats: Repetition | undefined;
  readonly #end = new Deferred<AgentExit>();
  #requests = 0;
  readonly #waiting: object[] = [];

  constructor(wire: Wire, repeats = wire.repeats, earlier: readonly unknown[] = []) {
    this.#wire = wire;
    this.#repeats = repeats;
    this.prompts = [...earlier];
    this.exited = this.#end.promise;
    this.transport = new Line((message) => this.#take(message));
  }

  stderrTail(): string {
    return '';
  }

  async close(): Promise<AgentExit> {
    this.exits();
    return this.exited;
  }

  dispose(): void {
    void this.close();
  }

  says(update: Update, withNext = false): void {
    const { promptRequestId: named } = update;
    const number = typeof named === 'string' && named.startsWith('#') ? Number(named.slice(1)) : undefined;
    const id = number === undefined ? named : (this.prompts[number - 1] ?? 'none');
    const sent = named === undefined ? update : { ...update, promptRequestId: String(id) };
    this.#send({ method: 'session/update', params: { sessionId: SESSION_ID, update: sent } }, withNext);
  }

  answers({ answers, result = null, error, withNext }: Extract<Act, { answers: number }>): void {
    const id = this.prompts[answers - 1];
    if (id !== undefined) this.#send(error ? { id, error } : { id, result }, withNext);
  }

  exits(): void {
    this.transport.end();
    this.#end.resolve({ code: 0, signal: null, stderr: '' });
  }

  asks(params: object): void {
    const id = `ask-${++this.#requests}`;
    this.#send({ id, method: 'session/request_permission', params: { ...params, sessionId: SESSION_ID } });
  }

  #take(message: Readonly<Record<string, unknown>>): void {
    const { id, method } = message;
    if (method === 'session/ready') this.#repeat('afterReady');
    if (id === undefined || typeof method !== 'string') return;
    if (method === 'session/prompt' || method === STEERING) this.prompts.push(id);
    else if (OPENING.has(method)) {
      this.#repeat('beforeAnswer');
      this.#send({ id, result: { sessionId: SESSION_ID, ...this.#wire.offer } });
      this.#repeat('afterAnswer');
    } else this.#send({ id, result: this.#resultOf(method) });
  }

  #resultOf(method: string): unknown {
    const { status = { status: 'live' } } = this.#wire;
    if (method === 'initialize') return this.#initialized;
    return method === 'session/status' ? status : {};
  }

  get #initialized(): unknown {
    const { protocol, can, initialize, steers } = this.#wire;
    if (initialize !== undefined) return initialize;
    const meta = steers ? { _meta: { steering: { supported: true } } } : {};
    return protocol === 1
      ? { protocolVersion: 1, agentCapabilities: can, ...meta }
      : { protocolVersion: 2, info: { name: 'wire', version: '1' }, capabilities: can, ...meta };
  }

  #repeat(when: keyof Repetition): void {
    const updates = this.#repeats?.[when] ?? [];
    this.#repeats = { ...this.#repeats, [when]: [] };
    for (const update of updates) this.says(update);
  }

  flush(): void {
    this.transport.sayJson(...this.#waiting.splice(0));
  }

  #send(message: object, withNext = false): void {
    this.#waiting.push({ jsonrpc: '2.0', ...message });
    if (!withNext) this.flush();
  }
}

class Line extends MemoryTransport {
  readonly #take: (message: Readonly<Record<string, unknown>>) => void;

  constructor(take: (message: Readonly<Record<string, unknown>>) => void) {
    super();
    this.#take = take;
  }

  override async write(line: string): Promise<void> {
    const message: unknown = JSON.parse(line);
    setImmediate(() => this.#take({ id: at(message, 'id'), method: at(message, 'method') }));
  }
}
