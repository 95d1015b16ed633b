// Converts the messages of a recording into session events, with the dialects and the turn engine
// of live conversations. Recordings are untrusted and have no effects: no file is read and no
// program started.
import { initialized } from '../../acp/initialize';
import { errorSentence, RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import { readSteering, STEERING } from '../../acp/proposals/steering';
import { type AgentFeatures, type Dialect, required, type StateReport } from '../../acp/protocol/dialect';
import { toBlock } from '../../acp/protocol/readContent';
import { Deferred } from '../../base/deferred';
import { type Disposable, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { textOfBlocks } from '../../base/text';
import { at } from '../../base/untrusted';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { SessionModel, type SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import { resolveDoubtfulPrompts } from '../../session/reconcile/doubtfulPrompts';
import type { RecordedMessage } from '../../traffic/recording';
import { isHandoff } from '../connection/contextHandoff';
import { canReopen } from '../connection/sessionOpenStrategy';
import type { PastUpdates } from '../connection/sessionReplay';
import { isAnswered } from '../conversation/agentRequests';
import { RunningCalls, unknownEnd } from '../conversation/connectionEvents';
import { readUpdates } from '../conversation/inbound';
import type { KeptItem } from '../conversation/persistence';
import { unansweredPrompt } from '../conversation/restore';
import type { Schedule } from '../ports/grace';
import { isSessionGone, promptFailure } from '../prompts/turnControl';
import { TurnDriver } from '../prompts/turnDriver';
import { askedBySubagent, Subagents } from '../requests/subagents';
import { canBeCut } from '../turns/engine';
import { GRACES, initialTurns, type TurnMark } from '../turns/turnState';
import { isOpening, type Opening, type RecordedAgent, RecordedOpenings } from './recordedOpenings';

const MAX_OPEN = 2_000;
const MAX_BLOCKS = 200;
const REOPEN_MS = 100;

export interface RecordedSessionOptions {
  readonly note: (events: readonly TimedEvent[]) => void;
  readonly log?: Log;
  readonly onMark?: (mark: RecordedMark) => void;
}

export interface RecordedMark {
  readonly mark: TurnMark;
  /** Ms since 1970. */
  readonly at: number;
  /** Index of the message; absent: a timer made the mark. */
  readonly message?: number;
}

interface OpenRequest {
  readonly method: string;
  readonly params: unknown;
  readonly prompt?: SentPrompt;
  readonly permissionId?: string | undefined;
  readonly opening?: Opening;
  readonly onStatus?: (result: unknown) => void;
  readonly isEarly?: boolean;
}

interface SentPrompt {
  readonly handle: string;
  /** How often it was refused for a lost session; undefined in a new session. */
  readonly inVain: number | undefined;
}

interface LostPrompt {
  readonly handle: string;
  readonly error: RpcError;
  readonly sessionId: unknown;
  readonly blocks: readonly unknown[];
  readonly inVain: number;
  patience: Disposable;
  isReopened: boolean;
}

export class RecordedSession {
  readonly #options: RecordedSessionOptions;
  readonly #log: Log;
  readonly #clock = new RecordedClock();
  readonly #model = new SessionModel();
  readonly #turns: TurnDriver;
  readonly #openings: RecordedOpenings;
  readonly #loss: RecordedLoss;
  readonly #requests: RecordedRequests;
  readonly #subagents: Subagents;
  readonly #open = new Map<string, OpenRequest>();
  #agent = agentOf(undefined);
  #isConnected = false;
  #lost: LostPrompt[] = [];
  #updateCount = 0;
  #prompts = 0;
  #messages = 0;
  #index: number | undefined;
  #events: TimedEvent[] = [];
  #markedHandle: string | undefined;

  constructor(options: RecordedSessionOptions) {
    const { log = silentLog } = options;
    const { schedule } = this.#clock;
    const apply = this.#emit;
    this.#options = options;
    this.#log = log;
    this.#requests = new RecordedRequests(apply);
    this.#turns = new TurnDriver(initialTurns(), {
      graces: GRACES,
      schedule,
      now: () => this.#clock.now,
      log,
      apply,
      onInserted: () => undefined,
      onSettled: () => undefined,
      onMark: this.#mark,
    });
    this.#openings = new RecordedOpenings({
      agent: () => this.#agent,
      log,
      schedule,
      session: {
        transcript: this.#model.state,
        apply,
        updates: this.#updates,
        reportState: this.#reportState,
        feed: this.#turns.feed,
        repeated: (entries) => this.#loss.repeated(entries),
      },
      rejoins: () => this.#loss.isCut,
      onOpen: () => this.#opened(),
    });
    this.#subagents = new Subagents({
      agent: () => ({ link: { router: this.#openings.router }, dialect: this.#agent.dialect }),
      ownId: () => this.#openings.current,
      apply,
      log,
    });
    this.#loss = new RecordedLoss(this.#turns, this.#model, this.#subagents);
  }

  get dueAt(): number | undefined {
    return this.#clock.dueAt;
  }

  pass(now: number): void {
    this.#safely(() => this.#clock.advance(now));
    this.#flush();
  }

  /**
   * Never throws, whatever the message contains.
   * @param when ms since 1970
   */
  take({ fromAgent, message }: RecordedMessage, when: number): void {
    this.#safely(() => this.#clock.advance(when));
    this.#index = this.#messages++;
    this.#safely(() => this.#read(fromAgent, message));
    this.#index = undefined;
    this.#flush();
  }

  end(): void {
    this.#safely(() => {
      this.#clock.finish();
      this.#end('recording-ended');
    });
    this.#flush();
  }

  #safely(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#log.debug(`recording: ${messageOf(error)}`);
    }
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
    const details = fromAgent ? this.#fromAgent(method, params) : this.#fromClient(method, id, params);
    this.#open.set(keyOf(fromAgent, id), { method, params, ...details });
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
  }

  #fromAgent(method: string, params: unknown): Partial<OpenRequest> {
    if (isAnswered(method)) this.#openings.requested();
    if (method === 'terminal/release') this.#requests.release(at(params, 'terminalId'));
    if (method !== 'session/request_permission') return {};
    const isEarly = this.#openings.current === undefined && this.#openings.isOpening;
    return isEarly ? { isEarly } : { permissionId: this.#showPermission(params) };
  }

  #showPermission(params: unknown): string | undefined {
    const sessionId = at(params, 'sessionId');
    const { current } = this.#openings;
    const isOurs = current === undefined || sessionId === current;
    const subagent = typeof sessionId === 'string' && !isOurs ? sessionId : undefined;
    if (!isOurs && (subagent === undefined || !this.#subagents.stopSignal(subagent))) return undefined;
    return this.#requests.ask(this.#agent.dialect, params, subagent, this.#isCancelled);
  }

  #fromClient(method: string, id: string, params: unknown): Partial<OpenRequest> {
    if (method === 'initialize') {
      if (this.#isConnected) {
        this.#close();
        this.#loss.begin(this.#agent.description.features);
      }
      this.#isConnected = true;
      return {};
    }
    if (method.startsWith('session/')) this.#loss.decide(method);
    if (method === 'session/prompt') return { prompt: this.#prompt(id, params) };
    if (method === STEERING) return { prompt: this.#steer(id, params) };
    if (method === 'session/close' && at(params, 'sessionId') === this.#openings.current) this.#end('session-closed');
    if (method !== 'session/status' && !isOpening(method)) return {};
    this.#reopens();
    return isOpening(method)
      ? { opening: this.#openings.begin(method, params) }
      : { onStatus: this.#onStatusRequest(params) };
  }

  #notification(fromAgent: boolean, method: string, params: unknown): void {
    if (fromAgent && method === 'session/update') this.#openings.update(params);
    else if (!fromAgent && method === 'session/cancel') this.#cancel(params);
    else if (!fromAgent && method === 'session/ready') this.#openings.ready();
  }

  #response(fromAgent: boolean, id: string, message: RecordedMessage['message']): void {
    const key = keyOf(!fromAgent, id);
    const request = this.#open.get(key);
    if (!request) return;
    this.#open.delete(key);
    const error = errorOf(at(message, 'error'));
    const result = error ? undefined : (at(message, 'result') ?? null);
    const { method, params, prompt, opening, onStatus } = request;
    if (!fromAgent) this.#answeredAgent(request, result, error);
    else if (prompt && error) this.#refused(prompt, params, error);
    else if (prompt) this.#answered(prompt, result, method);
    else if (opening) this.#onOpeningAnswered(opening, result);
    else if (onStatus) onStatus(result);
    else if (method === 'initialize' && !error) this.#agent = agentOf(result);
    else if (!error) this.#onChoiceSet(method, params, result);
  }

  #onChoiceSet(method: string, params: unknown, result: unknown): void {
    const [modeId, configOptions] = [at(params, 'modeId'), at(result, 'configOptions')];
    if (method === 'session/set_mode' && typeof modeId === 'string')
      this.#emit({ type: 'mode', current: modeId, byUser: true });
    else if (method === 'session/set_config_option' && Array.isArray(configOptions))
      this.#updates([{ sessionUpdate: 'config_option_update', configOptions }]);
  }

  #answeredAgent({ method, params, permissionId }: OpenRequest, result: unknown, error: RpcError | undefined): void {
    if (permissionId !== undefined) this.#requests.answered(permissionId, result);
    else if (error?.code === RPC_CODES.methodNotFound && !isAnswered(method))
      this.#emit({ type: 'unknown_update', name: method, raw: params });
    else if (!error) this.#requests.ofTerminal(method, params, result);
  }

  #onOpeningAnswered(opening: Opening, result: unknown): void {
    if (this.#openings.answered(opening, result)) {
      for (const [key, request] of this.#open)
        if (request.isEarly)
          this.#open.set(key, { ...request, isEarly: false, permissionId: this.#showPermission(request.params) });
    } else {
      for (const lost of this.#lost) lost.patience = this.#clock.schedule(() => this.#failLost(), REOPEN_MS);
    }
  }

  readonly #updates = (updates: readonly unknown[], past?: PastUpdates): void => {
    this.#updateCount += 1;
    this.#turns.feed({ type: 'update', isOutput: false });
    const session = { feed: this.#turns.feed, reportState: this.#reportState };
    readUpdates(this.#agent.dialect, updates, past, session, this.#log, (event, isApplied) => {
      if (event.type === 'subagent' && !this.#subagents.isSubagent(event.sessionId)) return;
      if (!isApplied) this.#emit(event);
      if (event.type === 'subagent') this.#subagents.register(event.sessionId);
    });
  };

  readonly #reportState = (report: StateReport): void => void this.#turns.feed({ type: 'state', report });

  /**
   * @returns a function that takes the answer, which is ignored if the agent has sent something
   * since
   */
  #onStatusRequest(params: unknown): (result: unknown) => void {
    const updateCount = this.#updateCount;
    const read = this.#openings.asked(params);
    return (result) => {
      const status: SessionStatus = read(result);
      const { state } = status;
      if (this.#loss.isCut) this.#loss.asked(status);
      else if (updateCount === this.#updateCount) {
        if (state) this.#turns.feed({ type: 'state', report: state });
        this.#loss.asked(status);
      }
    };
  }

  #opened(): void {
    if (!this.#loss.isCut) return;
    this.#openings.endReplay();
    this.#loss.opened();
  }

  #end(note: 'session-closed' | 'recording-ended'): void {
    this.#close();
    this.#turns.feed({ type: 'exited', note, interrupted: true });
    this.#subagents.onAgentEnded();
  }

  #close(): void {
    if (!this.#lost.some(({ isReopened }) => isReopened)) this.#failLost();
    this.#lost = [];
    this.#openings.lost();
    this.#requests.closeAll();
    this.#open.clear();
  }

  get #isCancelled(): boolean {
    return this.#turns.state.turn?.cancelRequested === true;
  }

  #prompt(requestId: string, params: unknown): SentPrompt {
    const blocks = blocksOf(params);
    const sessionId = at(params, 'sessionId');
    const lost = this.#takeLost(blocks);
    if (!lost) this.#failLost();
    this.#openings.prompted(sessionId);
    // A new session also receives the earlier transcript.
    if (lost && lost.sessionId !== sessionId) this.#turns.replaceText(lost.handle, textOfBlocks(blocks.map(toBlock)));
    const handle = lost?.handle ?? this.#newPrompt(blocks);
    this.#turns.feed({ type: 'sent', handle, requestId });
    if (!lost) return { handle, inVain: 0 };
    return { handle, inVain: lost.sessionId === sessionId ? lost.inVain + 1 : undefined };
  }

  #steer(requestId: string, params: unknown): SentPrompt {
    const handle = this.#newPrompt(blocksOf(params), true);
    this.#turns.feed({ type: 'sent', handle, requestId });
    return { handle, inVain: undefined };
  }

  #newPrompt(blocks: readonly unknown[], steers?: true): string {
    const { features } = this.#agent.description;
    const sent = blocks.map(toBlock);
    const content = sent.filter((block) => !isHandoff(block));
    const text = textOfBlocks(sent);
    return this.#turns.prompt(
      { content, done: new Deferred(), echo: content.length < sent.length ? text : undefined },
      {
        promptId: `recorded-${++this.#prompts}`,
        text,
        endsBy: features.states ? 'state' : 'response',
        promised: features.turnComplete !== undefined,
        ...(steers && { steers }),
      },
    );
  }

  #answered({ handle }: SentPrompt, result: unknown, method: string): void {
    if (method === STEERING) this.#steered(handle, result);
    else this.#turns.feed({ type: 'answer', handle, answer: required(this.#agent.dialect.readAnswer?.(result)) });
  }

  #steered(handle: string, result: unknown): void {
    try {
      this.#turns.feed({ type: 'answer', handle, answer: readSteering(result) });
    } catch (error) {
      const failure = promptFailure(error);
      if (failure.code !== 'steering-unclear')
        this.#turns.feed({ type: 'failed', handle, error: failure, withdrawn: false });
    }
  }

  /** A client that reopens a lost session sends the prompt again in the same turn. */
  #refused({ handle, inVain }: SentPrompt, params: unknown, error: RpcError): void {
    const sessionId = at(params, 'sessionId');
    if (inVain === undefined || !isSessionGone(error, String(sessionId), inVain) || this.#isCancelled) {
      this.#failed(handle, error);
      return;
    }
    const patience = this.#clock.schedule(() => this.#failLost(), REOPEN_MS);
    // The turn continues, so the engine gets this answer only if the prompt isn't sent again.
    this.#mark({ kind: 'answer', handle });
    this.#lost.push({ handle, error, sessionId, blocks: blocksOf(params), inVain, patience, isReopened: false });
  }

  #reopens(): void {
    for (const lost of this.#lost) {
      lost.patience.dispose();
      lost.isReopened = true;
    }
  }

  /** @returns the refused prompt if this repeats it, possibly with more content */
  #takeLost(blocks: readonly unknown[]): LostPrompt | undefined {
    const lost = this.#lost.find(
      ({ isReopened, blocks: all }) =>
        isReopened && all.every((block, index) => JSON.stringify(block) === JSON.stringify(blocks[index])),
    );
    this.#lost = this.#lost.filter((other) => other !== lost);
    return lost;
  }

  #failLost(): void {
    for (const { handle, error, patience } of this.#lost.splice(0)) {
      patience.dispose();
      this.#markedHandle = handle;
      this.#failed(handle, error);
      this.#markedHandle = undefined;
    }
  }

  readonly #mark = (mark: TurnMark): void => {
    if (mark.kind === 'answer' && mark.handle !== undefined && mark.handle === this.#markedHandle) return;
    const message = this.#index;
    this.#options.onMark?.({ mark, at: this.#clock.now, message });
  };

  #failed(handle: string, error: RpcError): void {
    const withdrawn = error.code === RPC_CODES.cancelled;
    this.#turns.feed({ type: 'failed', handle, error: promptFailure(error), withdrawn });
  }

  /** Stop also gives up reopening a lost session. */
  #cancel(params: unknown): void {
    if (this.#subagents.stopSignal(String(at(params, 'sessionId')))) return;
    this.#turns.feed({ type: 'cancel' });
    if (this.#lost.length === 0) return;
    this.#openings.giveUp();
    this.#failLost();
  }

  readonly #emit = (event: SessionEvent): void => {
    const timed = { at: this.#clock.now, event };
    this.#model.apply(event, timed.at);
    this.#events.push(timed);
  };

  #flush(): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    this.#options.note(events);
  }
}

