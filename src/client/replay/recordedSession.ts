// Turns the messages of a recording into session events, by the same dialects that read a live
// agent. Nothing in a recording is to be trusted, and nothing is done for it: no file is read and
// no program started.
import { errorSentence } from '../../acp/jsonrpc/rpcError';
import { readStopReason } from '../../acp/proposals/turnComplete';
import { type Dialect, required, type UpdateTargets } from '../../acp/protocol/dialect';
import { toBlock, toConfigOptions } from '../../acp/protocol/readContent';
import { V1Agent } from '../../acp/v1/v1Agent';
import { toModes } from '../../acp/v1/v1Events';
import { V2Agent } from '../../acp/v2/v2Agent';
import { toOptions } from '../../acp/v2/v2Events';
import { messageOf } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { at } from '../../base/untrusted';
import type { SessionEvent, StopReason, TimedEvent } from '../../session/events/event';
import type { RecordedMessage } from '../../traffic/recording';

/** Requests without a response that are remembered. */
const MAX_OPEN = 2_000;
/** Blocks of one prompt that are shown. */
const MAX_BLOCKS = 200;

interface OpenRequest {
  readonly method: string;
  readonly params: unknown;
  /** Of a prompt. */
  readonly turnId?: string;
  /** Of a question. */
  readonly permissionId?: string;
}

export class RecordedSession {
  readonly #note: (events: readonly TimedEvent[]) => void;
  readonly #log: Log;
  /** Requests that wait for their response, by who sent them and their id. */
  readonly #open = new Map<string, OpenRequest>();
  /** Questions that nobody has answered yet. */
  readonly #questions = new Set<string>();
  readonly #terminals = new Set<string>();
  #dialect: Dialect = dialectOf(1);
  #turn: string | undefined;
  #count = 0;
  #at = 0;
  /** The session that was opened last. */
  #sessionId: string | undefined;
  /** The session that is shown was asked for again, and its first update is still to come. */
  #isRepeating = false;
  #events: TimedEvent[] = [];

  /** @param note takes what happens, with its time in ms since 1970 */
  constructor(note: (events: readonly TimedEvent[]) => void, log: Log = silentLog) {
    this.#note = note;
    this.#log = log;
  }

  /** Takes the next message. Never throws for what is in it. @param when ms since 1970 */
  take({ fromAgent, message }: RecordedMessage, when: number): void {
    this.#at = when;
    try {
      this.#read(fromAgent, message);
    } catch (error) {
      this.#log.debug(`recording: ${messageOf(error)}`);
    }
    this.#flush();
  }

