// The scripted agent in version 1: requests of the client, turns, and the sessions that it keeps.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { at } from '../../../../src/base/untrusted';
import { sleep } from '../program';
import { ReferenceRules } from '../reference/referenceRules';
import { offersIn, type ReferenceScript } from '../reference/referenceScript';
import { Fault } from '../referenceFault';
import type { Advert, AgentScript } from '../script';
import { floodLog } from './flood';
import type { Asking, ScriptedHost, ScriptedSide } from './host';
import type { KeptSession, Update } from './keptSessions';
import { AgentTurn, play } from './plays';

interface Session {
  readonly id: string;
  ready: boolean;
  turn: AgentTurn | undefined;
}

/** Longer than a client waits for the next update of a replay, ms. */
const PAUSE_MS = 400;

export class ScriptedV1 implements ScriptedSide {
  readonly #host: ScriptedHost;
  readonly #rules: ReferenceRules;
  readonly #sessions = new Map<string, Session>();
  #nextSession = 0;
  #signedIn: boolean;

  constructor(host: ScriptedHost) {
    this.#host = host;
    this.#signedIn = host.script.authMethods === undefined;
    this.#rules = new ReferenceRules(rulesOf(host.script), (reason) => host.violation(reason));
  }

  judge(message: Readonly<Record<string, unknown>>): void {
    this.#rules.judge(message);
  }

