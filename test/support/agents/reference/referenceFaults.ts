// Faults of the reference agent that can be switched on: each breaks one rule of the protocol or of
// a proposal on the wire, and leaves the agent behind it as it is.
import { at } from '../../../../src/base/untrusted';

type Message = Readonly<Record<string, unknown>>;

interface FaultHost {
  send(message: Message): void;
  raw(text: string): void;
  exit(): void;
}

interface Request {
  readonly method: string;
  readonly params: unknown;
}

interface FaultContext extends FaultHost {
  readonly request: Request | undefined;
  readonly memory: Map<string, unknown>;
}

interface Fault {
  receive?(message: Message, context: FaultContext): boolean;
  send?(message: Message, context: FaultContext): readonly Message[];
}

const updateOf = (message: Message): unknown =>
  message.method === 'session/update' ? at(message.params, 'update') : undefined;
const nameOf = (message: Message): unknown => at(updateOf(message), 'sessionUpdate');
const isState = (message: Message): boolean => /^state_/.test(String(nameOf(message)));
const isSaid = (message: Message): boolean => nameOf(message) === 'agent_message_chunk';

function onUpdate(fits: (message: Message) => boolean, change: (update: object) => object | undefined): Fault {
  return {
    send(message) {
      if (!fits(message)) return [message];
      const update = change(updateOf(message) as object);
      return update ? [{ ...message, params: { ...(message.params as object), update } }] : [];
    },
  };
}

function onResult(method: string, change: (result: object, context: FaultContext) => object): Fault {
  return {
    send: (message, context) =>
      context.request?.method === method && message.result !== undefined
        ? [{ ...message, result: change((message.result ?? {}) as object, context) }]
        : [message],
  };
}

function onAnswer(method: string, change: (message: Message, request: Request) => readonly Message[]): Fault {
  return {
    send: (message, { request }) => (request?.method === method ? change(message, request) : [message]),
  };
}

function afterAnswer(method: string, more: (message: Message, request: Request) => readonly Message[]): Fault {
  return onAnswer(method, (message, request) =>
    message.error === undefined ? [message, ...more(message, request)] : [message],
  );
}

const failed = ({ id }: Message, message = 'Internal error'): Message => ({ id, error: { code: -32603, message } });

function update(sessionId: unknown, body: object): Message {
  return { method: 'session/update', params: { sessionId, update: body } };
}

function said(sessionId: unknown, text = 'too much'): Message {
  return update(sessionId, {
    sessionUpdate: 'agent_message_chunk',
    messageId: 'fault',
    content: { type: 'text', text },
  });
}

function onReason(from: string, to: string | undefined): Fault {
  const swap = (value: object): object => (at(value, 'stopReason') === from ? { ...value, stopReason: to } : value);
  return {
    send(message, { request }) {
      if (request?.method === 'session/prompt' && message.result)
        return [{ ...message, result: swap(message.result as object) }];
      if (!isState(message) && nameOf(message) !== 'turn_complete') return [message];
      return [{ ...message, params: { ...(message.params as object), update: swap(updateOf(message) as object) } }];
    },
  };
}

const barrier = (message: Message): boolean => nameOf(message) === 'turn_complete';
const barrierOf =
  (reason: string | undefined) =>
  (message: Message): boolean =>
    barrier(message) && at(updateOf(message), 'stopReason') === reason;

function deadAfter(method: string): Fault {
  return {
    send(message, { request, memory }) {
      if (request?.method === method) memory.set('dead', true);
      const fails = request?.method === 'session/prompt' && memory.get('dead') === true && message.result !== undefined;
      return fails ? [failed(message)] : [message];
    },
  };
}

function repeats(method: string): Fault {
  return onAnswer(method, (message, { params }) =>
    message.result === undefined ? [message] : [said(at(params, 'sessionId')), message],
  );
}