  /** The recording is over: nothing stays open. */
  end(): void {
    for (const permissionId of this.#questions)
      this.#emit({ type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'exit' });
    this.#questions.clear();
    for (const terminalId of this.#terminals) this.#emit({ type: 'terminal', terminalId, released: true });
    this.#terminals.clear();
    this.#endTurn('unknown', 'exit');
    this.#flush();
  }

  #read(fromAgent: boolean, message: RecordedMessage['message']): void {
    const [method, id] = [at(message, 'method'), at(message, 'id')];
    const isCall = typeof method === 'string';
    const hasId = typeof id === 'string' || typeof id === 'number';
    const params = at(message, 'params');
    if (isCall && hasId) this.#request(fromAgent, method, String(id), params);
    else if (isCall) this.#notification(fromAgent, method, params);
    else if (hasId) this.#response(fromAgent, String(id), message);
  }

  #request(fromAgent: boolean, method: string, id: string, params: unknown): void {
    const request: OpenRequest = {
      method,
      params,
      ...(!fromAgent && method === 'session/prompt' && { turnId: this.#prompt(params) }),
      ...(fromAgent && method === 'session/request_permission' && { permissionId: this.#question(params) }),
    };
    if (!fromAgent && repeats(method, params) && at(params, 'sessionId') === this.#sessionId) this.#isRepeating = true;
    if (fromAgent && method === 'terminal/release') this.#release(at(params, 'terminalId'));
    this.#open.set(keyOf(fromAgent, id), request);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
  }

  #notification(fromAgent: boolean, method: string, params: unknown): void {
    if (fromAgent && method === 'session/update') this.#update(at(params, 'update'));
    else if (!fromAgent && method === 'session/cancel' && this.#turn !== undefined)
      this.#emit({ type: 'cancel_requested', turnId: this.#turn });
  }

  #response(fromAgent: boolean, id: string, message: RecordedMessage['message']): void {
    const key = keyOf(!fromAgent, id);
    const request = this.#open.get(key);
    if (!request) return;
    this.#open.delete(key);
    const [result, error] = [at(message, 'result'), at(message, 'error')];
    const isError = error !== undefined && error !== null;
    const { method, params, turnId, permissionId } = request;
    if (permissionId !== undefined) this.#answered(permissionId, result);
    else if (turnId !== undefined) this.#answerOfPrompt(turnId, result, isError ? error : undefined);
    else if (isError) this.#isRepeating &&= !repeats(method, params);
    else if (fromAgent && method === 'initialize') this.#dialect = dialectOf(at(result, 'protocolVersion'));
    else if (fromAgent) this.#opened(method, result);
    else this.#ofTerminal(method, params, result);
  }

  #update(update: unknown): void {
    // Everything that was said comes again: what stands here would stand here twice.
    if (this.#isRepeating) {
      this.#isRepeating = false;
      this.#endTurn('unknown', 'exit');
      this.#emit({ type: 'cleared', replay: true });
    }
    const targets: UpdateTargets = {
      emit: (event) => this.#emit(event),
      onTurnComplete: ({ stopReason }) => this.#endTurn(stopReason ?? 'unknown', 'turn_complete'),
      onState: ({ state, stopReason }) => {
        if (state === 'idle') this.#endTurn(stopReason ?? 'unknown', 'state');
      },
      log: this.#log,
    };
    this.#dialect.readUpdates([update], targets);
  }

  #prompt(params: unknown): string {
    this.#endTurn('unknown', 'exit');
    const turnId = `recorded-${++this.#count}`;
    this.#turn = turnId;
    const blocks = at(params, 'prompt');
    const content = (Array.isArray(blocks) ? blocks.slice(0, MAX_BLOCKS) : []).map(toBlock);
    this.#emit({ type: 'turn_started', turnId, origin: 'user', at: this.#at });
    this.#emit({ type: 'prompt_sent', turnId, promptId: turnId, content });
    return turnId;
  }

  /** In version 2 the response says that the prompt was taken in; the agent's state ends the turn. */
  #answerOfPrompt(turnId: string, result: unknown, error: unknown): void {
    if (turnId !== this.#turn) return;
    if (error !== undefined) {
      const message = at(error, 'message');
      this.#emit({
        type: 'error',
        code: 'agent-error',
        message: errorSentence(typeof message === 'string' ? message : '', at(error, 'data')),
      });
      this.#endTurn('error', 'response');
    } else if (this.#dialect.protocol === 1) {
      this.#endTurn(readStopReason(at(result, 'stopReason')) ?? 'unknown', 'response');
    } else {
      const messageId = at(result, 'messageId');
      if (isText(messageId)) this.#emit({ type: 'prompt_inserted', promptId: turnId, messageId });
    }
  }

  #endTurn(stopReason: StopReason, barrier: 'response' | 'state' | 'turn_complete' | 'exit'): void {
    if (this.#turn === undefined) return;
    this.#emit({ type: 'turn_ended', turnId: this.#turn, stopReason, barrier, at: this.#at });
    this.#turn = undefined;
  }