  notified(method: string, params: unknown): void {
    const { script } = this.#host;
    const { sessions } = script;
    const session = this.#sessions.get(String(at(params, 'sessionId')));
    if (method === 'session/ready' && session && !session.ready) {
      session.ready = true;
      if (sessions === undefined) this.#update(session.id, commandsUpdate(script));
      else if (sessions.replay === 'ready') this.#repeatWhole(session.id);
    }
    if (method === 'session/cancel') session?.turn?.cancel();
    if (method === '$/cancel_request') {
      for (const { turn } of this.#sessions.values()) if (turn?.requestId === at(params, 'requestId')) turn?.cancel();
    }
  }

  async respond(id: unknown, method: string, params: unknown): Promise<void> {
    const { wire, script } = this.#host;
    try {
      if (method === 'session/prompt') await this.#prompt(id, params);
      else {
        if (OPENS.has(method) && script.opensAfterMs !== undefined) await sleep(script.opensAfterMs);
        if (method === 'authenticate') await this.#sendToPage(id);
        const result = await this.#handle(method, params);
        this.#rules.answered(id, method, false, 1);
        const opened = at(result, 'sessionId') ?? (OPENS.has(method) ? at(params, 'sessionId') : undefined);
        if (typeof opened === 'string') this.#rules.opened(opened);
        await wire.send({ id, result });
        if (method === 'session/new') this.#afterNew(String(at(result, 'sessionId')));
        if (method === 'session/load') await this.#afterLoad(String(at(params, 'sessionId')));
      }
    } catch (error) {
      this.#rules.answered(id, method, true);
      const fault = error instanceof Fault ? error : new Fault(-32603, String(error));
      const data = fault.data === undefined ? {} : { data: fault.data };
      await wire.send({ id, error: { code: fault.code, message: fault.message, ...data } });
    }
  }

  async #handle(method: string, params: unknown): Promise<unknown> {
    const { script, sessions } = this.#host;
    const sessionId = String(at(params, 'sessionId'));
    switch (method) {
      case 'initialize':
        return this.#introduction();
      case 'authenticate':
        this.#signedIn = true;
        if (script.signedIn !== undefined) writeFileSync(script.signedIn, '');
        return {};
      case 'logout':
        if (script.signedIn !== undefined) rmSync(script.signedIn, { force: true });
        return {};
      case 'session/new':
        return this.#newSession(String(at(params, 'cwd')));
      case 'session/load':
        return this.#load(sessionId);
      case 'session/resume': {
        this.#requireSignIn('open');
        const past = this.#kept(sessionId);
        if (script.sessions?.resumeReplays) this.#repeat(past);
        return this.#opened(sessionId);
      }
      case 'session/fork': {
        this.#requireSignIn('open');
        const origin = this.#kept(sessionId);
        const fork = `fork-${this.#host.wire.program.pid}-${++this.#nextSession}`;
        if (script.sessions?.forkReplays) this.#repeat(origin, fork);
        sessions?.copy(origin, fork);
        return { sessionId: fork, ...this.#opened(fork) };
      }
      case 'session/list':
        return this.#list(params);
      case 'session/delete':
        sessions?.remove(sessionId);
        return {};
      case 'session/close':
        this.#sessions.delete(sessionId);
        return {};
      case 'session/set_title': {
        const title = `${String(at(params, 'title'))}!`;
        sessions?.change(this.#kept(sessionId).id, { title });
        return { title };
      }
      case 'session/archive':
      case 'session/unarchive':
        sessions?.change(this.#kept(sessionId).id, { archived: method === 'session/archive' });
        return {};
      case 'session/status':
        return this.#statusOf(sessionId);
      case 'session/set_mode':
        return {};
      case 'session/set_config_option': {
        const options = script.configOptions ?? [];
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
    const { script } = this.#host;
    const { ready, status, turnComplete } = script;
    const result: Record<string, unknown> = {
      protocolVersion: script.protocolVersion ?? 1,
      agentInfo: { name: 'scripted-agent', title: 'Scripted agent', version: script.version ?? '1.0.0' },
      agentCapabilities: capabilitiesOf(script),
      authMethods: script.authMethods ?? [],
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

  /** @throws Fault if the user has not signed in */
  #requireSignIn(when: 'open' | 'prompt'): void {
    const { signedIn, authOn = 'open', authData, authWords = 'Authentication required' } = this.#host.script;
    const isSignedIn = signedIn === undefined ? this.#signedIn : existsSync(signedIn);
    if (when === authOn && !isSignedIn) throw new Fault(-32000, authWords, authData);
  }

  #newSession(cwd: string): unknown {
    this.#requireSignIn('open');
    const { early = 0 } = this.#host.script;
    const sessionId = `scripted-${this.#host.wire.program.pid}-${++this.#nextSession}`;
    this.#host.sessions?.make(sessionId, { cwd });
    const opened = this.#opened(sessionId);
    for (let index = 1; index <= early; index++) {
      this.#update(sessionId, {
        sessionUpdate: 'agent_message_chunk',
        messageId: 'early',
        content: { type: 'text', text: `early-${index} ` },
      });
    }
    floodLog({ ev: 'new' });
    return { sessionId, ...opened };
  }

  #opened(id: string): object {
    const { modes, configOptions } = this.#host.script;
    this.#sessions.set(id, { id, ready: false, turn: undefined });
    return { ...(modes !== undefined && { modes }), ...(configOptions && { configOptions }) };
  }

  /**
   * A question that belongs to the request and to no session.
   * @throws Fault if the user does not agree
   */
  async #sendToPage(requestId: unknown): Promise<void> {
    const url = this.#host.script.signInPage;
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

  #afterNew(sessionId: string): void {
    const { ready, sessions } = this.#host.script;
    if (sessions === undefined && (ready === undefined || ready.counts === false))
      this.#update(sessionId, commandsUpdate(this.#host.script));
  }

  async #statusOf(sessionId: string): Promise<unknown> {
    const answer = this.#host.script.status?.answer ?? (this.#sessions.has(sessionId) ? 'live' : 'not_found');
    if (answer === 'nothing') await new Promise(() => {});
    if (answer === 'resource-error') throw new Fault(-32002, 'Resource not found', { sessionId });
    if (answer === 'unknown-method') throw new Fault(-32601, 'Method not found: session/status');
    return { status: answer };
  }

  // ---- Old sessions
  // -----------------------------------------------------------------------------------------------