export const REFERENCE_FAULTS = {
  noise: {
    send(message, { request, raw }) {
      if (request?.method === 'session/new') raw('[debug] a session was opened');
      return [message];
    },
  },
  batch: {
    send(message, { request, raw }) {
      if (request?.method === 'session/new') raw('[]');
      return [message];
    },
  },
  'no-version': onUpdateOfAll((message) => ({ ...message, jsonrpc: undefined })),
  'answers-twice': onAnswer('session/prompt', (message) => [message, message]),
  'text-ids': { send: (message, { request }) => (request ? [{ ...message, id: String(message.id) }] : [message]) },
  'both-answers': onAnswer('session/prompt', (message) => [
    message.result ? { ...failed(message), ...message } : message,
  ]),
  'knows-everything': {
    send: (message, { request }) => (request?.method.startsWith('_') ? [{ id: message.id, result: {} }] : [message]),
  },
  'unknown-update': onUpdate(isSaid, (body) => ({ ...body, sessionUpdate: 'agent_says' })),
  'empty-update': onUpdate(isSaid, (body) => ({ ...body, content: undefined, messageId: undefined })),
  exits: {
    receive(message, { exit }) {
      if (message.method === 'session/prompt') exit();
      return true;
    },
  },
  'future-version': onResult('initialize', (result) => ({ ...result, protocolVersion: 99 })),
  'list-of-capabilities': onResult('initialize', (result) => ({ ...result, agentCapabilities: [], capabilities: [] })),
  'no-session-id': onResult('session/new', () => ({})),
  'same-session-id': onResult('session/new', (result) => ({ ...result, sessionId: 'reference-1' })),
  'no-answer': onAnswer('session/prompt', () => []),
  'odd-reason': onReason('end_turn', 'done'),
  'other-session': {
    send: (message) =>
      isSaid(message) ? [{ ...message, params: { ...(message.params as object), sessionId: 'another' } }] : [message],
  },
  'takes-any-session': onAnswer('session/prompt', (message) => [
    message.error ? { id: message.id, result: { stopReason: 'end_turn' } } : message,
  ]),
  'no-cancel': { receive: ({ method }) => method !== 'session/cancel' },
  'cancel-completes': onReason('cancelled', 'end_turn'),
  'cancel-fails': {
    send: (message) => [at(message.result, 'stopReason') === 'cancelled' ? failed(message) : message],
  },
  'cancel-sticks': {
    receive({ method, id }, { memory }) {
      if (method === 'session/prompt') memory.set('runs', id);
      if (method === 'session/cancel' && memory.get('runs') === undefined) memory.set('sticks', true);
      return true;
    },
    send(message, { request, memory }) {
      if (request?.method !== 'session/prompt') return [message];
      memory.delete('runs');
      const sticks = memory.get('sticks') === true && message.result !== undefined;
      memory.delete('sticks');
      return sticks ? [{ ...message, result: { stopReason: 'cancelled' } }] : [message];
    },
  },
  'no-options': onQuestion((params) => ({ ...params, options: [] })),
  'odd-kind': onQuestion((params) => ({ ...params, options: [{ optionId: 'yes', name: 'Yes', kind: 'yes' }] })),
  'asks-elsewhere': onQuestion((params) => ({ ...params, sessionId: 'another' })),
  'no-rejection': { receive: ({ method }) => method !== undefined },
  'relative-folder': onResult('session/list', () => ({ sessions: [{ sessionId: 'a', cwd: 'here' }] })),
  'no-list': onResult('session/list', () => ({})),
  'loads-nothing': {
    send: (message, { memory }) =>
      memory.get('open') === 'session/load' && /_message_chunk$/.test(String(nameOf(message))) ? [] : [message],
    receive: remember,
  },
  'loads-late': {
    send(message, { memory, request }) {
      if (memory.get('open') !== 'session/load') return [message];
      const held = (memory.get('held') ?? []) as Message[];
      if (request?.method === 'session/load') {
        memory.delete('open');
        return [message, ...held];
      }
      memory.set('held', [...held, message]);
      return [];
    },
    receive: remember,
  },
  'dead-after-load': deadAfter('session/load'),
  'resume-repeats': repeats('session/resume'),
  'resume-without-state': {
    send: (message, { memory }) => (memory.get('open') === 'session/resume' && isState(message) ? [] : [message]),
    receive: remember,
  },
  'dead-after-resume': deadAfter('session/resume'),
  'no-close': onAnswer('session/close', (message) => [failed(message)]),
  'close-leaves-open': {
    receive({ method, id }, { send }) {
      if (method !== 'session/close') return true;
      send({ id, result: {} });
      return false;
    },
  },
  'close-goes-on': afterAnswer('session/close', (_, { params }) => [said(at(params, 'sessionId'))]),
  'early-update': afterAnswer('session/new', ({ result }) => [said(at(result, 'sessionId'))]),
  'early-after-load': afterAnswer('session/load', (_, { params }) => [
    update(at(params, 'sessionId'), { sessionUpdate: 'session_info_update', title: 'Early' }),
  ]),
  'status-saved': onResult('session/status', () => ({ status: 'saved' })),
  'status-varies': onResult('session/status', (result, { memory }) => {
    const count = Number(memory.get('count') ?? 0) + 1;
    memory.set('count', count);
    return at(result, 'status') === 'live' && count % 3 === 0 ? { status: 'open' } : result;
  }),
  'status-updates': onAnswer('session/status', (message, { params }) => [
    update(at(params, 'sessionId'), { sessionUpdate: 'session_info_update', title: 'Asked' }),
    message,
  ]),
  'status-always-live': onResult('session/status', () => ({ status: 'live' })),
  'status-waits': {
    receive({ method, id }, { memory }) {
      if (method === 'session/prompt') memory.set('runs', id);
      return method !== 'session/status' || memory.get('runs') === undefined;
    },
    send(message, { request, memory }) {
      if (request?.method === 'session/prompt') memory.delete('runs');
      return [message];
    },
  },
  'no-barrier-after-cancel': onUpdate(barrierOf('cancelled'), () => undefined),
  'no-barrier-after-refusal': onUpdate(barrierOf('refusal'), () => undefined),
  'no-barrier-after-error': onUpdate(barrierOf(undefined), () => undefined),
  'update-after-barrier': {
    send: (message) => (barrier(message) ? [message, said(at(message.params, 'sessionId'))] : [message]),
  },
  'usage-after-barrier': {
    send: (message) =>
      barrier(message)
        ? [message, update(at(message.params, 'sessionId'), { sessionUpdate: 'usage_update', used: 1, size: 2 })]
        : [message],
  },
  'barrier-with-other-reason': onUpdate(barrierOf('end_turn'), (body) => ({ ...body, stopReason: 'max_tokens' })),
  'no-echo': onUpdate(
    (message) => nameOf(message) === 'user_message',
    () => undefined,
  ),
  'echo-with-other-id': onUpdate(
    (message) => nameOf(message) === 'user_message',
    (body) => ({ ...body, messageId: 'another' }),
  ),
  'never-running': onUpdate(
    (message) => isState(message) && at(updateOf(message), 'state') === 'running',
    () => undefined,
  ),
  'idle-without-reason': onReason('end_turn', undefined),
  'idle-twice': {
    send: (message) =>
      isState(message) && at(updateOf(message), 'stopReason') !== undefined ? [message, message] : [message],
  },
  'never-idle': onUpdate(
    (message) => isState(message) && at(updateOf(message), 'stopReason') !== undefined,
    () => undefined,
  ),
  'keeps-held-prompts': { send: (message) => (at(message.error, 'code') === -32800 ? [] : [message]) },
  'fails-held-prompts': {
    send: (message) => [at(message.error, 'code') === -32800 ? failed(message) : message],
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type ReferenceFaultName = keyof typeof REFERENCE_FAULTS;

function onUpdateOfAll(change: (message: Message) => Message): Fault {
  return { send: (message) => [updateOf(message) === undefined ? message : change(message)] };
}

function onQuestion(change: (params: object) => object): Fault {
  return {
    send: (message) =>
      message.method === 'session/request_permission'
        ? [{ ...message, params: change(message.params as object) }]
        : [message],
  };
}

function remember({ method }: Message, { memory }: FaultContext): boolean {
  if (typeof method === 'string') memory.set('open', method);
  return true;
}

export class ReferenceFaults {
  readonly #faults: readonly Fault[];
  readonly #host: FaultHost;
  readonly #requests = new Map<unknown, Request>();
  readonly #memory = new Map<string, unknown>();

  constructor(names: readonly ReferenceFaultName[], host: FaultHost) {
    this.#faults = names.map((name): Fault => REFERENCE_FAULTS[name]);
    this.#host = host;
  }

  receive(message: Message): boolean {
    const { method, id, params } = message;
    if (typeof method === 'string' && id !== undefined) this.#requests.set(id, { method, params });
    return this.#faults.every((fault) => fault.receive?.(message, this.#context(undefined)) ?? true);
  }

  send(message: Message): void {
    const request = message.method === undefined ? this.#requests.get(message.id) : undefined;
    const context = this.#context(request);
    const sent = this.#faults.reduce<readonly Message[]>(
      (messages, fault) => (fault.send ? messages.flatMap((one) => fault.send?.(one, context) ?? []) : messages),
      [message],
    );
    for (const one of sent) this.#host.send(one);
  }

  #context(request: Request | undefined): FaultContext {
    return { ...this.#host, request, memory: this.#memory };
  }
}