function keyOf(fromAgent: boolean, id: string): string {
  return `${fromAgent ? 'agent' : 'client'} ${id}`;
}

function blocksOf(params: unknown): readonly unknown[] {
  const prompt = at(params, 'prompt');
  return Array.isArray(prompt) ? prompt.slice(0, MAX_BLOCKS) : [];
}

function errorOf(error: unknown): RpcError | undefined {
  if (error === undefined || error === null) return undefined;
  const [code, message, data] = [at(error, 'code'), at(error, 'message'), at(error, 'data')];
  const sentence = errorSentence(typeof message === 'string' ? message : '', data);
  return new RpcError(typeof code === 'number' ? code : RPC_CODES.internal, sentence, data);
}

function agentOf(raw: unknown): RecordedAgent {
  const nobody = {
    request: () => Promise.reject(new Error('a recording answers nothing')),
    notify: async (): Promise<void> => {},
  };
  return initialized(raw, nobody) ?? required(initialized({ protocolVersion: 1 }, nobody));
}

const MAX_TIMERS = 1000;

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Advances from message to message, and fires timers at the times at which they would have fired
 * live.
 */
class RecordedClock {
  now = 0;
  #isRunning = false;
  readonly #timers = new Set<Timer>();

  readonly schedule: Schedule = (run, ms): Disposable => {
    const wait = { at: this.now + ms, run };
    this.#timers.add(wait);
    return toDisposable(() => this.#timers.delete(wait));
  };

  get dueAt(): number | undefined {
    return this.#next()?.at;
  }

  /** @param to ms since 1970 */
  advance(to: number): void {
    if (!this.#isRunning) this.now = to;
    this.#isRunning = true;
    for (let wait = this.#next(); wait && wait.at <= to; wait = this.#next()) this.#carryOut(wait);
    this.now = Math.max(this.now, to);
  }

  finish(): void {
    for (let count = 0; count < MAX_TIMERS; count++) {
      const wait = this.#next();
      if (!wait) return;
      this.#carryOut(wait);
    }
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const wait of this.#timers) if (!next || wait.at < next.at) next = wait;
    return next;
  }

  #carryOut(wait: Timer): void {
    this.#timers.delete(wait);
    this.now = Math.max(this.now, wait.at);
    wait.run();
  }
}

/** A connection that is lost in a turn: the next one continues or ends the turn, as live. */
class RecordedLoss {
  readonly #turns: TurnDriver;
  readonly #model: SessionView;
  readonly #subagents: Pick<Subagents, 'onAgentEnded' | 'resume'>;
  #isUndecided = false;
  /** The prompt of the waiting turn, if nothing shows that the agent has it. */
  #doubtfulPrompt: KeptItem | undefined;
  #hasReplayed = false;
  #promptArrived = false;
  #isOpen = false;
  readonly #runningCalls = new RunningCalls();

  constructor(turns: TurnDriver, model: SessionView, subagents: Pick<Subagents, 'onAgentEnded' | 'resume'>) {
    this.#turns = turns;
    this.#model = model;
    this.#subagents = subagents;
  }

  begin(features: AgentFeatures): void {
    this.#isUndecided = features.status !== undefined && canReopen(features) && canBeCut(this.#turns.state);
    if (!this.#isUndecided) this.end();
  }

  /**
   * Clients ask about a turn before they reopen its session.
   * @param method of the next request
   */
  decide(method: string): void {
    if (!this.#isUndecided) return;
    this.#isUndecided = false;
    if (method !== 'session/status') {
      this.end();
      return;
    }
    this.#doubtfulPrompt = unansweredPrompt(this.#model.state);
    this.#hasReplayed = false;
    this.#promptArrived = false;
    this.#isOpen = false;
    this.#turns.feed({ type: 'cut' });
  }

  get isCut(): boolean {
    return this.#turns.state.cut !== undefined;
  }

  repeated(repeated: readonly Entry[]): void {
    this.#hasReplayed = true;
    if (!this.#doubtfulPrompt) return;
    const waiting = { items: [this.#doubtfulPrompt], remove: () => undefined };
    this.#promptArrived ||= resolveDoubtfulPrompts(waiting, this.#model.state.entries, repeated).length > 0;
  }

  opened(): void {
    this.#isOpen = true;
    this.#turns.feed({ type: 'asking' });
  }

  asked(status: SessionStatus): void {
    if (this.isCut && this.#isOpen) {
      const effects = this.#turns.feed({ type: 'asked', status, hasArrived: this.#hasArrived });
      if (effects.some(({ type }) => type === 'lost')) this.end();
      else this.#subagents.resume(this.#model.state.entries);
    } else if (this.isCut) {
      if (status.answer !== 'live') this.end();
    } else if (this.#turns.state.turn?.isRejoined) this.#checkRejoined(status);
  }

  end(): void {
    this.#turns.feed({ type: 'exited', note: 'agent-restarted', interrupted: true });
    this.#subagents.onAgentEnded();
  }

  #checkRejoined({ answer, state }: SessionStatus): void {
    const { turn } = this.#model.state;
    const continues = state
      ? !isIdle(state)
      : answer === 'live' && turn && this.#runningCalls.check(this.#model.state, turn.id);
    if (!continues) this.#turns.feed({ type: 'no_end', note: unknownEnd() });
  }

  get #hasArrived(): boolean | undefined {
    if (this.#promptArrived || !this.#doubtfulPrompt || !unansweredPrompt(this.#model.state)) return true;
    return this.#hasReplayed ? false : undefined;
  }
}

const MAX_WORDS = 100;

class RecordedRequests {
  readonly #emit: (event: SessionEvent) => void;
  readonly #questions = new Set<string>();
  readonly #terminals = new Set<string>();
  #count = 0;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /**
   * Shows a permission request.
   * @param subagent session of the asking subagent
   * @param isCancelled the turn was stopped, so nothing is shown
   * @returns its id, if shown
   */
  ask(dialect: Dialect, params: unknown, subagent: string | undefined, isCancelled: boolean): string | undefined {
    const read = required(dialect.controls).readPermission(params);
    const { toolCallId, patch, title, description, command, options } =
      subagent === undefined ? read : askedBySubagent(read, subagent);
    if (toolCallId !== undefined && patch)
      this.#emit({ type: 'tool_call', toolCallId, patch, announced: false, asks: true });
    if (isCancelled) return undefined;
    const permissionId = `recorded-${++this.#count}`;
    this.#emit({
      type: 'permission_asked',
      permissionId,
      title,
      options,
      toolCallId,
      description: description || undefined,
      command,
    });
    this.#questions.add(permissionId);
    return permissionId;
  }

  /** @param result undefined for an error */
  answered(permissionId: string, result: unknown): void {
    if (!this.#questions.delete(permissionId)) return;
    const optionId = at(result, 'outcome', 'optionId');
    this.#emit(
      typeof optionId === 'string'
        ? { type: 'permission_closed', permissionId, outcome: 'selected', optionId, by: 'user' }
        : { type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'turn' },
    );
  }

  ofTerminal(method: string, params: unknown, result: unknown): void {
    if (method === 'terminal/create') {
      const [terminalId, command, cwd] = [at(result, 'terminalId'), at(params, 'command'), at(params, 'cwd')];
      if (typeof terminalId !== 'string') return;
      const args = at(params, 'args');
      const words = [command, ...(Array.isArray(args) ? args.slice(0, MAX_WORDS) : [])].filter(isText);
      this.#terminals.add(terminalId);
      this.#emit({ type: 'terminal', terminalId, command: words.join(' '), cwd: isText(cwd) ? cwd : undefined });
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
        exit: {
          exitCode: typeof exitCode === 'number' ? exitCode : undefined,
          signal: isText(signal) ? signal : undefined,
        },
      }),
    });
  }

  release(terminalId: unknown): void {
    if (typeof terminalId === 'string' && this.#terminals.delete(terminalId))
      this.#emit({ type: 'terminal', terminalId, released: true });
  }

  closeAll(): void {
    for (const permissionId of this.#questions)
      this.#emit({ type: 'permission_closed', permissionId, outcome: 'cancelled', by: 'exit' });
    this.#questions.clear();
    for (const terminalId of this.#terminals) this.#emit({ type: 'terminal', terminalId, released: true });
    this.#terminals.clear();
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
