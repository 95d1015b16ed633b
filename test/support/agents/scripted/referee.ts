// Watches what the client sends and says what breaks a MUST of protocol v1 or of a proposal that the agent has advertised.
import { isAbsolute } from 'node:path';
import { at } from '../../../../src/base/untrusted';
import { keyOf } from '../clientLine';
import type { AgentScript } from '../script';

interface SessionRules {
  owed: number;
  given: number;
  prompting: number | string | undefined;
}

interface Asked {
  readonly method: string;
  readonly sessionId: string;
  readonly optionIds: readonly string[];
  deadline: NodeJS.Timeout | undefined;
  cancelled: boolean;
}

const known = new Set([
  'initialize',
  'authenticate',
  'session/new',
  'session/prompt',
  'session/status',
  '$/cancel_request',
]);
const MAKES = new Set(['session/new', 'session/fork']);
const OPENS = new Set(['session/load', 'session/resume']);
const notifications = new Set(['session/cancel', 'session/ready', '$/cancel_request']);

export class Referee {
  readonly #script: AgentScript;
  readonly #violation: (reason: string) => void;
  readonly #sessions = new Map<string, SessionRules>();
  readonly #asked = new Map<string, Asked>();
  readonly #open = new Set<string>();
  #initialized: 'no' | 'asked' | 'yes' = 'no';
  #capabilities: unknown;

  constructor(script: AgentScript, violation: (reason: string) => void) {
    this.#script = script;
    this.#violation = violation;
  }

  message(fields: Readonly<Record<string, unknown>>): void {
    if (typeof fields.method === 'string') this.#call(fields.method, fields.id, fields.params);
    else this.#answer(fields);
  }

  answered(id: unknown, method: string, params: unknown, result: unknown): void {
    this.#open.delete(keyOf(id));
    const rules = this.#sessions.get(String(at(params, 'sessionId')));
    if (rules && rules.prompting === id) rules.prompting = undefined;
    if (method === 'initialize') {
      this.#initialized = 'yes';
      this.#capabilities = at(result, 'agentCapabilities');
    }
    const opened = MAKES.has(method) ? at(result, 'sessionId') : result && OPENS.has(method) && at(params, 'sessionId');
    if (typeof opened === 'string') this.#owesReady(opened);
  }

