// An ACP v2 agent for tests that does what it is told, step by step, so that each order of echo, receipt and states can be played. Usage: node v2ScriptedAgent.js [JSON];
// $AGENT_LOG: its log. The lines of a prompt are its steps (v2Steps.ts). When the client breaks a MUST it exits with status 9 and a line "VIOLATION …" on stderr.
import { isAbsolute } from 'node:path';
import { at } from '../../../src/demo/input';
import { AgentWire } from './agentWire';
import { type Host, isProgram, type Prompt, V2Program } from './v2Steps';

/** What a test may say of the agent. */
export interface V2Script {
  /** The versions that it speaks; default: 2 alone. */
  readonly versions?: readonly number[];
  /** How it answers an offer that it does not speak: its highest version, as v1 has it (default where it speaks 1), or -32022. */
  readonly refuses?: boolean;
  /** Its own version, for clients that remember agents. */
  readonly version?: string;
  readonly turnComplete?: boolean;
  readonly commands?: readonly object[];
  readonly configOptions?: readonly Record<string, unknown>[];
}

const V2_METHODS = new Set([
  'initialize',
  'auth/login',
  'auth/logout',
  'session/new',
  'session/list',
  'session/resume',
  'session/close',
  'session/prompt',
  'session/set_config_option',
  'tool_call/cancel',
  'terminal/cancel',
]);

class V2ScriptedAgent implements Host {
  readonly wire = new AgentWire(false);
  readonly #script: V2Script;
  readonly #answers = new Map<unknown, (message: Record<string, unknown>) => void>();
  readonly #waiting: Prompt[] = [];
  readonly #arrivals: (() => void)[] = [];
  readonly #cancels: (() => void)[] = [];
  #version = 0;
  #sequence = 0;
  #isRunning = false;
  /** A cancel came that nobody has waited for yet. */
  #isCancelled = false;

  constructor(script: V2Script) {
    this.#script = script;
  }

  start(): void {
    this.wire.log({ ev: 'start' });
    this.wire.listen(
      (line) => this.#receive(JSON.parse(line) as Record<string, unknown>),
      () => process.exit(0),
    );
  }

  // ---- What steps ask of it ------------------------------------------------------------------------------------------

  async update(update: object): Promise<void> {
    await this.wire.send({ method: 'session/update', params: { sessionId: 's1', update } });
  }

  ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = `agent-${++this.#sequence}`;
    const answer = new Promise<Record<string, unknown>>((resolve) => this.#answers.set(id, resolve));
    void this.wire.send({ id, method, params: { sessionId: 's1', ...params } });
    return answer;
  }

  nextPrompt(): Prompt | undefined {
    return this.#waiting.shift();
  }