  #question(params: unknown): string {
    const { toolCallId, patch, title, description, command, options } = required(this.#dialect.controls).readPermission(
      params,
    );
    const permissionId = `recorded-${++this.#count}`;
    if (toolCallId !== undefined && patch)
      this.#emit({ type: 'tool_call', toolCallId, patch, announced: false, asks: true });
    this.#emit({
      type: 'permission_asked',
      permissionId,
      title,
      options,
      ...(toolCallId !== undefined && { toolCallId }),
      ...(description && { description }),
      ...(command && { command }),
    });
    this.#questions.add(permissionId);
    return permissionId;
  }

  #answered(permissionId: string, result: unknown): void {
    if (!this.#questions.delete(permissionId)) return;
    const optionId = at(result, 'outcome', 'optionId');
    this.#emit(
      typeof optionId === 'string'
        ? { type: 'permission_closed', permissionId, outcome: 'selected', optionId, by: 'user' }
        : { type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'turn' },
    );
  }

  #opened(method: string, result: unknown): void {
    if (method !== 'session/new' && method !== 'session/load' && method !== 'session/resume') return;
    const sessionId = at(result, 'sessionId');
    if (typeof sessionId === 'string') {
      // Its ids name other things than those of the session before.
      if (this.#sessionId !== undefined && sessionId !== this.#sessionId) this.#emit({ type: 'ids_renewed' });
      this.#sessionId = sessionId;
    }
    const raw = at(result, 'configOptions');
    const options = this.#dialect.protocol === 2 ? toOptions(raw) : toConfigOptions(raw);
    const modes = toModes(at(result, 'modes'));
    if (options.length > 0) this.#emit({ type: 'config', options });
    else if (modes) this.#emit({ type: 'modes', ...modes });
  }

  /** What a client told the agent of a terminal that it ran. */
  #ofTerminal(method: string, params: unknown, result: unknown): void {
    if (method === 'terminal/create') {
      const [terminalId, command, cwd] = [at(result, 'terminalId'), at(params, 'command'), at(params, 'cwd')];
      if (typeof terminalId !== 'string') return;
      const args = at(params, 'args');
      const words = [command, ...(Array.isArray(args) ? args.slice(0, 100) : [])].filter(isText);
      this.#terminals.add(terminalId);
      this.#emit({ type: 'terminal', terminalId, command: words.join(' '), ...(isText(cwd) && { cwd }) });
      return;
    }
    const terminalId = at(params, 'terminalId');
    if (typeof terminalId !== 'string' || !this.#terminals.has(terminalId)) return;
    const isOutput = method === 'terminal/output';
    if (!isOutput && method !== 'terminal/wait_for_exit') return;
    const output = at(result, 'output');
    const exit = isOutput ? at(result, 'exitStatus') : result;
    const [exitCode, signal] = [at(exit, 'exitCode'), at(exit, 'signal')];
    this.#emit({
      type: 'terminal',
      terminalId,
      ...(isOutput && isText(output) && { output, truncated: at(result, 'truncated') === true }),
      ...((typeof exitCode === 'number' || isText(signal)) && {
        exit: { ...(typeof exitCode === 'number' && { exitCode }), ...(isText(signal) && { signal }) },
      }),
    });
  }

  #release(terminalId: unknown): void {
    if (typeof terminalId === 'string' && this.#terminals.delete(terminalId))
      this.#emit({ type: 'terminal', terminalId, released: true });
  }

  #emit(event: SessionEvent): void {
    this.#events.push({ at: this.#at, event });
  }

  #flush(): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    this.#note(events);
  }
}

function keyOf(fromAgent: boolean, id: string): string {
  return `${fromAgent ? 'agent' : 'client'} ${id}`;
}

/** Returns whether a request makes an agent repeat a session. */
function repeats(method: string, params: unknown): boolean {
  return method === 'session/load' || (method === 'session/resume' && at(params, 'replayFrom') !== undefined);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Only reads: there is nobody to send a request to. */
function dialectOf(version: unknown): Dialect {
  const nobody = {
    request: () => Promise.reject(new Error('a recording answers nothing')),
    notify: async (): Promise<void> => {},
  };
  return version === 2 ? new V2Agent(nobody) : new V1Agent(nobody);
}
