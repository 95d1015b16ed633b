// Reads the marks of turns from captured messages: the turn engine, with the times of the messages.
// Nothing in a message is to be trusted, and nothing is done for it.
import { RPC_CODES } from '../../acp/jsonrpc/rpcError';
import { advertises } from '../../acp/proposals/announced';
import { type Dialect, required } from '../../acp/protocol/dialect';
import { toBlock } from '../../acp/protocol/readContent';
import { V1Agent } from '../../acp/v1/v1Agent';
import { V2Agent } from '../../acp/v2/v2Agent';
import { messageOf } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { textOfBlocks } from '../../base/text';
import { at } from '../../base/untrusted';
import type { WireMessage } from '../../traffic/entryMessage';
import type { TrafficEntry } from '../../traffic/trafficLog';
import type { MarkReader, TimedMark } from '../../traffic/turnTrace';
import { dueAt, reduce } from '../turns/engine';
import { hear } from '../turns/heardEvent';
import { initialTurns, type TurnFact, type TurnMark } from '../turns/turnState';

/** Requests without a response that are remembered. */
const MAX_OPEN = 2_000;
/** Requests that name the session of what follows. */
const OF_SESSION: ReadonlySet<string> = new Set(['session/load', 'session/resume', 'session/prompt']);
/** Blocks of one prompt that are read. */
const MAX_BLOCKS = 200;

interface OpenRequest {
  readonly method: string;
  readonly params: unknown;
  /** Of a prompt. */
  readonly handle?: string;
}

export class WireMarks implements MarkReader {
  readonly #log: Log;
  /** Requests of the client that wait for their response, by id. */
  readonly #open = new Map<string, OpenRequest>();
  #state = initialTurns();
  #dialect: Dialect = dialectOf(1);
  #isPromised = false;
  /** The session that was opened or used last. */
  #sessionId: string | undefined;
  #prompts = 0;
  #at = 0;
  #seq: number | undefined;
  #marks: TimedMark[] = [];

  constructor(log: Log = silentLog) {
    this.#log = log;
  }

  get dueAt(): number | undefined {
    return dueAt(this.#state);
  }

  read({ kind, at: when, seq }: Pick<TrafficEntry, 'kind' | 'at' | 'seq'>, message: WireMessage): readonly TimedMark[] {
    this.#pass(when);
    this.#at = when;
    this.#seq = seq;
    try {
      this.#take(kind === 'in', message);
    } catch (error) {
      this.#log.debug(`trace: ${messageOf(error)}`);
    }
    return this.#marks.splice(0);
  }

  tick(now: number): readonly TimedMark[] {
    this.#pass(now);
    return this.#marks.splice(0);
  }

  /** What time alone decides until then. */
  #pass(now: number): void {
    this.#seq = undefined;
    for (let due = this.dueAt; due !== undefined && due <= now; due = this.dueAt) {
      this.#at = due;
      this.#feed({ type: 'tick' });
    }
  }

  #take(fromAgent: boolean, message: WireMessage): void {
    const { method, id, params } = message;
    const hasId = typeof id === 'string' || typeof id === 'number';
    if (typeof method !== 'string') {
      if (fromAgent && hasId) this.#response(String(id), message);
    } else if (fromAgent) {
      if (!hasId && method === 'session/update') this.#update(params);
    } else if (hasId) this.#request(method, String(id), params);
    else if (method === 'session/cancel' && this.#isOurs(params)) this.#feed({ type: 'cancel' });
  }

  #request(method: string, id: string, params: unknown): void {
    // Another process has ids of its own.
    if (method === 'initialize') this.#feed({ type: 'exited', note: 'agent-restarted', interrupted: true });
    if (OF_SESSION.has(method)) this.#sessionId = textAt(params, 'sessionId');
    const handle = method === 'session/prompt' ? this.#prompt(id, params) : undefined;
    this.#open.set(id, { method, params, ...(handle !== undefined && { handle }) });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
  }

  #prompt(requestId: string, params: unknown): string {
    const handle = `p${++this.#prompts}`;
    const blocks = at(params, 'prompt');
    const text = textOfBlocks((Array.isArray(blocks) ? blocks.slice(0, MAX_BLOCKS) : []).map(toBlock));
    const endsBy = this.#dialect.protocol === 2 ? 'state' : 'response';
    this.#feed({ type: 'prompt', handle, promptId: handle, text, endsBy, promised: this.#isPromised });
    this.#feed({ type: 'sent', handle, requestId });
    return handle;
  }

  #response(id: string, message: WireMessage): void {
    const request = this.#open.get(id);
    if (!request) return;
    this.#open.delete(id);
    const { method, handle } = request;
    const { result, error } = message;
    const isError = error !== undefined && error !== null;
    if (handle !== undefined) this.#answer(handle, result, isError ? error : undefined);
    else if (isError) return;
    else if (method === 'initialize') {
      this.#dialect = dialectOf(at(result, 'protocolVersion'));
      this.#isPromised = advertises(result, 'turnComplete');
    } else if (method === 'session/new') this.#sessionId = textAt(result, 'sessionId');
  }

  #answer(handle: string, result: unknown, error: unknown): void {
    if (error === undefined)
      this.#feed({ type: 'answer', handle, answer: required(this.#dialect.readAnswer).call(this.#dialect, result) });
    else {
      const withdrawn = at(error, 'code') === RPC_CODES.cancelled;
      this.#feed({ type: 'failed', handle, error: { code: 'agent-error', message: '' }, withdrawn });
    }
  }

  #update(params: unknown): void {
    // What is repeated is no part of a turn.
    if (!this.#isOurs(params) || this.#isRepeating()) return;
    this.#feed({ type: 'update', isOutput: false });
    this.#dialect.readUpdates([at(params, 'update')], {
      emit: (event) => void hear(event, (fact) => this.#feed(fact)),
      onTurnComplete: (barrier) => this.#feed({ type: 'complete', barrier }),
      onState: (report) => this.#feed({ type: 'state', report }),
      log: this.#log,
    });
  }

  #isRepeating(): boolean {
    return [...this.#open.values()].some(
      ({ method, params }) =>
        method === 'session/load' || (method === 'session/resume' && at(params, 'replayFrom') !== undefined),
    );
  }

  /** Not of a subagent, or of a session that is no longer shown. */
  #isOurs(params: unknown): boolean {
    return this.#sessionId === undefined || textAt(params, 'sessionId') === this.#sessionId;
  }

  #feed(fact: TurnFact): void {
    const [state, effects] = reduce(this.#state, { ...fact, at: this.#at });
    this.#state = state;
    for (const effect of effects) if (effect.type === 'mark') this.#add(effect.mark);
  }

  #add(mark: TurnMark): void {
    this.#marks.push({ ...mark, at: this.#at, ...(this.#seq !== undefined && { seq: this.#seq }) });
  }
}

function textAt(value: unknown, name: string): string | undefined {
  const text = at(value, name);
  return typeof text === 'string' ? text : undefined;
}

/** Only reads: there is nobody to send a request to. */
function dialectOf(version: unknown): Dialect {
  const nobody = {
    request: () => Promise.reject(new Error('captured messages answer nothing')),
    notify: async (): Promise<void> => {},
  };
  return version === 2 ? new V2Agent(nobody) : new V1Agent(nobody);
}