  async promptArrives(): Promise<void> {
    if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  async cancelComes(): Promise<void> {
    if (!this.#isCancelled) await new Promise<void>((resolve) => this.#cancels.push(resolve));
    this.#isCancelled = false;
  }

  // ---- What the client says ------------------------------------------------------------------------------------------

  #violation(reason: string): never {
    this.wire.log({ ev: 'violation', reason });
    this.wire.say(`VIOLATION ${reason}`);
    process.exit(9);
  }

  #receive(message: Record<string, unknown>): void {
    this.wire.log({ dir: 'in', msg: message });
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#answers.get(id)?.(message);
      this.#answers.delete(id);
    } else if (method === 'session/cancel') {
      if (id !== undefined) this.#violation('session/cancel as a request');
      this.#cancel();
    } else if (id !== undefined) void this.#respond(id, method, params);
  }

  /** What was not taken in is given back, and whoever waits for a cancel goes on. */
  #cancel(): void {
    for (const { id } of this.#waiting.splice(0))
      void this.wire.send({ id, error: { code: -32800, message: 'Request cancelled' } });
    this.#isCancelled = true;
    for (const resolve of this.#cancels.splice(0)) resolve();
  }

  async #respond(id: unknown, method: string, params: unknown): Promise<void> {
    if (method !== 'initialize' && this.#version === 0) this.#violation(`${method} before initialize`);
    if (method === 'session/prompt') this.#prompt(id, params);
    else await this.wire.send({ id, ...(await this.#answer(method, params)) });
  }

  async #answer(method: string, params: unknown): Promise<object> {
    if (this.#version === 2 && !V2_METHODS.has(method)) this.#violation(`${method}, which version 2 does not have`);
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'session/new':
        if (!isAbsolute(String(at(params, 'cwd')))) this.#violation('session/new with a relative cwd');
        return { result: { sessionId: 's1', ...this.#offer() } };
      case 'session/resume':
        return { result: await this.#resume(params) };
      case 'session/set_config_option':
        if (at(params, 'type') !== (typeof at(params, 'value') === 'boolean' ? 'boolean' : 'id'))
          this.#violation('session/set_config_option without the type of its value');
        return { result: { configOptions: this.#changed(params) } };
      default:
        return { result: {} };
    }
  }

  #initialize(params: unknown): object {
    if (this.#version !== 0) this.#violation('a second initialize');
    const { versions = [2], refuses = !versions.includes(1) } = this.#script;
    const requested = Number(at(params, 'protocolVersion'));
    if (requested === 2 && typeof at(params, 'info', 'version') !== 'string')
      this.#violation('initialize without info');
    if (requested === 1 && at(params, 'clientCapabilities') === undefined)
      this.#violation('initialize without v1 params');
    const spoken = versions.includes(requested) ? requested : Math.max(...versions);
    if (spoken !== requested && refuses)
      return {
        error: { code: -32022, message: 'Unsupported protocol version', data: { requested, supported: versions } },
      };
    this.#version = spoken;
    const info = { name: 'v2-scripted-agent', version: this.#script.version ?? '1.0.0' };
    if (spoken !== 2) return { result: { protocolVersion: spoken, agentInfo: info, agentCapabilities: {} } };
    const session = { prompt: {}, delete: {}, ...(this.#script.turnComplete && { turnComplete: {} }) };
    return { result: { protocolVersion: 2, info, capabilities: { session }, authMethods: [] } };
  }

  #offer(): object {
    const { commands, configOptions } = this.#script;
    return { ...(commands && { availableCommands: commands }), ...(configOptions && { configOptions }) };
  }

  #changed(params: unknown): readonly object[] {
    return (this.#script.configOptions ?? []).map((option) =>
      option.configId === at(params, 'configId') ? { ...option, currentValue: at(params, 'value') } : option,
    );
  }

  /** With replay, a past of one question and one answer; in any case its present state comes before the response. */
  async #resume(params: unknown): Promise<object> {
    const text = (words: string): object[] => [{ type: 'text', text: words }];
    if (at(params, 'replayFrom', 'type') === 'start') {
      await this.update({ sessionUpdate: 'user_message', messageId: 'old-u', content: text('An old question') });
      await this.update({ sessionUpdate: 'agent_message', messageId: 'old-a', content: text('An old answer') });
    }
    await this.update({ sessionUpdate: 'state_update', state: 'idle', background: [] });
    return this.#offer();
  }

  #prompt(id: unknown, params: unknown): void {
    const blocks = at(params, 'prompt');
    if (!Array.isArray(blocks) || blocks.length === 0) this.#violation('session/prompt without content');
    if (this.#version === 1) {
      void this.wire.send({ id, result: { stopReason: 'end_turn' } });
      return;
    }
    const text = blocks.map((block) => String(at(block, 'text') ?? '')).join('');
    this.#waiting.push({ id, text, content: blocks, messageId: `u${++this.#sequence}` });
    for (const resolve of this.#arrivals.splice(0)) resolve();
    if (!this.#isRunning) void this.#runNext();
  }

  async #runNext(): Promise<void> {
    this.#isRunning = true;
    for (let prompt = this.#waiting.shift(); prompt; prompt = this.#waiting.shift()) {
      const usual = `echo\nreceipt\nrunning\nsay Echo: ${prompt.text}\nidle end_turn`;
      await new V2Program(this, prompt).run(isProgram(prompt.text) ? prompt.text : usual);
    }
    this.#isRunning = false;
  }
}

const [, , json = '{}'] = process.argv;
new V2ScriptedAgent(JSON.parse(json) as V2Script).start();
