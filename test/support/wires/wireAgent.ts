// The agent of a wire, in memory: answers what every agent must, and sends what the wire says.
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
  #unrepeated: { readonly id: unknown; readonly content: unknown }[] = [];
  #isIdle = false;
  #unanswered: { readonly id: unknown; readonly method: string }[] = [];

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
    if (update.state !== undefined) this.#isIdle = update.state === 'idle';
    if (this.#isIdle) this.#unrepeated = [];
    const number = typeof named === 'string' && named.startsWith('#') ? Number(named.slice(1)) : undefined;
    const id = number === undefined ? named : (this.prompts[number - 1] ?? 'none');
    const sent = named === undefined ? update : { ...update, promptRequestId: String(id) };
    this.#send({ method: 'session/update', params: { sessionId: SESSION_ID, update: sent } }, withNext);
  }

  answers({ answers, result = null, error, withNext }: Extract<Act, { answers: unknown }>): void {
    const oldest = this.#unanswered.find(({ method }) => method === answers);
    const id = typeof answers === 'number' ? this.prompts[answers - 1] : oldest?.id;
    this.#unanswered = this.#unanswered.filter((one) => one.id !== id);
    const outcome = at(result, 'outcome');
    // What it has not taken in, an agent doesn't repeat.
    if (error || outcome === 'promptRequired' || outcome === 'failed')
      this.#unrepeated = this.#unrepeated.filter((one) => one.id !== id);
    if (id !== undefined) this.#send(error ? { id, error } : { id, result }, withNext);
  }

  /** Agents repeat what they work on. */
  echoes(): void {
    if (this.#isIdle) this.#unrepeated = [];
    const { id, content } = this.#unrepeated.shift() ?? {};
    const messageId = `u${this.prompts.indexOf(id) + 1}`;
    if (content !== undefined) this.says({ sessionUpdate: 'user_message_chunk', messageId, content });
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
    const { id, method, params } = message;
    if (method === 'session/ready') this.#repeat('afterReady');
    if (id === undefined || typeof method !== 'string') return;
    if (method === 'session/prompt' || method === STEERING) {
      this.prompts.push(id);
      this.#unanswered.push({ id, method });
      this.#unrepeated.push({ id, content: at(params, 'prompt', '0') });
    } else if (OPENING.has(method)) {
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
    setImmediate(() =>
      this.#take({ id: at(message, 'id'), method: at(message, 'method'), params: at(message, 'params') }),
    );
  }
}