  #owesReady(sessionId: string): void {
    const rules = this.#sessions.get(sessionId) ?? { owed: 0, given: 0, prompting: undefined };
    rules.owed++;
    this.#sessions.set(sessionId, rules);
  }

  asked(id: string, method: string, params: unknown): void {
    const options = at(params, 'options');
    this.#asked.set(keyOf(id), {
      method,
      sessionId: String(at(params, 'sessionId')),
      optionIds: Array.isArray(options) ? options.map((one) => String(at(one, 'optionId'))) : [],
      deadline: undefined,
      cancelled: false,
    });
  }

  withdrew(id: string): void {
    const asked = this.#asked.get(keyOf(id));
    if (asked) this.#expectSoon(asked, `no answer to ${asked.method} after $/cancel_request`);
  }

  #call(method: string, id: unknown, params: unknown): void {
    const isRequest = id !== undefined;
    if (method === '$/cancelRequest') this.#violation("LSP's $/cancelRequest instead of $/cancel_request");
    if (notifications.has(method) === isRequest) {
      this.#violation(`${method} as a ${isRequest ? 'request' : 'notification'}`);
    }
    if (isRequest) {
      if (id === null || !['string', 'number'].includes(typeof id))
        this.#violation(`a request with the id ${JSON.stringify(id)}`);
      if (this.#open.has(keyOf(id))) this.#violation(`the id ${JSON.stringify(id)} of a request that is open`);
      this.#open.add(keyOf(id));
    }
    if (method === 'initialize') {
      if (this.#initialized !== 'no') this.#violation('a second initialize');
      if (!Number.isInteger(at(params, 'protocolVersion')))
        this.#violation('initialize without a whole protocolVersion');
      this.#initialized = 'asked';
      return;
    }
    if (this.#initialized !== 'yes' && method !== '$/cancel_request')
      this.#violation(`${method} before initialize was answered`);
    this.#advertised(method);
    if (MAKES.has(method) || OPENS.has(method)) this.#opening(method, params);
    if (method === 'session/list' && at(params, 'archived') !== undefined && !this.#can('archive'))
      this.#violation('session/list with the archived filter, which was not advertised');
    if (method === 'session/ready') this.#ready(params);
    if (method === 'session/prompt') this.#prompt(id, params);
    if (method === 'session/cancel') this.#cancel(String(at(params, 'sessionId')));
    if (method === 'authenticate') this.#authenticate(params);
  }

  #can(name: string): boolean {
    return Boolean(at(this.#capabilities, 'sessionCapabilities', name));
  }

  #advertised(method: string): void {
    const { status, modes, configOptions } = this.#script;
    const may = (): boolean => {
      switch (method) {
        case 'session/status':
          return status !== undefined && status.counts !== false;
        case 'session/set_mode':
          return modes !== undefined;
        case 'session/set_config_option':
          return configOptions !== undefined;
        case 'session/load':
          return at(this.#capabilities, 'loadSession') === true;
        case 'logout':
          return Boolean(at(this.#capabilities, 'auth', 'logout'));
        case 'session/set_title':
          return this.#can('title');
        case 'session/unarchive':
          return this.#can('archive');
        default:
          return known.has(method) || notifications.has(method) || this.#can(method.replace('session/', ''));
      }
    };
    if (!may()) this.#violation(`${method}, which was not advertised`);
  }

  #opening(method: string, params: unknown): void {
    const cwd = at(params, 'cwd');
    if (typeof cwd !== 'string' || !isAbsolute(cwd)) this.#violation(`${method} with the cwd ${JSON.stringify(cwd)}`);
    const servers = at(params, 'mcpServers');
    if (!Array.isArray(servers)) this.#violation(`${method} without mcpServers`);
    for (const server of Array.isArray(servers) ? servers : []) {
      const type = at(server, 'type');
      if (type !== undefined && !at(this.#capabilities, 'mcpCapabilities', String(type)))
        this.#violation(`${method} with an MCP server over ${String(type)}, which was not advertised`);
    }
    if (at(params, 'additionalDirectories') !== undefined && !this.#can('additionalDirectories'))
      this.#violation(`${method} with additionalDirectories, which were not advertised`);
  }

  #ready(params: unknown): void {
    const { ready } = this.#script;
    if (ready === undefined || ready.counts === false) this.#violation('session/ready, which was not advertised');
    const rules = this.#sessions.get(String(at(params, 'sessionId')));
    if (rules === undefined) {
      this.#violation(`session/ready for the unknown session ${JSON.stringify(at(params, 'sessionId'))}`);
      return;
    }
    rules.given++;
    if (rules.given > rules.owed) this.#violation('session/ready twice for one response');
  }

  #prompt(id: unknown, params: unknown): void {
    const sessionId = String(at(params, 'sessionId'));
    const rules = this.#sessions.get(sessionId);
    if (rules === undefined) {
      this.#violation(`session/prompt for the unknown session ${JSON.stringify(sessionId)}`);
      return;
    }
    const { ready } = this.#script;
    if (ready !== undefined && ready.counts !== false && rules.given < rules.owed) {
      this.#violation('session/prompt before session/ready');
    }
    if (rules.prompting !== undefined) this.#violation('a second session/prompt while one runs');
    rules.prompting = typeof id === 'number' || typeof id === 'string' ? id : undefined;
    const blocks = at(params, 'prompt');
    if (!Array.isArray(blocks) || blocks.length === 0) {
      this.#violation('session/prompt without content');
      return;
    }
    for (const block of blocks) this.#content(block);
  }

  #content(block: unknown): void {
    const type = at(block, 'type');
    if (type === 'text') {
      if (typeof at(block, 'text') !== 'string') this.#violation('a text block without text');
      return;
    }
    if (type === 'resource_link') {
      if (typeof at(block, 'uri') !== 'string' || typeof at(block, 'name') !== 'string') {
        this.#violation('a resource_link without uri or name');
      }
      return;
    }
    const capability = { image: 'image', audio: 'audio', resource: 'embeddedContext' }[String(type)];
    if (capability === undefined || at(this.#script.capabilities, 'promptCapabilities', capability) !== true) {
      this.#violation(`a prompt with a ${JSON.stringify(type)} block, which was not advertised`);
    }
  }

  #cancel(sessionId: string): void {
    // A subagent is known by what it asks.
    if (!this.#sessions.has(sessionId) && ![...this.#asked.values()].some((asked) => asked.sessionId === sessionId))
      this.#violation(`session/cancel for the unknown session ${JSON.stringify(sessionId)}`);
    for (const asked of this.#asked.values()) {
      if (asked.sessionId !== sessionId || asked.method !== 'session/request_permission') continue;
      asked.cancelled = true;
      this.#expectSoon(asked, 'a permission request was not answered after session/cancel');
    }
  }

  #authenticate(params: unknown): void {
    const methods = this.#script.authMethods ?? [];
    const method = methods.find(({ id }) => id === at(params, 'methodId'));
    if (method === undefined)
      this.#violation(`authenticate with the unknown method ${JSON.stringify(at(params, 'methodId'))}`);
    if (method?.type === 'terminal') this.#violation('authenticate with a method of type terminal');
  }

  #answer(message: Record<string, unknown>): void {
    const asked = this.#asked.get(keyOf(message.id));
    if (asked === undefined) {
      // A batch and a request without a usable id can only be refused without one (JSON-RPC 2.0 section 5).
      if (message.id === null && at(message, 'error', 'code') === -32600) return;
      this.#violation(`an answer to the unknown id ${JSON.stringify(message.id)}`);
      return;
    }
    this.#asked.delete(keyOf(message.id));
    clearTimeout(asked.deadline);
    if ((message.result === undefined) === (message.error === undefined)) {
      this.#violation(`an answer to ${asked.method} that has not exactly one of result and error`);
    }
    if (asked.method === 'session/request_permission' && message.error === undefined)
      this.#outcome(asked, message.result);
  }

  #outcome(asked: Asked, result: unknown): void {
    const outcome = at(result, 'outcome', 'outcome');
    if (outcome === 'cancelled') return;
    if (outcome !== 'selected') this.#violation(`a permission with the outcome ${JSON.stringify(outcome)}`);
    const optionId = at(result, 'outcome', 'optionId');
    if (!asked.optionIds.includes(String(optionId))) {
      this.#violation(`a permission with the option ${JSON.stringify(optionId)}, which was not offered`);
    }
    if (asked.cancelled) this.#violation('a permission answered with a choice after session/cancel');
  }

  #expectSoon(asked: Asked, reason: string): void {
    asked.deadline ??= setTimeout(() => this.#violation(reason), this.#script.answerDeadlineMs ?? 5000);
  }
}
