// Owns a conversation's connection to its agent: starts, signs in, restarts and ends it.
import { once } from 'node:events';
import { required } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable, localize } from '../../base/localizable';
import type { Log } from '../../base/log';
import { withTimeout } from '../../base/within';
import type { ToolGrant } from '../mcp/editorTools';
import { gatherMcp, type McpOffer, NO_MCP_SERVERS } from '../mcp/mcpOffer';
import { endsWithOwn } from '../mcp/openWithServers';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import { GivenTexts } from '../requests/givenTexts';
import { askStatus, isLive } from './askStatus';
import type {
  AgentEnd,
  AgentSide,
  ConnectionContext,
  ConnectionServices,
  ConnectionState,
  ConnectorListener,
  DropOptions,
} from './connectionState';
import { isTransient, reconnectLoop, restartLoop, startFailure } from './failures';
import { openOrBegin, type ReadySession } from './openSession';
import { Recovery } from './recovery';
import { canContinueLater, canReopen, rejoining, reopening, type SessionOpenStrategy } from './sessionOpenStrategy';
import type { SessionReplay } from './sessionReplay';
import { type AuthRefusal, askAuthStatus, authDetail, signIn, signInMethods, signOut } from './signIn';
import { attachAgent, endUnattached, type StartContext, startAgent } from './startAgent';

export class Connector {
  readonly #services: ConnectionServices;
  readonly #listener: ConnectorListener;
  readonly #givenTexts = new GivenTexts();
  #context: StartContext;
  #opening: SessionOpenStrategy;
  #mcp: Promise<McpOffer> = Promise.resolve(NO_MCP_SERVERS);
  #state: ConnectionState = { kind: 'idle' };
  #starting: { readonly promise: Promise<void>; readonly abort: AbortController } | undefined;
  /** Runs once the stopped start has ended. */
  #nextStart: Promise<void> | undefined;
  /** Running drops. The caller of `drop` starts the next agent. */
  #drops = 0;
  #signIn: AbortController | undefined;
  /** Whether the agent reported a signed-in user; `out`: this has led to the sign-in. */
  #reportedUser: 'in' | 'out' | undefined;
  #agentSide: AgentSide | undefined;
  #sessionId: string | undefined;
  #replay: SessionReplay | undefined;
  #lastEnd: ParleyError | undefined;
  readonly #recovery: Recovery;
  readonly #endings: AgentEndings;
  /** How the connection was lost, while a turn waits for the next one. */
  #cutEnd: AgentEnd | undefined;
  /** Shared by all prompts that wait for the session. */
  #reopening: Promise<void> | undefined;
  /** The start waits for the user. */
  #isAsking = false;
  #disposed = false;
  /** Session of an earlier window's agent that has not been attached yet. */
  #sessionToAttach: string | undefined;

  /**
   * @param earlier session of an earlier window's agent: `here` is attached at the first start;
   * `far` may have an open turn
   */
  constructor(
    context: ConnectionContext,
    opening: SessionOpenStrategy,
    listener: ConnectorListener,
    earlier?: { readonly sessionId: string; readonly where: 'here' | 'far' },
  ) {
    this.#opening = opening;
    if (earlier?.where === 'far') {
      this.#cutEnd = { note: 'window-ended', interrupted: true };
      this.#opening = rejoining(earlier.sessionId);
    } else this.#sessionToAttach = earlier?.sessionId;
    this.#services = context.services;
    const { clock, reconnectDelaysMs } = context.services;
    this.#recovery = new Recovery(() => void this.start(), clock.now, reconnectDelaysMs);
    this.#endings = new AgentEndings(context.services.log);
    this.#listener = listener;
    this.#context = {
      ...context,
      onNamed: (sessionId) => {
        this.#sessionId = sessionId;
      },
    };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get agent(): AgentDefinition {
    return this.#context.agent;
  }

  /** Defined as soon as the agent has named the session. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** As {@link sessionId}, or the id of the session that the next start opens. */
  get agentSessionId(): string | undefined {
    const next = this.#opening.kind === 'reopen' ? this.#opening.sessionId : undefined;
    return this.#sessionId ?? this.#sessionToAttach ?? next;
  }

