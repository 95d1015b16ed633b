// The rules of the protocol and of the four proposals, kept strictly: watches all that a client sends, in either version, and tells each MUST that it breaks.
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

const baseline: Readonly<Record<1 | 2, Readonly<Record<string, 'request' | 'notification'>>>> = {
  1: {
    initialize: 'request',
    authenticate: 'request',
    'session/new': 'request',
    'session/prompt': 'request',
    'session/cancel': 'notification',
    '$/cancel_request': 'notification',
  },
  2: {
    initialize: 'request',
    'session/new': 'request',
    'session/list': 'request',
    'session/resume': 'request',
    'session/close': 'request',
    'session/prompt': 'request',
    'session/cancel': 'notification',
    '$/cancel_request': 'notification',
  },
};
const gates: Readonly<Record<1 | 2, Readonly<Record<string, Offer>>>> = {
  1: {
    'session/load': 'load',
    'session/resume': 'resume',
    'session/fork': 'fork',
    'session/list': 'list',
    'session/close': 'close',
    'session/delete': 'delete',
    'session/set_title': 'title',
    'session/archive': 'archive',
    'session/unarchive': 'archive',
    'session/set_mode': 'modes',
    'session/set_config_option': 'config',
    logout: 'logout',
  },
  2: {
    'session/fork': 'fork',
    'session/delete': 'delete',
    'session/set_title': 'title',
    'session/archive': 'archive',
    'session/unarchive': 'archive',
    'session/set_config_option': 'config',
  },
};

export class ReferenceRules {
  readonly #script: ReferenceScript;
  readonly #violation: (reason: string) => void;
  readonly #sessions = new Map<string, SessionRules>();
  readonly #asked = new Map<string, Question>();
  readonly #open = new Map<string, string>();
  readonly #stoppable = new Set<string>();
  #version: 1 | 2 | undefined;
  #initializing = false;

  constructor(script: ReferenceScript, violation: (reason: string) => void) {
    this.#script = script;
    this.#violation = violation;
  }

  line(text: string): Record<string, unknown> | undefined {
    const fields = readClientLine(text, this.#violation);
    if (typeof fields?.method === 'string') this.#call(fields.method, fields.id, fields.params);
    else if (fields) this.#answer(fields);
    return fields;
  }

  answered(id: unknown, method: string, isError: boolean, version?: 1 | 2): void {
    this.#open.delete(keyOf(id));
    if (method === 'initialize') {
      this.#initializing = false;
      if (!isError) this.#version = version;
    }
    for (const session of this.#sessions.values()) session.prompts.delete(keyOf(id));
  }

  /** The agent will never answer a prompt, and the client may go on without. */
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
      this.#violation(`${method} before initialize was answered`);
      return;
    }
    const kind = baseline[version][method] ?? (method === 'session/ready' ? 'notification' : 'request');
    if ((kind === 'request') !== isRequest) this.#violation(`${method} as a ${isRequest ? 'request' : 'notification'}`);
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
    const gate = gates[version][method];
    return gate === undefined ? method in baseline[version] : offers.includes(gate);
  }

  #inSession(version: 1 | 2, method: string, id: unknown, params: unknown): void {
    if (method === '$/cancel_request') {
      if (!this.#open.has(keyOf(at(params, 'requestId')))) this.#violation('$/cancel_request for no open request');
      return;
    }
    const sessionId = at(params, 'sessionId');
    const opens = ['session/load', 'session/resume', 'session/fork', 'session/delete', 'session/status'];
    const elsewhere = ['session/archive', 'session/unarchive', 'session/set_title', 'session/close'];
    if (sessionId === undefined || opens.includes(method) || elsewhere.includes(method)) return;
    const rules = this.#sessions.get(String(sessionId));
    if (rules === undefined) {
      this.#violation(`${method} for the unknown session ${JSON.stringify(sessionId)}`);
      return;
    }
    if (rules.closed) this.#violation(`${method} for a session that was closed`);
    if (method === 'session/ready' && ++rules.given > rules.owed)
      this.#violation('session/ready twice for one response');
    if (method === 'session/prompt') this.#prompt(version, rules, id);
    // v1: the client MUST answer every open permission of the session with `cancelled`.
    if (method === 'session/cancel' && version === 1) this.#cancelQuestions(String(sessionId));
  }

  #prompt(version: 1 | 2, rules: SessionRules, id: unknown): void {
    if (counts(this.#script.ready) && rules.given < rules.owed) this.#violation('session/prompt before session/ready');
    if (rules.beforeBarrier) this.#violation('session/prompt before the turn_complete of the turn before');
    if (rules.misses !== undefined && --rules.misses < 0)
      this.#violation('session/prompt for a session that has to be opened again first');
    if (version === 1 && rules.prompts.size > 0) this.#violation('a second session/prompt while one runs');
    rules.prompts.add(keyOf(id));
  }

  #cancelQuestions(sessionId: string): void {
    for (const question of this.#asked.values()) {
      if (at(question.params, 'sessionId') !== sessionId) continue;
      if (question.method !== 'session/request_permission') continue;
      question.cancelled = true;
      this.#expectSoon(question, 'a permission was not answered after session/cancel');
    }
  }

  #answer(message: Record<string, unknown>): void {
    const question = this.#asked.get(keyOf(message.id));
    if (question === undefined) {
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
