// An ACP v1 agent for tests that does what it is told and watches the client strictly. Usage: node scriptedAgent.js [preset or JSON]; $AGENT_LOG: its log.
// The script (script.ts) says how it introduces itself; the lines of a prompt (plays.ts) say what a turn does.
// When the client breaks a MUST it exits with status 9 and a line "VIOLATION …" on stderr.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from '../../../src/demo/input';
import { AgentWire } from './agentWire';
import { floodLog } from './flood';
import { AgentTurn, type Asking, play } from './plays';
import { Referee } from './referee';
import { Fault } from './referenceFault';
import { type Advert, type AgentScript, readScript } from './script';

interface Session {
  readonly id: string;
  ready: boolean;
  turn: AgentTurn | undefined;
}

class ScriptedAgent {
  readonly #script: AgentScript;
  readonly #wire: AgentWire;
  readonly #referee: Referee;
  readonly #sessions = new Map<string, Session>();
  readonly #answers = new Map<unknown, (message: Record<string, unknown>) => void>();
  #nextId = 0;
  #nextSession = 0;
  #signedIn: boolean;

  constructor(script: AgentScript) {
    this.#script = script;
    this.#signedIn = script.authMethods === undefined;
    this.#wire = new AgentWire(script.noise === 'among');
    this.#referee = new Referee(script, (reason) => this.#violation(reason));
  }