  /** @throws Fault for a session that is not kept */
  #kept(sessionId: string): KeptSession {
    const { sessions, script } = this.#host;
    const session = sessions?.find(sessionId);
    if (!session) throw new Fault(script.sessions?.unknownCode ?? -32002, `No session ${sessionId}`, { sessionId });
    return session;
  }

  #list(params: unknown): object {
    const { pageSize = 100, findsNoFolder, title: listed } = this.#host.script.sessions ?? {};
    const cwd = at(params, 'cwd');
    const wantsArchived = at(params, 'archived') === 'only';
    const from = Number(at(params, 'cursor') ?? 0);
    const all = (this.#host.sessions?.all() ?? []).filter(
      (one) => (cwd === undefined || (one.cwd === cwd && !findsNoFolder)) && (one.archived === true) === wantsArchived,
    );
    const sessions = all.slice(from, from + pageSize).map(({ id: sessionId, cwd, title = listed }) => ({
      sessionId,
      cwd,
      ...(title && { title }),
      updatedAt: '2026-11-01T10:00:00Z',
    }));
    return { sessions, ...(from + pageSize < all.length && { nextCursor: String(from + pageSize) }) };
  }

  #load(sessionId: string): object {
    const { history, sessions } = this.#host.script;
    this.#requireSignIn('open');
    if (history === undefined) {
      const past = this.#kept(sessionId);
      const when = sessions?.replay ?? 'before';
      if (when === 'before') this.#repeat(past);
      if (when === 'both') this.#repeat(firstHalf(past));
      if (sessions?.worksOn) this.#say(sessionId, { sessionUpdate: 'state_update', state: 'running' });
      return this.#opened(sessionId);
    }
    for (let pair = 1; pair <= history; pair++) {
      this.#update(sessionId, chunk('user_message_chunk', `Question ${pair}`));
      this.#update(sessionId, chunk('agent_message_chunk', `Answer ${pair}`));
    }
    return this.#opened(sessionId);
  }

  async #afterLoad(sessionId: string): Promise<void> {
    const { replay, worksOn } = this.#host.script.sessions ?? {};
    if (replay === 'after') this.#repeat(this.#kept(sessionId));
    if (replay === 'both') this.#repeat(secondHalf(this.#kept(sessionId)));
    if (replay === 'late') {
      const past = this.#kept(sessionId);
      await sleep(PAUSE_MS);
      this.#repeat(firstHalf(past));
      await sleep(PAUSE_MS);
      this.#repeat(secondHalf(past));
      this.#entitle(sessionId, 'repeated');
    }
    if (!worksOn) return;
    for (const text of ['Still ', 'at ', 'work']) {
      await sleep(PAUSE_MS);
      this.#say(sessionId, chunk('agent_message_chunk', text));
    }
    this.#entitle(sessionId, 'worked');
  }

  #repeatWhole(sessionId: string): void {
    const past = this.#kept(sessionId);
    if (past.turns.length === 0) return;
    this.#repeat(past);
    this.#entitle(sessionId, 'repeated');
  }

  #repeat({ id, turns }: KeptSession, as = id): void {
    const { states, addsTools } = this.#host.script.sessions ?? {};
    for (const [asked, ...answers] of turns) {
      if (states) this.#say(as, { sessionUpdate: 'state_update', state: 'running' });
      // In two pieces, as agents that stream replay as well.
      const text = String(at(asked, 'content', 'text'));
      for (const piece of [text.slice(0, 2), text.slice(2)]) this.#say(as, chunk('user_message_chunk', piece));
      if (addsTools)
        this.#say(as, { sessionUpdate: 'tool_call', toolCallId: 'call', title: 'Look', status: 'completed' });
      for (const update of answers) if (update.sessionUpdate !== 'turn_complete') this.#say(as, update);
      if (!states) continue;
      this.#say(as, { sessionUpdate: 'turn_complete', promptRequestId: '1', stopReason: 'end_turn' });
      this.#say(as, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
    }
  }

  #entitle(sessionId: string, title: string): void {
    this.#say(sessionId, { sessionUpdate: 'session_info_update', title });
  }

  // ---- Turns
  // -----------------------------------------------------------------------------------------------

  async #prompt(id: unknown, params: unknown): Promise<void> {
    const { script, sessions, wire } = this.#host;
    const sessionId = String(at(params, 'sessionId'));
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new Fault(-32002, 'Resource not found', { sessionId });
    this.#requireSignIn('prompt');
    const blocks = at(params, 'prompt');
    const text = (Array.isArray(blocks) ? blocks : [])
      .flatMap((block) => (at(block, 'type') === 'text' ? [String(at(block, 'text'))] : []))
      // The transcript of an earlier session is nothing to play again.
      .filter((line) => !line.trimStart().startsWith('<transcript>'))
      .join('\n');
    sessions?.keep(sessionId, chunk('user_message_chunk', text));
    wire.log({ ev: 'kept' });
    const turn = new AgentTurn(sessionId, id, wire, script, (method, extra) => this.#ask(sessionId, method, extra));
    session.turn = turn;
    wire.endMessage(); // an answer is a separate message
    try {
      if (script.hears) await turn.say(`Heard ${text}`);
      else await play(turn, script.scenes?.[text] ?? script.scenes?.['*'] ?? text);
    } finally {
      session.turn = undefined;
    }
    const stopReason = turn.cancelled && script.onCancel !== 'ignore' ? 'cancelled' : turn.stopReason;
    await this.#endTurn(id, turn, stopReason);
  }

  async #endTurn(id: unknown, turn: AgentTurn, stopReason: string): Promise<void> {
    const { script, wire } = this.#host;
    const when = turn.failure ? 'never' : script.turnComplete?.when;
    const complete = (promptRequestId?: string): void =>
      this.#update(turn.sessionId, {
        sessionUpdate: 'turn_complete',
        ...(promptRequestId !== undefined && { promptRequestId }),
        stopReason,
      });
    if (when === 'before' || when === 'twice' || when === 'unadvertised') complete(String(id));
    if (when === 'wrong-id') complete('no-prompt-had-this-id');
    if (when === 'no-id') complete();
    this.#rules.answered(id, 'session/prompt', turn.failure !== undefined);
    if (turn.failure) {
      await wire.send({ id, error: turn.failure });
      return;
    }
    await wire.send({ id, result: { stopReason } });
    if (when === 'late') await sleep(script.turnComplete?.delayMs ?? 100);
    if (when === 'after' || when === 'twice' || when === 'late') complete(String(id));
    for (const step of turn.afterwards) await step();
  }

  #ask(sessionId: string, method: string, extra: object): Asking {
    return this.#host.ask(method, { sessionId, ...extra }, this.#rules);
  }

  #update(sessionId: string, update: object): void {
    void this.#host.wire.send({ method: 'session/update', params: { sessionId, update } });
  }

  #say(sessionId: string, update: object): void {
    void this.#host.wire.repeat({ method: 'session/update', params: { sessionId, update } });
  }
}

