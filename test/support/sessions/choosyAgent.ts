// An agent in the process of the test whose mode and options are in its hands: it keeps them over
// its end or forgets them, sets them, refuses, answers late or not at all, and changes them by
// itself.
import { createInterface } from 'node:readline';
import { at } from '../../../src/base/untrusted';
import type { ProcessStarter } from '../../../src/client/transport/agentTransport';
import type { AgentProgram } from '../agents/program';
import { startProgram } from './memoryAgents';

export type Settings = Readonly<Record<string, string | boolean>>;

export type Treatment = 'sets' | 'refuses' | 'late' | 'mute' | 'empty' | 'lies' | 'keeps';

export interface Manner {
  readonly remembers?: boolean;
  readonly modeOption?: boolean;
  readonly reopens?: 'resume' | 'load' | 'never';
  readonly repeats?: 'before' | 'after';
  readonly isSilent?: boolean;
  readonly misnames?: boolean;
  /** By option; absent: `sets`. */
  readonly treats?: Readonly<Record<string, Treatment>>;
  readonly drops?: readonly string[];
  readonly changes?: Settings;
  readonly changesAtOpen?: Settings;
  readonly lateMs?: number;
  readonly wantsSignIn?: boolean;
  readonly refuses?: string;
  readonly offers?: Readonly<Record<string, object>>;
}

export interface HeardPrompt {
  readonly text: string;
  readonly settings: Settings;
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  mode: ['full', 'ask', 'read-only'],
  model: ['small', 'medium', 'large'],
  effort: ['low', 'high'],
};
const INITIAL: Settings = { mode: 'full', model: 'small', effort: 'low', web: false };

export class ChoosyAgent {
  manner: Manner = {};
  readonly prompts: HeardPrompt[] = [];
  readonly calls: string[] = [];
  /** Resolves what holds back answers to session/new. */
  opens: Promise<void> = Promise.resolve();
  readonly #kept = new Map<string, Settings>();
  #program: AgentProgram | undefined;
  #sessions = new Map<string, Settings>();
  readonly #named = new Map<string, Settings>();
  #count = 0;

