// A live conversation with one agent: it starts the agent, opens the session, sends what is queued, and keeps the model. All knowledge of "what state are we in" is
// one union here; everything shown is derived from it, the model, the queue and the stages.
import { RpcError, rpcCodes } from '../acp/rpcError';
import { advertisesReady, sendReady } from '../acp/sessionReady';
import { advertisesStatus, probeStatus } from '../acp/sessionStatus';
import { advertisesTurnComplete, readTurnComplete } from '../acp/turnComplete';
import type { AuthMethod, OpenedSession, PromptCapabilities } from '../acp/v1Agent';
import { readUpdate, toConfigOptions, toModes } from '../acp/v1Events';
import type { AgentDefinition } from '../agents/agentDefinition';
import type { Disposable } from '../base/disposable';
import { DisposableStore } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import type { Liveness, StageName } from '../panel/contract';
import type { SessionEvent } from '../session/event';
import { SessionModel } from '../session/model';
import { PromptQueue, type QueuedAttachment, type QueueItem } from '../session/queue';
import type { AgentFiles } from './agentFiles';
import { AgentLink } from './agentLink';
import { answerRequest } from './agentRequests';
import { Outbox } from './outbox';
import { PermissionDesk } from './permissionDesk';
import type { ConversationServices } from './services';
import { type Deadlines, deadlinesFor, Stages } from './stages';
import { TurnLedger, type TurnResult } from './turnLedger';

/** Where the connection is. One value, so that no two flags can disagree. */
export type ConnectionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'authRequired';
      readonly link: AgentLink;
      readonly methods: readonly AuthMethod[];
      readonly error?: string;
    }
  | { readonly kind: 'ready'; readonly link: AgentLink; readonly sessionId: string }
  | { readonly kind: 'failed'; readonly error: ParleyError; readonly stage?: StageName }
  | { readonly kind: 'exited'; readonly error: ParleyError };

export interface ConversationOptions {
  /** Ours, stable across reconnects. */
  readonly key: string;
  readonly agent: AgentDefinition;
  /** Absolute; the first root. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
}

/** How long an agent may take to stop before the user is offered to end it, in milliseconds. */
const STOP_PATIENCE_MS = 10_000;
/** How long a session is quiet before a probe precedes the next prompt, in milliseconds. */
const QUIET_MS = 5 * 60_000;
const PROBE_TIMEOUT_MS = 5000;

export class Conversation implements Disposable {
  readonly key: string;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly model = new SessionModel();
  readonly queue: PromptQueue;
  readonly stages: Stages;
  /** What goes with the next message. */
  readonly attachments: QueuedAttachment[] = [];
  /** What is typed and not sent. */
  draft = '';
  readonly #services: ConversationServices;
  readonly #ledger: TurnLedger;
  readonly #permissions: PermissionDesk;
  readonly #outbox: Outbox;
  readonly #lifetime = new DisposableStore();
  #connection: ConnectionState = { kind: 'idle' };
  #liveness: Liveness = 'unknown';
  #starting: { readonly promise: Promise<void>; readonly abort: AbortController } | undefined;
  #files: AgentFiles | undefined;
  /** Known as soon as the agent names it: its requests may come with the next message. */
  #sessionId: string | undefined;
  #lastHeardAt = 0;
  #stopTimer: ReturnType<typeof setTimeout> | undefined;
  #ignoresStop = false;
  #signIn: AbortController | undefined;