  /** Undefined before the agent is initialized and after it has ended. */
  get link(): AgentLink | undefined {
    return (this.#state as { link?: AgentLink }).link;
  }

  get tools(): Promise<ToolGrant | undefined> {
    return this.#mcp.then(({ tools }) => tools);
  }

  get agentSide(): AgentSide | undefined {
    return this.#agentSide;
  }

  get session(): OpenedSession | undefined {
    return this.#state.kind === 'ready' ? this.#state : undefined;
  }

  get isAttaching(): boolean {
    if (this.#sessionToAttach === undefined && this.#cutEnd?.note !== 'window-ended') return false;
    return this.#state.kind === 'idle' || this.#state.kind === 'starting';
  }

  get isStarting(): boolean {
    return (this.#starting !== undefined && this.#state.kind !== 'ready') || this.#state.kind === 'recovering';
  }

  get waitsForUser(): boolean {
    return this.isStarting && this.#isAsking;
  }

  /** @throws ParleyError `no-session` */
  ready(): OpenedSession {
    if (this.#state.kind !== 'ready')
      throw new ParleyError('no-session', localizable("{0} isn't ready.", this.agent.name));
    return this.#state;
  }

  /**
   * Starts the agent and opens a session, once; later calls join. If a start is being stopped, the
   * next begins after it. Never throws: failures are in {@link state}.
   */
  start(): Promise<void> {
    const { kind } = this.#state;
    if (this.#starting) return this.#isStopping ? this.#startAfter(this.#starting.promise) : this.#starting.promise;
    if (kind === 'ready' || kind === 'authRequired' || this.#disposed) return Promise.resolve();
    if (kind === 'exited') this.#recovery.reset(); // automatic starts happen only during recovery
    const abort = new AbortController();
    const promise = this.#start(abort.signal).finally(() => {
      this.#starting = undefined;
      this.#listener.changed();
    });
    this.#starting = { promise, abort };
    return promise;
  }

  get #isStopping(): boolean {
    return this.#starting?.abort.signal.aborted === true && this.#drops === 0 && !this.#disposed;
  }

  #startAfter(stopped: Promise<void>): Promise<void> {
    this.#nextStart ??= stopped.then(() => {
      this.#nextStart = undefined;
      return this.#drops > 0 ? undefined : this.start();
    });
    return this.#nextStart;
  }

  cancelStart(): void {
    this.#recovery.stop();
    if (this.#state.kind === 'recovering') {
      this.#loseTurn();
      this.#set({ kind: 'exited', error: this.#state.error });
    }
    this.#starting?.abort.abort(new ParleyError('start-cancelled', localizable('The start was stopped.')));
  }