function capabilitiesOf({ history, sessions, logout, capabilities }: AgentScript): Record<string, unknown> {
  return {
    ...((history !== undefined || sessions?.load) && { loadSession: true }),
    ...(logout && { auth: { logout: {} } }),
    ...capabilities,
  };
}

/** What a client must keep to with this agent. */
function rulesOf(script: AgentScript): ReferenceScript {
  const { ready, status, authMethods, answerDeadlineMs, modes, configOptions } = script;
  const offers = offersIn(capabilitiesOf(script));
  if (modes !== undefined) offers.push('modes');
  if (configOptions) offers.push('config');
  return { ready, status, authMethods, answerDeadlineMs, offers };
}

const OPENS = new Set(['session/new', 'session/load', 'session/resume']);

const COMMANDS = [{ name: 'scripted', description: 'A command of the scripted agent', input: { hint: 'anything' } }];

function commandsUpdate({ commands: availableCommands = COMMANDS }: AgentScript): Update {
  return { sessionUpdate: 'available_commands_update', availableCommands };
}

function chunk(sessionUpdate: string, text: string): Update {
  return { sessionUpdate, content: { type: 'text', text } };
}

function firstHalf(session: KeptSession): KeptSession {
  return { ...session, turns: session.turns.slice(0, Math.ceil(session.turns.length / 2)) };
}

function secondHalf(session: KeptSession): KeptSession {
  return { ...session, turns: session.turns.slice(Math.ceil(session.turns.length / 2)) };
}

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
