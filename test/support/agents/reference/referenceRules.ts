// The rules of the protocol and of the four proposals, kept strictly: watches all that a client
// sends, in either version, and tells each MUST that it breaks.
import { at } from '../../../../src/base/untrusted';
import { keyOf, readClientLine } from '../clientLine';
import { judgeAnswer, type Question } from './referenceAnswers';
import { judgeParams } from './referenceParams';
import { counts, type Offer, type ReferenceScript } from './referenceScript';

interface SessionRules {
  owed: number;
  given: number;
  readonly prompts: Set<string>;
  beforeBarrier: boolean;
  closed: boolean;
  misses: number | undefined;
}

const NOTIFICATIONS = ['session/cancel', '$/cancel_request', 'session/ready'];
const baseline: Readonly<Record<1 | 2, readonly string[]>> = {
  1: ['initialize', 'authenticate', 'session/new', 'session/prompt', 'session/cancel', '$/cancel_request'],
  2: ['new', 'list', 'resume', 'close', 'prompt', 'cancel'].map((name) => `session/${name}`).concat('$/cancel_request'),
};
const named = (...offers: readonly Offer[]) => offers.map((offer): [string, Offer] => [`session/${offer}`, offer]);
const inBoth: readonly (readonly [string, Offer])[] = [
  ...named('fork', 'delete', 'archive', 'options'),
  ['session/set_title', 'title'],
  ['session/unarchive', 'archive'],
  ['session/set_config_option', 'config'],
  ['auth/status', 'authStatus'],
];
const gates: Readonly<Record<1 | 2, ReadonlyMap<string, Offer>>> = {
  1: new Map([
    ...inBoth,
    ...named('load', 'resume', 'list', 'close'),
    ['session/set_mode', 'modes'],
    ['logout', 'logout'],
  ]),
  2: new Map(inBoth),
};

export class ReferenceRules {
  readonly #script: ReferenceScript;
  readonly #violation: (reason: string) => void;
  readonly #sessions = new Map<string, SessionRules>();
  readonly #asked = new Map<string, Question>();
  readonly #open = new Map<string, string>();
  readonly #answered = new Set<string>();
  readonly #stoppable = new Set<string>();
  #version: 1 | 2 | undefined;
  #initializing = false;

  constructor(script: ReferenceScript, violation: (reason: string) => void) {
    this.#script = script;
    this.#violation = violation;
  }