  /** Never throws: failures are in {@link state}. */
  async signIn(methodId: string): Promise<void> {
    const state = this.#state;
    if (state.kind !== 'authRequired' || !this.#services.isTrusted()) return;
    this.#signIn?.abort();
    const abort = new AbortController();
    this.#signIn = abort;
    try {
      const method = state.methods.find(({ id }) => id === methodId);
      if (!method) throw new ParleyError('sign-in-failed', localizable('there is no sign-in method “{0}”', methodId));
      const outcome = await signIn(this.#context, state.link, method, abort.signal);
      if (this.#state !== state) return;
      if (outcome === 'restart') await this.#startOver(state.link, state.sessionId, 'signed-in');
      else if (state.sessionId === undefined) await this.#open(state.link, abort.signal);
      else this.#signedIn(state.link, state.sessionId);
      void this.#requestAuthStatus(state.link);
    } catch (error) {
      if (this.#state === state) this.#set({ ...state, error: messageOf(error) });
    }
  }

  /** The agent refused a request until the user signs in. The session stays usable after it. */
  needSignIn(refusal: AuthRefusal): void {
    const state = this.#state;
    if (state.kind === 'ready') this.#askSignIn(state.link, refusal, state.sessionId);
  }

  #askSignIn(link: AgentLink, refusal: AuthRefusal, sessionId?: string): void {
    void this.#services.keys?.note(this.agent, undefined);
    const methods = signInMethods(link, refusal, this.agent);
    const error = methods.length === 0 ? refusal.message : undefined;
    this.#set({
      kind: 'authRequired',
      link,
      sessionId,
      methods,
      error,
      words: error ? undefined : authDetail(refusal),
    });
  }

  authReported(): void {
    this.checkSignIn();
    this.#listener.changed();
  }

  /**
   * Shows the sign-in after the user has signed out elsewhere, and returns after they signed in.
   * Never within a turn, which may still succeed.
   */
  checkSignIn(): void {
    const state = this.#state;
    const authState = this.#agentSide?.link.authStatus?.state;
    if (authState === 'authenticated') {
      const wasOut = this.#reportedUser === 'out';
      this.#reportedUser = 'in';
      if (wasOut && state.kind === 'authRequired' && state.sessionId !== undefined)
        this.#signedIn(state.link, state.sessionId);
    } else if (
      authState === 'unauthenticated' &&
      this.#reportedUser === 'in' &&
      state.kind === 'ready' &&
      !this.#isInTurn
    ) {
      this.#reportedUser = 'out';
      this.needSignIn({ message: localize(localizable('You are signed out.')) });
    }
  }

  async #requestAuthStatus(link: AgentLink): Promise<void> {
    await askAuthStatus(link, this.#services.log);
    if (this.#agentSide?.link === link) this.authReported();
  }

  #signedIn(link: AgentLink, sessionId: string): void {
    this.#set({ kind: 'ready', link, sessionId });
    this.#listener.ready([], false);
  }

  /**
   * Signs out (`logout`, section 1.2) and ends the agent.
   * @throws ParleyError `cannot-sign-out`; what the agent answers
   */
  async signOut(): Promise<void> {
    await signOut(this.#context, this.link);
    await this.drop('signed-out');
  }

  async drop(note: string, { next, closing = false }: DropOptions = {}): Promise<void> {
    this.#drops++;
    this.cancelStart();
    this.#recovery.reset();
    await this.#starting?.promise;
    await this.#endUnattached();
    this.#drops--;
    const { link } = this;
    const sessionId = this.#sessionId;
    // In the same step: a message sent now starts the next agent.
    this.#opening = next ?? this.#opening;
    this.#detach({ note, interrupted: true });
    this.#set({ kind: 'idle' });
    await this.#endings.end(link, closing ? sessionId : undefined);
  }

  async restart(note: string): Promise<void> {
    if (this.#cutEnd) return this.start();
    const { link } = this;
    // Messages that wait for a sign-in keep waiting.
    if (this.#state.kind === 'authRequired' && link) return this.#startOver(link, this.#sessionId, note);
    await this.drop(note, this.#dropToContinue(link));
    await this.start();
  }

  #dropToContinue(link: AgentLink | undefined): DropOptions {
    const sessionId = this.#sessionId;
    const canContinue = link && sessionId !== undefined && canContinueLater(link.description.features);
    return canContinue ? { next: { kind: 'reopen', sessionId, transcript: 'keep' } } : {};
  }

  get #isInTurn(): boolean {
    return this.#context.session.transcript.turn !== undefined;
  }

  get outlives(): boolean {
    if (this.#cutEnd || (this.canResumeRemotely && this.#isInTurn)) return true;
    return this.#sessionToAttach !== undefined || this.session?.link.kept !== undefined;
  }

  get canResumeRemotely(): boolean {
    const { features } = this.session?.link.description ?? {};
    return this.agent.type === 'remote' && features?.status !== undefined && canReopen(features);
  }

  async leave(): Promise<void> {
    this.#sessionToAttach = undefined;
    await this.session?.link.kept?.detach();
  }

  /**
   * Reopens a session that the agent has lost, or replaces it: {@link session}.
   * @param inVain see {@link reopening}
   * @throws ParleyError if that failed, with the session unchanged; `signal`'s reason
   */
  reopenSession(lost: OpenedSession, inVain: number, signal: AbortSignal): Promise<void> {
    this.#reopening ??= this.#reopen(lost, inVain, signal).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #reopen({ link, sessionId }: OpenedSession, inVain: number, signal: AbortSignal): Promise<void> {
    if (this.session?.link === link && this.session.sessionId !== sessionId) return; // another prompt had it replaced
    this.#context.stages.reset();
    this.endReplay();
    const opening = reopening(sessionId, inVain, link.description.features);
    const onBegin = (): void => {
      link.router.unregister(sessionId);
      this.#listener.replacing();
    };
    try {
      if (opening.kind === 'new') onBegin();
      const opened = await openOrBegin(this.#context, link, { opening, mcp: this.#mcp }, signal, onBegin);
      if (this.link !== link) return;
      if (opened.kind === 'ready') return this.#ready(link, opened);
      this.needSignIn(opened.refusal);
      throw new ParleyError('auth-required', localizable('{0} requires you to sign in.', this.agent.name));
    } catch (error) {
      if (this.link === link && link.isAlive) {
        this.#sessionId = sessionId;
        link.router.register(sessionId, this.#context.session.updates);
      }
      throw error;
    }
  }

  /** @throws ParleyError `no-session` */
  async suspend(note: string): Promise<void> {
    const { sessionId } = this.ready();
    await this.drop(note, { next: { kind: 'reopen', sessionId, transcript: 'keep' } });
  }

  progressed(): void {
    this.#recovery.progressed();
  }

  /** A prompt is about to be sent: later updates are live, not replay. */
  endReplay(): void {
    const replay = this.#replay;
    if (!replay) return;
    this.#replay = undefined;
    replay.end();
    this.#confirmOpened();
  }

  /** Later updates are live, so another window could continue from here. */
  #confirmOpened(): void {
    const { session } = this;
    if (session?.link.kept && !this.#replay) session.link.kept.sessionId = session.sessionId;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.endReplay();
    this.#endTools();
    this.#recovery.dispose();
    this.#starting?.abort.abort(new ParleyError('conversation-closed', localizable('The session was closed.')));
    this.link?.dispose();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { stages } = this.#context;
    this.#recovery.starting();
    stages.reset();
    const refusal = this.#listener.refuses();
    if (refusal) {
      this.#loseTurn();
      this.#set({ kind: 'failed', error: refusal });
      return;
    }
    // The user may have corrected the setting since the last attempt.
    const agent = this.#services.currentAgent?.(this.agent.id) ?? this.agent;
    this.#context = { ...this.#context, agent };
    this.#set({ kind: 'starting', reconnects: this.#recovery.isReconnecting || undefined });
    if (!(await this.#endings.whenEnded(signal))) {
      if (this.#disposed) return;
      this.#loseTurn();
      this.#set({ kind: 'idle' });
      return;
    }
    if (this.#sessionToAttach !== undefined && (await this.#attach(this.#sessionToAttach, signal))) return;
    this.#listener.starting(this.#lastEnd);
    this.#lastEnd = undefined;
    const { beforeOpen, cwd, session } = this.#context;
    const gather = (): Promise<McpOffer> =>
      gatherMcp(this.#services, agent, cwd, session, signal, (isAsking) => {
        this.#isAsking = isAsking;
        this.#listener.changed();
      });
    this.#mcp = beforeOpen?.then(gather, () => NO_MCP_SERVERS) ?? gather();
    let link: AgentLink | undefined;
    try {
      link = await startAgent(this.#context, signal);
      const started = link;
      started.onDidEnd((error) => this.#onAgentEnd(started, error));
      this.#use(started);
      if (beforeOpen) await Promise.race([beforeOpen, new Promise<never>((_, reject) => started.onDidEnd(reject))]);
      await this.#open(started, signal);
    } catch (error) {
      const stage = stages.current?.name;
      const stopped = error instanceof ParleyError && error.code === 'start-cancelled';
      const failure =
        link && !stopped ? await link.describe(error, stage ?? 'start') : startFailure(error, this.agent.name);
      await link?.close();
      if (this.#disposed) return;
      const lessens = link !== undefined && !stopped && endsWithOwn(this.#services, agent, link.description);
      const mayRetry = !stopped && (this.#recovery.isReconnecting || this.#cutEnd) && isTransient(failure);
      if (lessens || (mayRetry && this.#cutEnd)) this.#releaseAgent();
      else this.#detach(this.#cutEnd ?? { note: failure.texts.message });
      if (lessens) return this.#start(signal);
      if (mayRetry && this.#reconnectLater(failure)) return;
      this.#loseTurn();
      this.#recovery.stop();
      this.#set(stopped ? { kind: 'idle' } : { kind: 'failed', error: failure, stage });
    }
  }

  /** @returns false if another agent has to be started */
  async #attach(sessionId: string, signal: AbortSignal): Promise<boolean> {
    try {
      const link = await attachAgent(this.#context, signal);
      this.#sessionToAttach = undefined;
      link.onDidEnd((error) => this.#onAgentEnd(link, error));
      this.#use(link);
      this.#sessionId = sessionId;
      link.router.register(sessionId, this.#context.session.updates);
      this.#recovery.ready();
      this.#set({ kind: 'ready', link, sessionId });
      this.#confirmOpened();
      this.#listener.attached({ link, sessionId });
      return true;
    } catch (error) {
      if (this.#disposed) return true; // the window closes; the agent keeps running
      if (signal.aborted) {
        this.#set({ kind: 'idle' });
        return true; // the next start attaches
      }
      this.#sessionToAttach = undefined;
      this.#services.log.warn(`${this.agent.name} could not be attached: ${messageOf(error)}`);
      this.#listener.detached({ note: 'window-ended', interrupted: true }, true);
      return false;
    }
  }

  async #endUnattached(): Promise<void> {
    if (this.#sessionToAttach === undefined) return;
    this.#sessionToAttach = undefined;
    await endUnattached(this.#context);
  }

  #use(link: AgentLink): void {
    const { dialect, description } = link;
    this.#agentSide = {
      link,
      dialect,
      files: this.#services.filesFor(this.agent.name, description.raw, this.#givenTexts),
    };
    this.#reportedUser = undefined;
    void this.#requestAuthStatus(link);
  }

  async #open(link: AgentLink, signal: AbortSignal): Promise<void> {
    if (this.#cutEnd && !(await isLive(link, this.#opening, signal))) this.#loseTurn();
    const request = { opening: this.#opening, mcp: this.#mcp };
    const opened = await openOrBegin(this.#context, link, request, signal, () => this.#loseTurn());
    if (opened.kind === 'authRequired') {
      this.#recovery.stop();
      this.#loseTurn();
      this.#askSignIn(link, opened.refusal);
      return;
    }
    if (this.#cutEnd) await this.#rejoin({ link, sessionId: opened.sessionId }, opened.replay, signal);
    this.#recovery.ready();
    this.#ready(link, opened);
  }

  #ready(link: AgentLink, { sessionId, replay, problems, isNew, notForked }: ReadySession): void {
    this.#replay = replay;
    const { protocol, features } = link.description;
    // A later start opens a new session by default.
    this.#opening = features.carried ? { kind: 'reopen', sessionId, transcript: 'keep' } : { kind: 'new' };
    this.#set({ kind: 'ready', link, sessionId });
    const agentSessionId = canContinueLater(features) ? sessionId : null;
    this.#listener.described({ agentId: this.agent.id, agentSessionId, protocol });
    this.#confirmOpened();
    this.#listener.ready(problems, isNew, notForked);
  }

  async #rejoin(opened: OpenedSession, replay: SessionReplay | undefined, signal: AbortSignal): Promise<void> {
    replay?.end();
    this.#context.session.feed({ type: 'asking' });
    const status = await askStatus(opened, signal);
    if (this.#listener.rejoined(status)) this.#cutEnd = undefined;
    else this.#loseTurn();
  }

  #loseTurn(): void {
    const end = this.#cutEnd;
    this.#cutEnd = undefined;
    if (end) this.#listener.detached(end, true);
  }

  async #startOver(link: AgentLink, sessionId: string | undefined, note: string): Promise<void> {
    if (sessionId !== undefined && canContinueLater(link.description.features))
      this.#opening = { kind: 'reopen', sessionId, transcript: 'keep' };
    this.#detach({ note, interrupted: true }, true);
    this.#set({ kind: 'idle' });
    void this.#endings.end(link);
    await this.start();
  }

  #onAgentEnd(link: AgentLink, error: ParleyError): void {
    if (this.link !== link) return; // still starting: the running stage fails
    const sessionId = this.#sessionId;
    const isInTurn = this.#isInTurn;
    // The keeper ended the agent because it was done.
    if (error.code === 'agent-dismissed' && !isInTurn)
      return void this.drop('window-ended', this.#dropToContinue(link));
    if (sessionId !== undefined && this.#keepTurnOpen(link, sessionId, error)) return;
    this.#detach(this.#cutEnd ?? { note: error.texts.message });
    this.#lastEnd = error;
    if (sessionId !== undefined && this.#recover(link, sessionId, error, isInTurn)) return;
    this.#set({ kind: 'exited', error });
  }

  /** Keeps the running turn open until reconnected, if the agent can be asked about it then. */
  #keepTurnOpen(link: AgentLink, sessionId: string, error: ParleyError): boolean {
    if (error.code !== 'connection-lost' || !link.description.features.status) return false;
    if (!this.#listener.cut(link)) return false;
    this.#cutEnd = { note: error.texts.message };
    this.#releaseAgent();
    this.#opening = rejoining(sessionId);
    return this.#reconnectLater(error);
  }

  /**
   * Reopens the session automatically: after a lost connection (6.1), or after a crash as
   * recovery.ts allows.
   * @returns false if the user has to act
   */
  #recover(link: AgentLink, sessionId: string, error: ParleyError, wasInTurn: boolean): boolean {
    const canContinue = canContinueLater(link.description.features);
    const isLost = error.code === 'connection-lost';
    const catchesUp = isLost && wasInTurn && { catchesUp: true as const };
    if (canContinue) this.#opening = { kind: 'reopen', sessionId, transcript: 'keep', ...catchesUp };
    if (isLost && !canContinue) return false;
    if (isLost) {
      if (!this.#reconnectLater(error))
        this.#set({ kind: 'exited', error: reconnectLoop(error, this.#recovery.mostReconnects) });
      return true;
    }
    if (!this.#services.restarts?.()) return false;
    const attempt = this.#recovery.restart();
    if (attempt) this.#set({ kind: 'recovering', error, attempt });
    else {
      this.#lastEnd = restartLoop(error, this.#recovery.mostRestarts);
      this.#set({ kind: 'exited', error: this.#lastEnd });
    }
    return true;
  }

  #reconnectLater(error: ParleyError): boolean {
    const attempt = this.#recovery.reconnect();
    if (attempt) this.#set({ kind: 'recovering', error, attempt });
    return attempt !== undefined;
  }

  /** @param continues the session is reopened immediately */
  #detach(end: AgentEnd, continues = false): void {
    const hadSession = (this.#sessionId !== undefined && !continues) || this.#cutEnd !== undefined;
    this.#cutEnd = undefined;
    this.#releaseAgent();
    this.#listener.detached(end, hadSession);
  }

  #releaseAgent(): void {
    this.endReplay();
    if (this.#sessionId !== undefined) this.link?.router.unregister(this.#sessionId);
    this.#sessionId = undefined;
    this.#agentSide = undefined;
    this.#endTools();
    this.#signIn?.abort();
    this.#state = { kind: 'idle' }; // nothing may be sent while the turn is being closed
  }

  #endTools(): void {
    void this.tools.then((tools) => tools?.dispose());
    this.#mcp = Promise.resolve(NO_MCP_SERVERS);
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    this.#listener.changed();
  }
}

const CLOSE_MS = 1500;

class AgentEndings {
  readonly #log: Log;
  #ending: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Ends an agent; resolves when it and all earlier ones have ended. Never rejects.
   * @param closing the session to close
   */
  end(link: AgentLink | undefined, closing?: string): Promise<void> {
    const earlier = this.#ending;
    this.#ending = this.#end(link, closing)
      .catch((error: unknown) => this.#log.warn(`ending the agent: ${messageOf(error)}`))
      .then(() => earlier);
    return this.#ending;
  }

  async whenEnded(signal: AbortSignal): Promise<boolean> {
    await Promise.race([this.#ending, once(signal, 'abort')]);
    return !signal.aborted;
  }

  async #end(link: AgentLink | undefined, closing: string | undefined): Promise<void> {
    if (closing !== undefined && link?.isAlive && link.description.features.close) {
      await withTimeout(CLOSE_MS, (signal) => required(link.dialect.sessions).close(closing, signal)).catch(
        (error: unknown) => this.#log.info(`session/close: ${messageOf(error)}`),
      );
    }
    await link?.close();
  }
}