  start(): void {
    const script = this.#script;
    this.#wire.log({ ev: 'start', argv: process.argv.slice(2), cwd: process.cwd() });
    floodLog({ ev: 'start', argv: process.argv.slice(2) });
    for (const line of script.stderr ?? []) this.#wire.say(line);
    if (script.exitAtStart !== undefined) process.exit(script.exitAtStart);
    if (script.child) this.#startChild();
    process.on('SIGTERM', () => {
      this.#wire.log({ ev: 'sigterm' });
      if (!script.ignoreSigterm) process.exit(143);
    });
    if (script.noise === 'before') {
      void this.#wire.text(
        'npm warn config something unimportant\n\n   [agent] listening on stdio\n{"half": \n[1, 2\nnull\n"text"\n',
      );
    }
    this.#wire.listen(
      (line) => this.#receive(line),
      () => {
        this.#wire.log({ ev: 'stdin-end' });
        if (!script.ignoreStdinEnd) process.exit(0);
        setInterval(() => {}, 60_000); // something has to keep the process
      },
    );
  }

  /** A child that outlives the agent unless the whole process group is ended. */
  #startChild(): void {
    const stay = this.#script.childIgnoresSigterm ? 'process.on("SIGTERM", () => {});' : '';
    const child = spawn(process.execPath, ['-e', `${stay} setInterval(() => {}, 60000)`], {
      stdio: ['ignore', 'ignore', this.#script.childHoldsStderr ? 'inherit' : 'ignore'],
    });
    this.#wire.log({ ev: 'child', child: child.pid });
  }

  #violation(reason: string): void {
    this.#wire.log({ ev: 'violation', reason });
    if (this.#script.strict === false) return;
    this.#wire.say(`VIOLATION ${reason}`);
    process.exit(9);
  }

  #receive(line: string): void {
    const message = this.#referee.line(line);
    this.#wire.log(message === undefined ? { dir: 'in', raw: line.slice(0, 1000) } : { dir: 'in', msg: message });
    if (message === undefined) return;
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      const answer = this.#answers.get(id);
      this.#answers.delete(id);
      answer?.(message);
    } else if (id === undefined) this.#notified(method, params);
    else void this.#respond(id, method, params);
  }

  #notified(method: string, params: unknown): void {
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (method === 'session/ready' && session && !session.ready) {
      session.ready = true;
      this.#update(session.id, commandsUpdate);
    }
    if (method === 'session/cancel') session?.turn?.cancel();
    if (method === '$/cancel_request') {
      for (const { turn } of this.#sessions.values()) if (turn?.requestId === at(params, 'requestId')) turn?.cancel();
    }
  }

  async #respond(id: unknown, method: string, params: unknown): Promise<void> {
    if (this.#script.mute?.includes(method)) return;
    try {
      if (method === 'session/prompt') await this.#prompt(id, params);
      else {
        if (method === 'authenticate') await this.#sendToPage(id);
        const result = await this.#handle(method, params);
        this.#referee.answered(id, method, result);
        await this.#wire.send({ id, result });
        if (method === 'session/new') this.#afterNew(String(at(result, 'sessionId')));
      }
    } catch (error) {
      this.#referee.answered(id, method, undefined);
      const fault = error instanceof Fault ? error : new Fault(-32603, String(error));
      const data = fault.data === undefined ? {} : { data: fault.data };
      await this.#wire.send({ id, error: { code: fault.code, message: fault.message, ...data } });
    }
  }

  async #handle(method: string, params: unknown): Promise<unknown> {
    switch (method) {
      case 'initialize':
        return this.#introduction();
      case 'authenticate':
        this.#signedIn = true;
        return {};
      case 'session/new':
        return this.#newSession();
      case 'session/load':
        return this.#load(String(at(params, 'sessionId')));
      case 'session/status':
        return this.#statusOf(String(at(params, 'sessionId')));
      case 'session/set_mode':
        return {};
      case 'session/set_config_option': {
        const options = this.#script.configOptions ?? [];
        const changed = options.map((one) =>
          one.id === at(params, 'configId') ? { ...one, currentValue: at(params, 'value') } : one,
        );
        return { configOptions: changed };
      }
      default:
        throw new Fault(-32601, `Method not found: ${method}`);
    }
  }

  #introduction(): unknown {
    const { ready, status, turnComplete, history } = this.#script;
    const result: Record<string, unknown> = {
      protocolVersion: this.#script.protocolVersion ?? 1,
      agentInfo: { name: 'scripted-agent', title: 'Scripted agent', version: '0.0.0' },
      agentCapabilities: { ...(history !== undefined && { loadSession: true }), ...this.#script.capabilities },
      authMethods: this.#script.authMethods ?? [],
    };
    if (ready) advertise(result, ready);
    if (status) advertise(result, status);
    if (turnComplete && turnComplete.when !== 'unadvertised') {
      advertise(result, {
        path: ['agentCapabilities', 'sessionCapabilities', 'turnComplete'],
        value: {},
        ...turnComplete,
      });
    }
    return result;
  }

  #newSession(): unknown {
    if (!this.#signedIn) throw new Fault(-32000, 'Authentication required');
    const { early = 0, modes, configOptions } = this.#script;
    const sessionId = `scripted-${process.pid}-${++this.#nextSession}`;
    this.#sessions.set(sessionId, { id: sessionId, ready: false, turn: undefined });
    for (let index = 1; index <= early; index++) {
      this.#update(sessionId, {
        sessionUpdate: 'agent_message_chunk',
        messageId: 'early',
        content: { type: 'text', text: `early-${index} ` },
      });
    }
    floodLog({ ev: 'new' });
    return { sessionId, ...(modes !== undefined && { modes }), ...(configOptions && { configOptions }) };
  }

  /** A question that belongs to the request and to no session. @throws Fault where the user does not agree */
  async #sendToPage(requestId: unknown): Promise<void> {
    const url = this.#script.signInPage;
    if (url === undefined) return;
    const asked = {
      sessionId: undefined,
      requestId,
      mode: 'url',
      message: 'Sign in on this page.',
      elicitationId: 'sign-in',
      url,
    };
    const answer = await this.#ask('', 'elicitation/create', asked).answer;
    if (at(answer, 'result', 'action') !== 'accept') throw new Fault(-32000, 'Nobody signed in');
  }

  /** Agents without the signal tell their commands as soon as the session exists. */
  #afterNew(sessionId: string): void {
    const { ready } = this.#script;
    if (ready === undefined || ready.counts === false) this.#update(sessionId, commandsUpdate);
  }

  #load(sessionId: string): unknown {
    const { history } = this.#script;
    if (history === undefined) throw new Fault(-32002, 'Resource not found', { sessionId });
    for (let pair = 1; pair <= history; pair++) {
      this.#update(sessionId, {
        sessionUpdate: 'user_message_chunk',
        content: { type: 'text', text: `Question ${pair}` },
      });
      this.#update(sessionId, {
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: `Answer ${pair}` },
      });
    }
    this.#sessions.set(sessionId, { id: sessionId, ready: false, turn: undefined });
    this.#referee.owesReady(sessionId);
    return {};
  }

  async #statusOf(sessionId: string): Promise<unknown> {
    const answer = this.#script.status?.answer ?? (this.#sessions.has(sessionId) ? 'live' : 'not_found');
    if (answer === 'nothing') await new Promise(() => {});
    if (answer === 'resource-error') throw new Fault(-32002, 'Resource not found', { sessionId });
    if (answer === 'unknown-method') throw new Fault(-32601, 'Method not found: session/status');
    return { status: answer };
  }

  async #prompt(id: unknown, params: unknown): Promise<void> {
    const sessionId = String(at(params, 'sessionId'));
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new Fault(-32002, 'Resource not found', { sessionId });
    const blocks = at(params, 'prompt');
    const text = (Array.isArray(blocks) ? blocks : [])
      .flatMap((block) => (at(block, 'type') === 'text' ? [String(at(block, 'text'))] : []))
      // The transcript of an earlier session is nothing to play again.
      .filter((line) => !line.trimStart().startsWith('<transcript>'))
      .join('\n');
    const turn = new AgentTurn(sessionId, id, this.#wire, this.#script, (method, extra) =>
      this.#ask(sessionId, method, extra),
    );
    session.turn = turn;
    try {
      const { scenes } = this.#script;
      await play(turn, scenes?.[text] ?? scenes?.['*'] ?? text);
    } finally {
      session.turn = undefined;
    }
    const stopReason = turn.cancelled && this.#script.onCancel !== 'ignore' ? 'cancelled' : turn.stopReason;
    await this.#endTurn(id, turn, stopReason);
  }

  async #endTurn(id: unknown, turn: AgentTurn, stopReason: string): Promise<void> {
    const when = turn.failure ? 'never' : this.#script.turnComplete?.when;
    const complete = (promptRequestId?: string): void =>
      this.#update(turn.sessionId, {
        sessionUpdate: 'turn_complete',
        ...(promptRequestId !== undefined && { promptRequestId }),
        stopReason,
      });
    if (when === 'before' || when === 'twice' || when === 'unadvertised') complete(String(id));
    if (when === 'wrong-id') complete('no-prompt-had-this-id');
    if (when === 'no-id') complete();
    this.#referee.turnEnded(turn.sessionId);
    this.#referee.answered(id, 'session/prompt', undefined);
    if (turn.failure) {
      await this.#wire.send({ id, error: turn.failure });
      return;
    }
    await this.#wire.send({ id, result: { stopReason } });
    if (when === 'late') await sleep(this.#script.turnComplete?.delayMs ?? 100);
    if (when === 'after' || when === 'twice' || when === 'late') complete(String(id));
    for (const step of turn.afterwards) await step();
  }

  #ask(sessionId: string, method: string, extra: object): Asking {
    const id = `agent-${++this.#nextId}`;
    const params = { sessionId, ...extra };
    this.#referee.asked(id, method, params);
    const answer = new Promise<Record<string, unknown>>((resolve) => this.#answers.set(id, resolve));
    void this.#wire.send({ id, method, params });
    return {
      answer,
      withdraw: () => {
        this.#referee.withdrew(id);
        void this.#wire.send({ method: '$/cancel_request', params: { requestId: id } });
      },
    };
  }

  #update(sessionId: string, update: object): void {
    void this.#wire.send({ method: 'session/update', params: { sessionId, update } });
  }
}

const commandsUpdate = {
  sessionUpdate: 'available_commands_update',
  availableCommands: [
    { name: 'scripted', description: 'A command of the scripted agent', input: { hint: 'anything' } },
  ],
};

/** Puts a capability at its place, leaving what is beside it. */
function advertise(result: Record<string, unknown>, { path, value = true }: Partial<Advert>): void {
  let folder = result;
  const keys = [...(path ?? [])];
  const last = keys.pop();
  if (last === undefined) return;
  for (const key of keys) {
    const inner = { ...(folder[key] as Record<string, unknown> | undefined) };
    folder[key] = inner;
    folder = inner;
  }
  folder[last] = value;
}

new ScriptedAgent(readScript(process.argv[2] ?? process.env.AGENT_SCRIPT)).start();