  line(text: string): Record<string, unknown> | undefined {
    const fields = readClientLine(text, this.#violation);
    if (fields) this.judge(fields);
    return fields;
  }

  judge(fields: Readonly<Record<string, unknown>>): void {
    if (typeof fields.method === 'string') this.#call(fields.method, fields.id, fields.params);
    else this.#answer(fields);
  }

  answered(id: unknown, method: string, isError: boolean, version?: 1 | 2): void {
    this.#open.delete(keyOf(id));
    this.#answered.add(keyOf(id));
    if (method === 'initialize') {
      this.#initializing = false;
      if (!isError) this.#version = version;
    }
    for (const session of this.#sessions.values()) session.prompts.delete(keyOf(id));
  }

  /** The agent will never answer a prompt, and the client may continue without. */
  abandoned(id: unknown): void {
    for (const session of this.#sessions.values()) session.prompts.delete(keyOf(id));
  }

  opened(sessionId: string): void {
    const rules = this.#sessions.get(sessionId);
    if (!rules)
      this.#sessions.set(sessionId, {
        owed: 1,
        given: 0,
        prompts: new Set(),
        beforeBarrier: false,
        closed: false,
        misses: undefined,
      });
    else {
      rules.owed++;
      rules.closed = false;
      rules.misses = undefined;
    }
  }

  unloaded(sessionId: string, told: boolean): void {
    const rules = this.#sessions.get(sessionId);
    if (rules) rules.misses = told ? 0 : 1;
  }

  closed(sessionId: string): void {
    const rules = this.#sessions.get(sessionId);
    if (rules) rules.closed = true;
  }

  beforeBarrier(sessionId: string, waits: boolean): void {
    const rules = this.#sessions.get(sessionId);
    if (rules) rules.beforeBarrier = waits;
  }

  stoppable(id: string): void {
    this.#stoppable.add(id);
  }

  asked(id: string, method: string, params: unknown): void {
    this.#asked.set(keyOf(id), { method, params, cancelled: false, deadline: undefined });
  }

  withdrew(id: string): void {
    const question = this.#asked.get(keyOf(id));
    if (question) this.#expectSoon(question, `no answer to ${question.method} after $/cancel_request`);
  }

  end(): void {
    for (const { deadline } of this.#asked.values()) clearTimeout(deadline);
    if (!counts(this.#script.ready)) return;
    for (const [id, { owed, given }] of this.#sessions)
      if (given < owed) this.#violation(`session/ready was sent ${given} times for ${owed} openings of ${id}`);
  }

  #call(method: string, id: unknown, params: unknown): void {
    const isRequest = id !== undefined;
    if (isRequest) this.#requestId(method, id);
    if (method === 'initialize') {
      this.#initialize(params);
      return;
    }
    const version = this.#version;
    if (version === undefined) {
      // Initialize itself may be withdrawn.
      if (method !== '$/cancel_request') this.#violation(`${method} before initialize was answered`);
      return;
    }
    if (NOTIFICATIONS.includes(method) === isRequest)
      this.#violation(`${method} as a ${isRequest ? 'request' : 'notification'}`);
    if (!this.#may(version, method, params)) this.#violation(`${method}, which was not advertised`);
    for (const wrong of judgeParams(version, method, params, this.#script)) this.#violation(wrong);
    this.#inSession(version, method, id, params);
  }

  #requestId(method: string, id: unknown): void {
    if (typeof id !== 'string' && !Number.isInteger(id)) this.#violation(`${method} with the id ${JSON.stringify(id)}`);
    if (this.#open.has(keyOf(id)))
      this.#violation(`${method} with the id ${JSON.stringify(id)} of a request that is open`);
    this.#open.set(keyOf(id), method);
  }

  #initialize(params: unknown): void {
    if (this.#version !== undefined || this.#initializing) this.#violation('a second initialize');
    this.#initializing = true;
    const version = at(params, 'protocolVersion');
    if (!Number.isInteger(version)) this.#violation('initialize without a whole protocolVersion');
    if (version === 2 && typeof at(params, 'info', 'name') !== 'string')
      this.#violation('initialize with version 2 and without info');
  }

  #may(version: 1 | 2, method: string, params: unknown): boolean {
    const { ready, status, offers = [], authMethods = [] } = this.#script;
    if (method === 'session/ready') return counts(ready);
    if (method === 'session/status') return counts(status);
    if (method === 'auth/login' || method === 'auth/logout') return version === 2 && authMethods.length > 0;
    if (version === 2 && method === 'tool_call/cancel') return this.#stoppable.has(String(at(params, 'toolCallId')));
    if (version === 2 && method === 'terminal/cancel') return this.#stoppable.has(String(at(params, 'terminalId')));
    const gate = gates[version].get(method);
    return gate === undefined ? baseline[version].includes(method) : offers.includes(gate);
  }

  #inSession(version: 1 | 2, method: string, id: unknown, params: unknown): void {
    if (method === '$/cancel_request') {
      // It may cross with the answer.
      const request = keyOf(at(params, 'requestId'));
      if (!this.#open.has(request) && !this.#answered.has(request)) this.#violation('$/cancel_request for no request');
      return;
    }
    const sessionId = at(params, 'sessionId');
    const opens = ['session/load', 'session/resume', 'session/fork', 'session/delete', 'session/status'];
    const elsewhere = ['session/archive', 'session/unarchive', 'session/set_title', 'session/close'];
    if (sessionId === undefined || opens.includes(method) || elsewhere.includes(method)) return;
    // v1: the client MUST answer every open permission of the session with `cancelled`.
    const asks = method === 'session/cancel' && this.#cancelQuestions(String(sessionId), version);
    const rules = this.#sessions.get(String(sessionId));
    if (rules === undefined) {
      // A subagent is known by what it asks.
      if (!asks) this.#violation(`${method} for the unknown session ${JSON.stringify(sessionId)}`);
      return;
    }
    if (rules.closed) this.#violation(`${method} for a session that was closed`);
    if (method === 'session/ready' && ++rules.given > rules.owed)
      this.#violation('session/ready twice for one response');
    if (method === 'session/prompt') this.#prompt(version, rules, id);
  }

  #prompt(version: 1 | 2, rules: SessionRules, id: unknown): void {
    if (counts(this.#script.ready) && rules.given < rules.owed) this.#violation('session/prompt before session/ready');
    if (rules.beforeBarrier) this.#violation('session/prompt before the turn_complete of the turn before');
    if (rules.misses !== undefined && --rules.misses < 0)
      this.#violation('session/prompt for a session that has to be opened again first');
    if (version === 1 && rules.prompts.size > 0) this.#violation('a second session/prompt while one runs');
    rules.prompts.add(keyOf(id));
  }

  #cancelQuestions(sessionId: string, version: 1 | 2): boolean {
    const questions = [...this.#asked.values()].filter(({ params }) => at(params, 'sessionId') === sessionId);
    for (const question of questions) {
      if (version === 2 || question.method !== 'session/request_permission') continue;
      question.cancelled = true;
      this.#expectSoon(question, 'a permission was not answered after session/cancel');
    }
    return questions.length > 0;
  }

  #answer(message: Readonly<Record<string, unknown>>): void {
    const question = this.#asked.get(keyOf(message.id));
    if (question === undefined) {
      // A batch and a request without a usable id can only be refused without one (JSON-RPC 2.0
      // section 5).
      if (message.id === null && at(message, 'error', 'code') === -32600) return;
      this.#violation(`an answer to the unknown id ${JSON.stringify(message.id)}`);
      return;
    }
    this.#asked.delete(keyOf(message.id));
    clearTimeout(question.deadline);
    for (const wrong of judgeAnswer(question, message)) this.#violation(wrong);
  }

  #expectSoon(question: Question, reason: string): void {
    question.deadline ??= setTimeout(() => this.#violation(reason), this.#script.answerDeadlineMs ?? 5000);
  }
}