  readonly start: ProcessStarter = (options) => startProgram((program) => this.#run(program), options);

  crash(): void {
    this.#program?.exit(1);
  }

  forget(): void {
    this.#sessions.clear();
  }

  change(settings: Settings): void {
    for (const sessionId of this.#sessions.keys()) this.#change(sessionId, settings);
  }

  notify(method: string, params: object): void {
    this.#write({ method, params });
  }

  entitle(title: string): void {
    for (const id of this.#sessions.keys()) this.#update(id, { sessionUpdate: 'session_info_update', title });
  }

  #run(program: AgentProgram): void {
    this.#program = program;
    this.#sessions = new Map();
    createInterface({ input: program.stdin }).on('line', (line) => {
      const message: unknown = JSON.parse(line);
      const [id, method] = [at(message, 'id'), at(message, 'method')];
      if (typeof method !== 'string' || id === undefined) return;
      this.calls.push(method);
      void this.#respond(program, id, method, at(message, 'params'));
    });
  }

  async #respond(program: AgentProgram, id: unknown, method: string, params: unknown): Promise<void> {
    const kept = method === 'session/load' ? this.#kept.get(String(at(params, 'sessionId'))) : undefined;
    const { repeats } = this.manner;
    if (kept && repeats === 'before') this.#repeat(String(at(params, 'sessionId')), kept);
    const answer = await this.#answer(method, params);
    if (answer !== undefined) this.#write({ id, ...answer }, program);
    if (kept && repeats === 'after') this.#repeat(String(at(params, 'sessionId')), kept);
    const opened = at(answer, 'result', 'sessionId') ?? at(params, 'sessionId');
    const { changesAtOpen } = this.manner;
    if (/^session\/(new|load|resume|fork)$/.test(method) && changesAtOpen) this.#change(String(opened), changesAtOpen);
  }

  async #answer(method: string, params: unknown): Promise<object | undefined> {
    const { reopens = 'resume', isSilent } = this.manner;
    const sessionId = String(at(params, 'sessionId'));
    if (method === this.manner.refuses) return { error: { code: -32603, message: `no ${method}` } };
    switch (method) {
      case 'initialize': {
        const sessionCapabilities = { fork: {}, ...this.manner.offers, ...(reopens === 'resume' && { resume: {} }) };
        const agentCapabilities = { sessionCapabilities, ...(reopens === 'load' && { loadSession: true }) };
        return { result: { protocolVersion: 1, agentInfo: { name: 'choosy', version: '1' }, agentCapabilities } };
      }
      case 'session/options':
        return { result: { configOptions: this.#optionsOf(this.#sessions.get(sessionId) ?? INITIAL) } };
      case 'session/new':
      case 'session/fork': {
        await this.opens;
        const made = `s${++this.#count}`;
        this.#set(made, this.#begun(INITIAL, params));
        return { result: { sessionId: made, ...this.#offer(made) } };
      }
      case 'session/load':
      case 'session/resume': {
        const kept = this.#kept.get(sessionId);
        if (this.manner.wantsSignIn)
          return {
            error: { code: -32000, message: 'sign in', data: { authMethods: [{ id: 'login', name: 'Log in' }] } },
          };
        if (!kept) return { error: { code: -32002, message: 'no such session' } };
        const initial = this.#sessions.get(sessionId) ?? (this.manner.remembers ? kept : INITIAL);
        this.#set(sessionId, this.#begun(initial, params));
        if (this.manner.misnames) this.#named.set(sessionId, INITIAL);
        return { result: isSilent ? {} : this.#offer(sessionId) };
      }
      case 'session/set_mode':
        return this.#choose(sessionId, 'mode', at(params, 'modeId'));
      case 'session/set_config_option':
        return this.#choose(sessionId, String(at(params, 'configId')), at(params, 'value'));
      case 'session/prompt': {
        const settings = this.#sessions.get(sessionId);
        if (!settings) return { error: { code: -32002, message: 'no such session', data: { sessionId } } };
        this.prompts.push({ text: String(at(params, 'prompt', '0', 'text')), settings });
        if (this.manner.changes) this.#change(sessionId, this.manner.changes);
        return { result: { stopReason: 'end_turn' } };
      }
      default:
        return { error: { code: -32601, message: `no ${method}` } };
    }
  }

  /** With the initial values of the request, if it offers to take some. */
  #begun(settings: Settings, params: unknown): Settings {
    const { treats = {}, offers } = this.manner;
    const given = at(params, 'configOptions');
    if (given !== undefined && !offers?.options) throw new Error('initial values were not announced');
    const taken = (Array.isArray(given) ? given : []).flatMap((one): [string, string | boolean][] => {
      const [id, value] = [String(at(one, 'configId')), at(one, 'value')];
      if ((at(one, 'type') === 'boolean') !== (typeof value === 'boolean')) throw new Error(`${id} has the wrong type`);
      const isOffered = typeof value === 'boolean' || this.#values(id).includes(String(value));
      return isOffered && (treats[id] ?? 'sets') === 'sets' ? [[id, value as string]] : [];
    });
    return { ...settings, ...Object.fromEntries(taken) };
  }

  async #choose(sessionId: string, id: string, value: unknown): Promise<object | undefined> {
    const { treats = {}, lateMs = 1 } = this.manner;
    const treatment = treats[id] ?? 'sets';
    const settings = this.#sessions.get(sessionId);
    const isOffered = typeof value === 'boolean' || this.#values(id).includes(String(value));
    if (!settings || !isOffered || treatment === 'refuses') return { error: { code: -32602, message: `not ${value}` } };
    const named = this.#named.get(sessionId);
    if (named && settings[id] === value) return { error: { code: -32603, message: `already ${value}` } };
    if (named) this.#named.set(sessionId, { ...named, [id]: value as string });
    if (treatment === 'mute') return undefined;
    if (treatment === 'late') await new Promise((resolve) => setTimeout(resolve, lateMs));
    const isSet = treatment !== 'lies' && treatment !== 'keeps';
    if (isSet) this.#set(sessionId, { ...this.#sessions.get(sessionId), [id]: value as string });
    const isMode = id === 'mode' && !this.manner.modeOption;
    // Its answer to this says nothing of the mode: an agent that keeps what it has says so beside
    // it.
    if (isMode && !isSet) this.#change(sessionId, {});
    if (isMode || treatment === 'empty' || treatment === 'lies') return { result: {} };
    return { result: { configOptions: this.#options(sessionId) } };
  }

  #change(sessionId: string, settings: Settings): void {
    const before = this.#sessions.get(sessionId);
    if (!before) return;
    this.#set(sessionId, { ...before, ...settings });
    const mode = this.#sessions.get(sessionId)?.mode;
    this.#update(sessionId, { sessionUpdate: 'current_mode_update', currentModeId: mode });
    this.#update(sessionId, { sessionUpdate: 'config_option_update', configOptions: this.#options(sessionId) });
  }

  #repeat(sessionId: string, kept: Settings): void {
    const content = { type: 'text', text: 'one' };
    this.#update(sessionId, { sessionUpdate: 'user_message_chunk', content });
    this.#update(sessionId, { sessionUpdate: 'current_mode_update', currentModeId: kept.mode });
    this.#update(sessionId, { sessionUpdate: 'config_option_update', configOptions: this.#optionsOf(kept) });
    this.#update(sessionId, { sessionUpdate: 'agent_message_chunk', content });
  }

  #set(sessionId: string, settings: Settings): void {
    const { drops = [] } = this.manner;
    // It has nothing that it does not offer.
    const offered = Object.entries(settings).map(([id, value]) => [
      id,
      drops.includes(String(value)) ? INITIAL[id] : value,
    ]);
    const all = Object.fromEntries(offered) as Settings;
    this.#sessions.set(sessionId, all);
    this.#kept.set(sessionId, all);
  }

  #values(id: string): readonly string[] {
    return (VALUES[id] ?? []).filter((value) => !this.manner.drops?.includes(value));
  }

  #offer(sessionId: string): object {
    const currentModeId = (this.#named.get(sessionId) ?? this.#sessions.get(sessionId))?.mode;
    const availableModes = this.#values('mode').map((id) => ({ id, name: id }));
    return {
      ...(!this.manner.modeOption && { modes: { currentModeId, availableModes } }),
      configOptions: this.#options(sessionId),
    };
  }

  #options(sessionId: string): readonly object[] {
    return this.#optionsOf(this.#sessions.get(sessionId) ?? INITIAL);
  }

  #optionsOf(settings: Settings): readonly object[] {
    const select = (id: string, category: string): object => ({
      id,
      name: id,
      category,
      type: 'select',
      currentValue: settings[id],
      options: this.#values(id).map((value) => ({ value, name: value })),
    });
    return [
      ...(this.manner.modeOption ? [select('mode', 'mode')] : []),
      select('effort', 'thought_level'),
      select('model', 'model'),
      { id: 'web', name: 'web', type: 'boolean', currentValue: settings.web },
    ];
  }

  #update(sessionId: string, update: object): void {
    this.#write({ method: 'session/update', params: { sessionId, update } });
  }

  #write(message: object, program = this.#program): void {
    if (program && !program.hasExited) program.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
