// An agent that follows the protocol and the four proposals to the letter, in both versions. Unlike
// the scripted agent, which only follows its script, it knows the rules, and
// conformance/referees.test.ts proves that it notices each broken one. It takes the client at its
// word: each MUST that the client breaks is a line in
// $REFERENCE_VIOLATIONS and on stderr, and the process ends with status 9. Arguments: [JSON];
// $AGENT_LOG: all messages.
import { appendFileSync, existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { at } from '../../../../src/base/untrusted';
import { AgentWire } from '../agentWire';
import { type AgentProgram, sleep } from '../program';
import { Fault } from '../referenceFault';
import { ReferenceFaults } from './referenceFaults';
import { ReferenceRules } from './referenceRules';
import { counts, introduction, RACING, type ReferenceScript, readReference, SAVED_PAIRS } from './referenceScript';
import { ReferenceTurn, type TurnHost } from './referenceTurn';

const SIGNED_IN = { state: 'authenticated', accounts: [{ label: 'Team', email: 'ada@example.org', active: true }] };

interface Session {
  readonly id: string;
  ready: boolean;
  running: ReferenceTurn | undefined;
  readonly queue: { readonly id: unknown; readonly text: string; readonly content: unknown }[];
}

class ReferenceAgent {
  readonly #script: ReferenceScript;
  readonly #program: AgentProgram;
  readonly #wire: AgentWire;
  readonly #rules: ReferenceRules;
  readonly #faults: ReferenceFaults;
  readonly #sessions = new Map<string, Session>();
  readonly #saved: Set<string>;
  readonly #refusals: Map<string, number>;
  readonly #answers = new Map<unknown, (message: Record<string, unknown>) => void>();
  readonly #history = new Map<string, readonly object[]>();
  #version: 1 | 2 = 1;
  #violations = 0;
  #sequence = 0;
  #firstPrompt: unknown;

  constructor(program: AgentProgram, script: ReferenceScript) {
    this.#program = program;
    this.#wire = new AgentWire(program);
    this.#script = script;
    this.#saved = new Set(script.saved ?? []);
    this.#refusals = new Map(Object.entries(script.refuse ?? {}));
    this.#rules = new ReferenceRules(script, (reason) => this.#violation(reason));
    this.#faults = new ReferenceFaults(script.faults ?? [], {
      send: (message) => void this.#wire.send(message),
      raw: (text) => void this.#wire.text(`${text}\n`),
      exit: () => program.exit(7),
    });
  }

  get #hasStates(): boolean {
    return this.#version === 2 || this.#script.lifecycle !== undefined;
  }

  start(): void {
    this.#program.onSigterm(() => this.#end());
    this.#wire.listen(
      (line) => this.#receive(line),
      () => this.#end(),
    );
  }

  #end(): void {
    this.#rules.end();
    this.#program.exit(this.#violations > 0 ? 9 : 0);
  }

  #violation(reason: string): void {
    this.#violations++;
    const file = this.#program.env.REFERENCE_VIOLATIONS;
    if (file) appendFileSync(file, `${reason}\n`);
    this.#wire.log({ ev: 'violation', reason });
    this.#program.warn(`VIOLATION ${reason}`);
  }

  #receive(line: string): void {
    const message = this.#rules.line(line);
    this.#wire.log(message === undefined ? { dir: 'in', raw: line.slice(0, 1000) } : { dir: 'in', msg: message });
    if (message === undefined || !this.#faults.receive(message)) return;
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      this.#answers.get(id)?.(message);
      this.#answers.delete(id);
    } else if (id === undefined) this.#notified(method, params);
    else void this.#respond(id, method, params);
  }

  #notified(method: string, params: unknown): void {
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (method === 'session/ready' && session) {
      session.ready = true;
      this.#update(session.id, { sessionUpdate: 'available_commands_update', availableCommands: this.#commands() });
    }
    if (method === 'session/cancel' && session) this.#cancel(session);
    if (method === '$/cancel_request' && !this.#script.keepsPrompts) this.#giveBack(at(params, 'requestId'));
  }

  #giveBack(requestId: unknown): void {
    for (const { queue } of this.#sessions.values()) {
      const index = queue.findIndex(({ id }) => id === requestId);
      if (index < 0) continue;
      queue.splice(index, 1);
      this.#fail(requestId, 'session/prompt', new Fault(-32800, 'Request cancelled'));
    }
  }

  #cancel(session: Session): void {
    session.running?.cancel();
    for (const { id } of session.queue.splice(0))
      this.#fail(id, 'session/prompt', new Fault(-32800, 'Request cancelled'));
  }

  async #respond(id: unknown, method: string, params: unknown): Promise<void> {
    try {
      const code = this.#refusals.get(method);
      this.#refusals.delete(method);
      if (code !== undefined) throw new Fault(code, `${method} is refused once`);
      if (method === 'session/prompt') await this.#prompt(id, params);
      else await this.#handle(id, method, params);
    } catch (error) {
      this.#fail(id, method, error instanceof Fault ? error : new Fault(-32603, String(error)));
    }
  }

  async #handle(id: unknown, method: string, params: unknown): Promise<void> {
    const sessionId = String(at(params, 'sessionId'));
    switch (method) {
      case 'initialize':
        return this.#initialize(id, params);
      case 'session/new':
        if (this.#script.signInFile !== undefined && !existsSync(this.#script.signInFile))
          throw new Fault(-32000, 'Authentication required');
        return this.#open(id, method, `reference-${++this.#sequence}`, params);
      case 'session/fork': {
        const messageId = at(params, '_meta', 'jetbrains', 'air', 'fork', 'messageId');
        const { forksAt } = this.#script;
        if (forksAt !== undefined && messageId !== undefined && messageId !== forksAt)
          throw new Fault(-32602, `There is no message ${messageId}`, { messageId });
        return this.#open(id, method, `${sessionId}-fork-${forksAt ? `at-${messageId}` : ++this.#sequence}`);
      }
      case 'session/load':
      case 'session/resume': {
        if (!this.#saved.has(sessionId) && !this.#sessions.has(sessionId))
          throw new Fault(-32002, 'Resource not found', { sessionId });
        const replays = method === 'session/load' || at(params, 'replayFrom') != null;
        if (replays) this.#replay(sessionId);
        if (this.#version === 2) {
          const complete = { sessionId, update: { sessionUpdate: 'replay_complete' } };
          if (replays) this.#send({ method: 'session/update', params: complete });
          this.#state(sessionId, 'idle');
        }
        return this.#open(id, method, sessionId);
      }
      case 'session/status':
        return this.#status(id, sessionId);
      case 'session/list':
        return this.#answer(id, method, {
          sessions: [...this.#saved].map((saved) => ({
            sessionId: saved,
            cwd: this.#program.cwd,
            title: `Saved ${saved}`,
          })),
        });
      case 'session/options':
        return this.#answer(id, method, { configOptions: this.#config('small') });
      case 'auth/status':
        return this.#answer(id, method, SIGNED_IN);
      case 'session/set_title':
        return this.#answer(id, method, { title: at(params, 'title') });
      case 'session/set_config_option':
        return this.#answer(id, method, { configOptions: this.#config(at(params, 'value')) });
      case 'session/close':
      case 'session/delete': {
        const session = this.#sessions.get(sessionId);
        if (session) this.#cancel(session);
        // What it still has to say comes before the answer.
        while (session?.running) await nextTurn();
        this.#rules.closed(sessionId);
        this.#sessions.delete(sessionId);
        if (method === 'session/delete') this.#saved.delete(sessionId);
        return this.#answer(id, method, {});
      }
      case 'authenticate':
      case 'auth/login':
      case 'auth/logout':
      case 'logout':
      case 'session/set_mode':
      case 'session/archive':
      case 'session/unarchive':
      case 'tool_call/cancel':
      case 'terminal/cancel':
        return this.#answer(id, method, {});
      default:
        throw new Fault(-32601, `Method not found: ${method}`);
    }
  }

  #initialize(id: unknown, params: unknown): void {
    const { versions = [1, 2] } = this.#script;
    const asked = Number(at(params, 'protocolVersion'));
    const fitting = versions.filter((version) => version <= asked);
    if (fitting.length === 0 && asked >= 2)
      throw new Fault(-32022, 'Unsupported protocol version', { supported: versions });
    this.#version = Math.max(...(fitting.length > 0 ? fitting : versions)) as 1 | 2;
    this.#rules.answered(id, 'initialize', false, this.#version);
    this.#send({ id, result: introduction(this.#script, this.#version) });
  }

  /** Answers with a session, and lets notifications for it race against that answer. */
  async #open(id: unknown, method: string, sessionId: string, params?: unknown): Promise<void> {
    const { race, ready, offers = [] } = this.#script;
    const session: Session = { id: sessionId, ready: false, running: undefined, queue: [] };
    const names = method === 'session/new' || method === 'session/fork';
    const result = {
      ...(names && { sessionId }),
      ...(offers.includes('config') && {
        configOptions: this.#config(at(params, 'configOptions', '0', 'value') ?? 'small'),
      }),
      ...(offers.includes('modes') && this.#version === 1 && { modes: this.#modes() }),
    };
    const early = Array.from({ length: race ? RACING : 0 }, (_, index) => this.#racing(sessionId, index + 1));
    if (race && offers.includes('config')) {
      const update = { sessionUpdate: 'config_option_update', configOptions: this.#config('large') };
      early.push({ method: 'session/update', params: { sessionId, update } });
    }
    const answer = { id, result };
    const said = race === 'after' ? [answer, ...early] : [...early, answer];
    this.#sessions.set(sessionId, session);
    this.#rules.opened(sessionId);
    this.#rules.answered(id, method, false);
    if (!race) this.#send(answer);
    else await this.#race(said, race);
    // Agents without the signal tell their commands as soon as the session exists.
    if (!counts(ready))
      this.#update(sessionId, { sessionUpdate: 'available_commands_update', availableCommands: this.#commands() });
  }

  async #race(said: readonly object[], race: NonNullable<ReferenceScript['race']>): Promise<void> {
    for (const message of said) this.#wire.log({ dir: 'out', msg: message });
    const text = said.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if (race === 'bytes') await this.#inBytes(text.join(''));
    else if (race === 'same-write') this.#wire.text(text.join(''));
    else for (const line of text) this.#wire.text(line);
  }

  async #inBytes(text: string): Promise<void> {
    for (const byte of Buffer.from(text)) {
      this.#program.stdout.write(Buffer.of(byte));
      await nextTurn();
    }
  }

  #racing(sessionId: string, index: number): Record<string, unknown> {
    const content = { type: 'text', text: `early-${index} ` };
    const update = { sessionUpdate: 'agent_message_chunk', messageId: 'early', content };
    return { method: 'session/update', params: { sessionId, update } };
  }

  #replay(sessionId: string): void {
    const known = this.#history.get(sessionId);
    if (known) {
      for (const update of [...known]) this.#update(sessionId, update);
      this.#history.set(sessionId, known);
      return;
    }
    for (let pair = 1; pair <= SAVED_PAIRS; pair++) {
      for (const [role, words] of [
        ['user', `Question ${pair}`],
        ['agent', `Answer ${pair}`],
      ]) {
        const content = { type: 'text', text: words };
        this.#update(sessionId, { sessionUpdate: `${role}_message_chunk`, messageId: `${role}-${pair}`, content });
      }
    }
  }

  #status(id: unknown, sessionId: string): void {
    const { answer, state } = this.#script.status ?? {};
    if (answer === 'silent') return;
    if (typeof answer === 'number') throw new Fault(answer, 'The reference agent was told so', { sessionId });
    if (answer === 'unloads') this.#unload(sessionId, true);
    const word = answer === undefined || answer === 'unloads' ? undefined : answer;
    this.#answer(id, 'session/status', {
      status: word ?? (this.#sessions.has(sessionId) ? 'live' : 'not_found'),
      ...(state !== undefined && { state: { state } }),
    });
  }

  #unload(sessionId: string, told: boolean): void {
    this.#sessions.delete(sessionId);
    this.#saved.add(sessionId);
    this.#history.set(sessionId, this.#history.get(sessionId) ?? []);
    this.#rules.unloaded(sessionId, told);
  }

  async #prompt(id: unknown, params: unknown): Promise<void> {
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (session === undefined) throw new Fault(-32002, 'Resource not found', { sessionId: at(params, 'sessionId') });
    const content = at(params, 'prompt');
    const blocks = Array.isArray(content) ? content : [];
    const text = blocks
      .flatMap((block) => (at(block, 'type') === 'text' ? [String(at(block, 'text'))] : []))
      .join('\n');
    this.#firstPrompt ??= id;
    if (!this.#hasStates)
      for (const block of blocks)
        this.#remember(session.id, {
          sessionUpdate: 'user_message_chunk',
          messageId: `user-${String(id)}`,
          content: block,
        });
    if (!this.#hasStates) await this.#turn(session, id, text);
    else {
      session.queue.push({ id, text, content });
      if (!session.running) await this.#drain(session);
    }
  }

  async #drain(session: Session): Promise<void> {
    for (let next = session.queue[0]; next && !next.text.startsWith('hold'); next = session.queue[0]) {
      session.queue.shift();
      const { lifecycle } = this.#script;
      const { echo = lifecycle && lifecycle !== 'echo-first' ? 'after' : 'before' } = this.#script;
      const { receipt = lifecycle === 'empty-first' ? 'empty' : 'id' } = this.#script;
      const messageId = `u${++this.#sequence}`;
      const kind = echo === 'chunks' ? 'user_message_chunk' : 'user_message';
      const blocks = Array.isArray(next.content) ? next.content : [];
      const repeat = (): void => {
        if (kind === 'user_message') this.#update(session.id, { sessionUpdate: kind, messageId, content: blocks });
        else for (const content of blocks) this.#update(session.id, { sessionUpdate: kind, messageId, content });
      };
      const receipts = { id: { messageId }, empty: {}, null: null, v1: { stopReason: 'end_turn' } };
      if (lifecycle === undefined) this.#state(session.id, 'running');
      if (echo !== 'after') repeat();
      this.#answer(next.id, 'session/prompt', receipts[receipt]);
      if (echo === 'after') repeat();
      if (lifecycle !== undefined) this.#state(session.id, 'running');
      await this.#turn(session, next.id, next.text);
    }
  }

  async #turn(session: Session, id: unknown, text: string): Promise<void> {
    const turn = new ReferenceTurn(this.#host(session.id), ++this.#sequence);
    session.running = turn;
    if (this.#script.turnComplete?.id === 'foreign') this.#complete(session.id, 'other-client-7', 'end_turn');
    await turn.play(text);
    session.running = undefined;
    const stopReason = turn.cancelled ? 'cancelled' : turn.stopReason;
    if (!this.#hasStates) await this.#endV1(session.id, id, turn, stopReason);
    else {
      const { code, message } = turn.failure ?? {};
      if (turn.failure) this.#state(session.id, 'idle', { stopReason: 'error', error: { code, message } });
      else this.#state(session.id, 'idle', { stopReason });
      if (this.#script.turnComplete && this.#script.turnComplete.when !== 'never')
        this.#barrier(session.id, id, turn.failure ? undefined : stopReason);
    }
    for (const step of turn.afterwards) await step();
    if (this.#script.unloads && id === this.#firstPrompt) this.#unload(session.id, false);
  }

  async #endV1(sessionId: string, id: unknown, turn: ReferenceTurn, stopReason: string): Promise<void> {
    const { turnComplete } = this.#script;
    const when = turnComplete?.when ?? 'never';
    if (turn.failure) {
      // A failure has no reason of the protocol.
      if (when !== 'never' && turnComplete?.failed !== false) this.#barrier(sessionId, id, undefined);
      this.#fail(id, 'session/prompt', new Fault(turn.failure.code, turn.failure.message));
      return;
    }
    const follows = when === 'after' || when === 'late' || when === 'trailing';
    if (when === 'unanswered' && id === this.#firstPrompt) {
      this.#barrier(sessionId, id, stopReason);
      this.#rules.abandoned(id);
      return;
    }
    if (when === 'unanswered') this.#barrier(sessionId, id, stopReason);
    if (when === 'before' || when === 'twice') this.#barrier(sessionId, id, stopReason);
    if (follows && turnComplete?.advertised !== false) this.#rules.beforeBarrier(sessionId, true);
    this.#answer(id, 'session/prompt', turnComplete?.stopReason === undefined ? { stopReason } : {});
    if (when === 'late') await sleep(50);
    for (let piece = 1; when === 'trailing' && piece <= 7; piece++) {
      await sleep(200);
      turn.say(` p${piece}`);
    }
    this.#rules.beforeBarrier(sessionId, false);
    if (follows || when === 'twice') this.#barrier(sessionId, id, stopReason);
  }

  #barrier(sessionId: string, promptId: unknown, stopReason: string | undefined): void {
    const { id = 'text', stopReason: reason = stopReason } = this.#script.turnComplete ?? {};
    if (id === 'earlier' && this.#firstPrompt !== promptId)
      this.#complete(sessionId, String(this.#firstPrompt), reason);
    const names = {
      text: String(promptId),
      earlier: String(promptId),
      foreign: String(promptId),
      number: promptId,
      none: undefined,
      wrong: 'no-such-prompt',
    };
    this.#complete(sessionId, names[id], reason);
  }

  #complete(sessionId: string, promptRequestId: unknown, stopReason: string | undefined): void {
    this.#update(sessionId, {
      sessionUpdate: 'turn_complete',
      ...(promptRequestId !== undefined && { promptRequestId }),
      ...(stopReason !== undefined && { stopReason }),
    });
  }

  #host(sessionId: string): TurnHost {
    return {
      version: this.#version,
      update: (update) => this.#update(sessionId, update),
      state: (state, more) => {
        if (this.#hasStates) this.#state(sessionId, state, more);
      },
      ask: (method, params) => this.#ask(sessionId, method, params).answer,
      askAndWithdraw: (method, params) => {
        const { id, answer } = this.#ask(sessionId, method, params);
        this.#rules.withdrew(id);
        this.#send({ method: '$/cancel_request', params: { requestId: id } });
        return answer;
      },
      stoppable: (id) => this.#rules.stoppable(id),
      notify: (method, params) => this.#send({ method, params }),
    };
  }

  #ask(sessionId: string, method: string, extra: object): { id: string; answer: Promise<Record<string, unknown>> } {
    const id = `agent-${++this.#sequence}`;
    const params = { sessionId, ...extra };
    this.#rules.asked(id, method, params);
    const answer = new Promise<Record<string, unknown>>((resolve) => this.#answers.set(id, resolve));
    this.#send({ id, method, params });
    return { id, answer };
  }

  #state(sessionId: string, state: string, more: object = {}): void {
    this.#update(sessionId, { sessionUpdate: this.#script.stateWord ?? 'state_update', state, ...more });
  }

  #commands(): object[] {
    const common = { name: 'reference', description: 'A command of the reference agent' };
    return [this.#version === 2 ? { ...common, type: 'command' } : common];
  }

  #config(value: unknown): object[] {
    const idKey = this.#version === 2 ? 'configId' : 'id';
    const options = ['small', 'large'].map((one) => ({ value: one, name: one }));
    return [{ [idKey]: 'size', name: 'Size', category: 'model', type: 'select', currentValue: value, options }];
  }

  #modes(): object {
    return {
      currentModeId: 'ask',
      availableModes: [
        { id: 'ask', name: 'Ask' },
        { id: 'code', name: 'Code' },
      ],
    };
  }

  #answer(id: unknown, method: string, result: unknown): void {
    this.#rules.answered(id, method, false);
    this.#send({ id, result });
  }

  #fail(id: unknown, method: string, { code, message, data }: Fault): void {
    this.#rules.answered(id, method, true);
    this.#send({ id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  #remember(sessionId: string, update: object): void {
    const known = this.#history.get(sessionId) ?? [];
    this.#history.set(sessionId, [...known, update]);
  }

  #update(sessionId: string, update: object): void {
    if (/_message(_chunk)?$/.test(String(at(update, 'sessionUpdate')))) this.#remember(sessionId, update);
    this.#send({ method: 'session/update', params: { sessionId, update } });
  }

  #send(message: Record<string, unknown>): void {
    this.#faults.send(message);
  }
}

export function runReferenceAgent(program: AgentProgram): void {
  new ReferenceAgent(program, readReference(program.args[0])).start();
}
