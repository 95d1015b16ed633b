// The scripted agent in version 2: each order of echo, receipt and states can be played, one step a
// line (v2Steps.ts).
import { isAbsolute } from 'node:path';
import { at } from '../../../../src/base/untrusted';
import type { AgentWire } from '../agentWire';
import type { ScriptedHost, ScriptedSide } from './host';
import { isProgram, type Prompt, type StepHost, V2Program } from './v2Steps';

const METHODS = new Set([
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

export class ScriptedV2 implements ScriptedSide, StepHost {
  readonly #host: ScriptedHost;
  readonly #waiting: Prompt[] = [];
  readonly #arrivals: (() => void)[] = [];
  readonly #cancels: (() => void)[] = [];
  #sequence = 0;
  #isInitialized = false;
  #isRunning = false;
  #isCancelled = false;

  constructor(host: ScriptedHost) {
    this.#host = host;
  }

  // ---- What steps ask of it
  // ------------------------------------------------------------------------------------------

  get wire(): AgentWire {
    return this.#host.wire;
  }

  async update(update: object): Promise<void> {
    await this.wire.send({ method: 'session/update', params: { sessionId: 's1', update } });
  }

  ask(method: string, params: object): Promise<Record<string, unknown>> {
    return this.#host.ask(method, { sessionId: 's1', ...params }).answer;
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

  // ---- What the client says
  // ------------------------------------------------------------------------------------------

  judge({ id, method, params }: Readonly<Record<string, unknown>>): void {
    const violation = (reason: string): void => this.#host.violation(reason);
    if (typeof method !== 'string') return;
    if (id !== undefined && method === 'session/cancel') violation('session/cancel as a request');
    else if (id !== undefined && !METHODS.has(method)) violation(`${method}, which version 2 does not have`);
    switch (method) {
      case 'initialize':
        if (this.#isInitialized) violation('a second initialize');
        return;
      case 'session/new':
        if (!isAbsolute(String(at(params, 'cwd')))) violation('session/new with a relative cwd');
        return;
      case 'session/set_config_option':
        if (at(params, 'type') !== (typeof at(params, 'value') === 'boolean' ? 'boolean' : 'id'))
          violation('session/set_config_option without the type of its value');
        return;
      case 'session/prompt': {
        const blocks = at(params, 'prompt');
        if (!Array.isArray(blocks) || blocks.length === 0) violation('session/prompt without content');
      }
    }
  }

  notified(method: string): void {
    if (method !== 'session/cancel') return;
    // Rejects messages that were not taken in, and resumes steps that wait for a cancel.
    for (const { id } of this.#waiting.splice(0))
      void this.wire.send({ id, error: { code: -32800, message: 'Request cancelled' } });
    this.#isCancelled = true;
    for (const resolve of this.#cancels.splice(0)) resolve();
  }

  async respond(id: unknown, method: string, params: unknown): Promise<void> {
    if (method === 'session/prompt') this.#prompt(id, params);
    else await this.wire.send({ id, result: await this.#answer(method, params) });
  }

  async #answer(method: string, params: unknown): Promise<object> {
    const { configOptions = [] } = this.#host.script;
    switch (method) {
      case 'initialize':
        this.#isInitialized = true;
        return this.#introduction();
      case 'session/new':
        return { sessionId: 's1', ...this.#offer() };
      case 'session/resume':
        return this.#resume(params);
      case 'session/set_config_option':
        return {
          configOptions: configOptions.map((option) =>
            option.configId === at(params, 'configId') ? { ...option, currentValue: at(params, 'value') } : option,
          ),
        };
      default:
        return {};
    }
  }

  #introduction(): object {
    const { version = '1.0.0', turnComplete } = this.#host.script;
    const session = { prompt: {}, delete: {}, ...(turnComplete && { turnComplete: {} }) };
    const info = { name: 'scripted-agent', version };
    return { protocolVersion: 2, info, capabilities: { session }, authMethods: [] };
  }

  #offer(): object {
    const { commands, configOptions } = this.#host.script;
    return { ...(commands && { availableCommands: commands }), ...(configOptions && { configOptions }) };
  }

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
    const content = (at(params, 'prompt') ?? []) as readonly unknown[];
    const text = content.map((block) => String(at(block, 'text') ?? '')).join('');
    this.#waiting.push({ id, text, content, messageId: `u${++this.#sequence}` });
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