  constructor(options: ConversationOptions) {
    const { services } = options;
    this.key = options.key;
    this.agent = options.agent;
    this.cwd = options.cwd;
    this.roots = options.roots;
    this.#services = services;
    this.queue = new PromptQueue(() => this.model.touch('queue'));
    this.stages = new Stages(services.clock.now, () => this.model.touch('connection'));
    const apply = (event: SessionEvent): void => this.#apply(event);
    this.#ledger = new TurnLedger({
      apply,
      now: services.clock.now,
      log: services.log,
      onSettled: () => this.#onTurnSettled(),
      ...(services.barrierGraceMs !== undefined && { barrierGraceMs: services.barrierGraceMs }),
    });
    this.#permissions = new PermissionDesk(apply);
    this.#outbox = new Outbox(this.queue, {
      canSend: () => this.#connection.kind === 'ready' && this.#ledger.current === undefined,
      send: (item) => this.#sendPrompt(item),
    });
    const own = new Set<string>();
    this.#lifetime.add(
      services.terminals.onDidCreate(({ sessionId, terminalId, command, cwd }) => {
        if (sessionId !== this.key) return;
        own.add(terminalId);
        apply({ type: 'terminal', terminalId, command, cwd });
      }),
    );
    this.#lifetime.add(
      services.terminals.onDidChange(({ terminalId, append, exit, released }) => {
        if (!own.has(terminalId)) return;
        apply({
          type: 'terminal',
          terminalId,
          ...(append && { append }),
          ...(exit && { exit }),
          ...(released && { released }),
        });
      }),
    );
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  get liveness(): Liveness {
    return this.#liveness;
  }

  /** The agent was asked to stop and has not for ten seconds. */
  get ignoresStop(): boolean {
    return this.#ignoresStop;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** A turn runs, or its prompt waits for its answer. */
  get isBusy(): boolean {
    return this.#ledger.current !== undefined;
  }

  /** What the agent said of itself; undefined before it was initialized. */
  get link(): AgentLink | undefined {
    const { link } = this.#connection as { link?: AgentLink };
    return link;
  }

  get promptCapabilities(): PromptCapabilities {
    return this.link?.description.prompt ?? { image: false, audio: false, embeddedContext: false };
  }

  /** Starts the agent and opens a session, once; later calls join. Never throws: what fails is in {@link connection}. */
  start(): Promise<void> {
    const { kind } = this.#connection;
    if (this.#starting) return this.#starting.promise;
    if (kind === 'ready' || kind === 'authRequired' || this.#lifetime.isDisposed) return Promise.resolve();
    const abort = new AbortController();
    const promise = this.#start(abort.signal).finally(() => {
      this.#starting = undefined;
      this.model.touch('connection');
    });
    this.#starting = { promise, abort };
    return promise;
  }

  /**
   * Takes a message: sent now, or queued until the session is ready and the running turn has ended.
   * @returns the queue item's id, and the end of its turn (rejects with `message-removed` or `conversation-closed`).
   * @throws ParleyError `untrusted-workspace`, `empty-message`; the message stays with the caller then.
   */
  send(text: string, attachments: readonly QueuedAttachment[] = []): { id: string; done: Promise<TurnResult> } {
    if (!this.#services.isTrusted()) throw untrusted();
    if (text.trim() === '' && attachments.length === 0)
      throw new ParleyError('empty-message', 'There is nothing to send.');
    // A message that the user sends while nothing runs is meant now; what they paused before it stays paused.
    const now = this.queue.paused !== undefined && !this.isBusy;
    const item = this.queue.add(text, attachments, now ? 'first' : 'last');
    const done = now ? this.#outbox.sendFirst(item) : this.#outbox.expect(item);
    void this.start();
    this.#outbox.pump();
    return { id: item.id, done };
  }

  /** Sends a queued message next: at once where nothing runs, else the running turn is cancelled and the message follows its end. */
  sendNow(id: string): void {
    const item = this.queue.find(id);
    if (!item || item.state === 'sending') return;
    this.queue.move(id, 0);
    void this.#outbox.sendFirst(item);
    if (this.isBusy) this.#cancelTurn();
    void this.start();
    this.#outbox.pump();
  }

  /** Lets the queue go on. */
  resumeQueue(): void {
    this.queue.resume();
    void this.start();
    this.#outbox.pump();
  }

  /** Takes messages out of the queue: one, or all. */
  removeFromQueue(id?: string): void {
    const gone = id === undefined ? this.queue.clear() : [this.queue.remove(id)];
    for (const item of gone) if (item) this.#outbox.forget(item);
  }

  /** Lets an item that was edited or released go, where it is its turn. */
  pumpQueue(): void {
    this.#outbox.pump();
  }

  /** Stops the running turn, or a start that has not ended. What is queued waits for the user, by their setting. */
  cancel(): void {
    if (this.#starting && this.#connection.kind !== 'ready') {
      this.#starting.abort.abort(new ParleyError('start-cancelled', 'The start was stopped.'));
      return;
    }
    if (!this.isBusy) return;
    if (this.queue.items.length > 0 && this.#services.afterCancel() === 'pause')
      this.queue.pause('you stopped the turn');
    this.#cancelTurn();
  }

  answerPermission(id: string, optionId: string | null): boolean {
    return this.#permissions.answer(id, optionId);
  }

  /** @throws ParleyError `no-session`; what the agent answers. */
  async setMode(modeId: string): Promise<void> {
    const { link, sessionId } = this.#ready();
    await link.v1.setMode(sessionId, modeId);
    this.#apply({ type: 'mode', current: modeId });
  }

  /** @throws ParleyError `no-session`; what the agent answers. */
  async setConfigOption(id: string, value: string | boolean): Promise<void> {
    const { link, sessionId } = this.#ready();
    const options = await link.v1.setConfigOption(sessionId, id, value);
    if (Array.isArray(options)) this.#apply({ type: 'config', options: toConfigOptions(options) });
  }

  /** Asks the agent whether it handles the session; shown, and nothing else. Without the capability nothing is sent. */
  async checkStatus(): Promise<Liveness> {
    const state = this.#connection;
    if (state.kind !== 'ready' || !advertisesStatus(state.link.description.raw)) return 'unknown';
    const answer = await probeStatus(state.link.rpc, state.sessionId, PROBE_TIMEOUT_MS).catch(
      () => 'unsupported' as const,
    );
    if (this.#connection !== state) return this.#liveness;
    this.#setLiveness(answer === 'live' || answer === 'not_found' ? answer : 'unknown');
    return this.#liveness;
  }

  /** Signs in with a method of the agent, then opens the session. Never throws: a failure is shown and can be tried again. */
  async signIn(methodId: string): Promise<void> {
    const state = this.#connection;
    if (state.kind !== 'authRequired') return;
    this.#signIn?.abort();
    const abort = new AbortController();
    this.#signIn = abort;
    try {
      await this.stages.run('sign-in', this.#deadlines()['sign-in'], abort.signal, (stop) =>
        state.link.until((inner) => state.link.v1.authenticate(methodId, inner), stop),
      );
      await this.#openSession(state.link, abort.signal);
    } catch (error) {
      if (this.#connection === state) this.#set({ ...state, error: messageOf(error) });
    }
  }

  /** Ends the agent and starts it anew. The transcript stays; the agent begins a new session and is said to. */
  async restart(): Promise<void> {
    await this.#drop('the agent was restarted');
    if (this.model.state.entries.length > 0) {
      this.#apply({
        type: 'notice',
        severity: 'info',
        title: 'New session',
        description: `${this.agent.name} was started again and does not know what is above.`,
      });
    }
    await this.start();
  }

  /** Ends the agent and everything that it started. */
  async close(): Promise<void> {
    await this.#drop('the session was closed');
    this.dispose();
  }

  dispose(): void {
    if (this.#lifetime.isDisposed) return;
    this.#lifetime.dispose();
    this.#starting?.abort.abort(new ParleyError('conversation-closed', 'The session was closed.'));
    clearTimeout(this.#stopTimer);
    this.#ledger.exited('the session was closed');
    this.#permissions.cancelAll('exit');
    this.#outbox.dispose();
    this.link?.dispose();
    void this.#services.terminals.closeSession(this.key);
  }

  // ---- Start -----------------------------------------------------------------------------------------------------

  async #start(signal: AbortSignal): Promise<void> {
    this.stages.reset();
    if (!this.#services.isTrusted()) {
      this.#set({ kind: 'failed', error: untrusted() });
      return;
    }
    this.#set({ kind: 'starting' });
    let link: AgentLink | undefined;
    try {
      const { log, client, environment, onTraffic } = this.#services;
      link = await AgentLink.open(
        {
          agent: this.agent,
          cwd: this.cwd,
          environment,
          client,
          log,
          onRequest: (method, params, stop) => this.#onRequest(method, params, stop),
          onTraffic: onTraffic && ((dir, line) => onTraffic(this.key, dir, line)),
        },
        this.stages,
        this.#deadlines(),
        signal,
      );
      const opened = link;
      opened.onDidEnd((error) => this.#onAgentEnd(opened, error));
      this.#files = this.#services.filesFor(this.agent.name, link.description.raw);
      await this.#openSession(link, signal);
    } catch (error) {
      const stage = this.stages.current?.name;
      const described =
        link && !(error instanceof ParleyError && error.code === 'start-cancelled')
          ? await link.describe(error, stage ?? 'start')
          : toFailure(error, this.agent.name);
      await link?.close();
      if (this.#lifetime.isDisposed) return;
      if (described.code === 'start-cancelled') this.#set({ kind: 'idle' });
      else this.#set({ kind: 'failed', error: described, ...(stage && { stage }) });
    }
  }

  async #openSession(link: AgentLink, signal: AbortSignal): Promise<void> {
    let opened: OpenedSession;
    try {
      opened = await this.stages.run('session', this.#deadlines().session, signal, (stop) =>
        link.until((inner) => link.v1.newSession(this.cwd, inner), stop),
      );
    } catch (error) {
      if (!(error instanceof RpcError && error.code === rpcCodes.authRequired)) throw error;
      const { authMethods } = link.description;
      this.#set({
        kind: 'authRequired',
        link,
        methods: authMethods,
        ...(authMethods.length === 0 && { error: error.message }),
      });
      return;
    }
    this.#adopt(link, opened);
    if (advertisesReady(link.description.raw)) {
      await this.stages.run('ready', this.#deadlines().ready, signal, () => sendReady(link.rpc, opened.sessionId));
    } else this.stages.skip('ready');
    if (!link.isAlive) return; // it died meanwhile: its end was handled where it was heard
    this.#setLiveness('live');
    this.#set({ kind: 'ready', link, sessionId: opened.sessionId });
    this.#outbox.pump();
  }

  /** The session exists from here on: what the response says is applied, then what came before it, in order; then everything else follows. */
  #adopt(link: AgentLink, opened: OpenedSession): void {
    this.#sessionId = opened.sessionId;
    this.#lastHeardAt = this.#services.clock.now();
    const config = toConfigOptions(opened.configOptions);
    const modes = toModes(opened.modes);
    if (config.length > 0) this.#apply({ type: 'config', options: config });
    // Where an agent has config options, they are the whole truth and its modes are for older clients (section 1.12).
    else if (modes) this.#apply({ type: 'modes', ...modes });
    const early = link.router.register(opened.sessionId, (updates) => this.#onUpdates(updates));
    if (early > 0) this.#services.log.debug(`${early} early updates of session ${opened.sessionId} applied`);
  }

  // ---- What comes from the agent -----------------------------------------------------------------------------------

  #onUpdates(updates: readonly unknown[]): void {
    const now = this.#services.clock.now();
    this.#lastHeardAt = now;
    const emit = (event: SessionEvent): void => this.model.apply(event, now);
    for (const update of updates) {
      switch ((update as { sessionUpdate?: unknown }).sessionUpdate) {
        case 'turn_complete': {
          const barrier = readTurnComplete(update);
          if (barrier) this.#ledger.turnComplete(barrier);
          break;
        }
        default: {
          const problem = readUpdate(update, emit);
          if (problem !== undefined) this.#services.log.warn(problem);
        }
      }
    }
  }

  async #onRequest(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    this.#lastHeardAt = this.#services.clock.now();
    return answerRequest(
      {
        key: this.key,
        sessionId: () => this.#sessionId,
        roots: this.roots,
        files: () => this.#files,
        terminals: this.#services.terminals,
        permissions: this.#permissions,
        isCancelled: () => this.#ledger.current?.cancelRequested === true,
      },
      method,
      params,
      signal,
    );
  }

  #onAgentEnd(link: AgentLink, error: ParleyError): void {
    if (this.link !== link) return; // still starting: the stage that waits hears of it
    this.#detach(error.message);
    this.#apply({
      type: 'error',
      code: error.code,
      message: error.message,
      ...(error.hint && { hint: error.hint }),
      ...(error.stderr && { stderr: error.stderr }),
    });
    this.#set({ kind: 'exited', error });
  }

  // ---- Turns -------------------------------------------------------------------------------------------------------

  /** Sends one message and resolves when its turn has ended. Undefined where it must wait after all. */
  async #sendPrompt(item: QueueItem): Promise<TurnResult | undefined> {
    const state = this.#connection;
    if (state.kind !== 'ready') return undefined;
    const { link, sessionId } = state;
    this.queue.setState(item, 'sending');
    if (!(await this.#isWorthSending(state.link)) || this.#connection !== state) {
      this.queue.setState(item, 'queued');
      return undefined;
    }
    const content = this.#outbox.contentOf(item, link.description.prompt);
    const turn = this.#ledger.begin();
    this.queue.remove(item.id);
    this.#apply({ type: 'prompt_sent', turnId: turn.id, promptId: item.id, content });
    const promised = advertisesTurnComplete(link.description.raw);
    link.v1
      .prompt(sessionId, content, (id) => this.#ledger.sent(turn.id, id))
      .then(
        ({ stopReason, tokens }) => this.#ledger.answered(turn.id, stopReason, tokens, promised),
        (error: unknown) => this.#onPromptError(link, turn.id, error),
      );
    return turn.done;
  }

  #onPromptError(link: AgentLink, turnId: string, error: unknown): void {
    // The end of the connection is told by the end of the agent, which knows why.
    if (error instanceof ParleyError && error.code === 'connection-closed' && link.isAlive) return;
    const code =
      error instanceof RpcError
        ? `agent-error ${error.code}`
        : error instanceof ParleyError
          ? error.code
          : 'agent-error';
    const hint =
      error instanceof RpcError && error.code === rpcCodes.authRequired
        ? 'Sign in to the agent, then restart it.'
        : undefined;
    this.#ledger.failed(turnId, { code, message: messageOf(error), ...(hint && { hint }) });
  }

  /** A session that was quiet for long is asked first whether it is still there, where the agent offers to say so. */
  async #isWorthSending(link: AgentLink): Promise<boolean> {
    const quiet = this.#services.clock.now() - this.#lastHeardAt;
    if (
      this.#lastHeardAt === 0 ||
      quiet < (this.#services.quietMs ?? QUIET_MS) ||
      !advertisesStatus(link.description.raw)
    )
      return true;
    const liveness = await this.checkStatus();
    this.#lastHeardAt = this.#services.clock.now(); // asked once for one silence
    if (liveness === 'live') return true;
    this.queue.pause(
      liveness === 'not_found'
        ? 'the agent no longer has this session'
        : 'the agent did not answer when asked whether it is there',
    );
    return false;
  }

  #cancelTurn(): void {
    const state = this.#connection;
    if (state.kind !== 'ready' || !this.isBusy) return;
    this.#ledger.cancelRequested();
    state.link.v1
      .cancel(state.sessionId)
      .catch((error: unknown) => this.#services.log.warn(`session/cancel: ${messageOf(error)}`));
    this.#permissions.cancelAll('turn');
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(() => {
      this.#ignoresStop = true;
      this.model.touch('connection');
    }, STOP_PATIENCE_MS);
  }

  #onTurnSettled(): void {
    clearTimeout(this.#stopTimer);
    this.#ignoresStop = false;
    // Some agents end a turn without a word about the question that it left open (agents.md 6).
    this.#permissions.cancelAll('turn');
    this.model.touch('turn');
    this.#outbox.pump();
  }

  // ---- Ends --------------------------------------------------------------------------------------------------------

  async #drop(note: string): Promise<void> {
    this.#starting?.abort.abort(new ParleyError('start-cancelled', 'The start was stopped.'));
    await this.#starting?.promise;
    const { link } = this;
    this.#detach(note);
    this.#set({ kind: 'idle' });
    await Promise.all([link?.close(), this.#services.terminals.closeSession(this.key)]);
  }

  /** Lets go of the agent: its turn, its questions, its session. What is queued waits until the user says otherwise. */
  #detach(note: string): void {
    if (this.#sessionId !== undefined) this.link?.router.unregister(this.#sessionId);
    this.#sessionId = undefined;
    this.#files = undefined;
    this.#signIn?.abort();
    this.#setLiveness('unknown');
    if (this.queue.items.length > 0) this.queue.pause(note.replace(/\.$/, ''));
    this.#connection = { kind: 'idle' }; // nothing may be sent while the turn is closed
    this.#permissions.cancelAll('exit');
    this.#ledger.exited(note);
  }

  #deadlines(): Deadlines {
    return deadlinesFor(this.#services.startTimeoutMs());
  }

  #ready(): { link: AgentLink; sessionId: string } {
    if (this.#connection.kind !== 'ready') throw new ParleyError('no-session', `${this.agent.name} is not ready.`);
    return this.#connection;
  }

  #apply(event: SessionEvent): void {
    this.model.apply(event, this.#services.clock.now());
  }

  #set(state: ConnectionState): void {
    this.#connection = state;
    this.model.touch('connection');
  }

  #setLiveness(liveness: Liveness): void {
    this.#liveness = liveness;
    this.model.touch('connection');
  }
}

function untrusted(): ParleyError {
  return new ParleyError(
    'untrusted-workspace',
    'Agents run programs and change files, so none is started in a workspace you have not trusted.',
    {
      hint: 'Trust this workspace to use Parley in it.',
    },
  );
}

function toFailure(error: unknown, agent: string): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError('start-failed', `${agent} could not be started: ${messageOf(error)}.`, { cause: error });
}
