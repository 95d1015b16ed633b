// How a conversation comes by its agent and loses it again: starting, signing in, ending, and the one union that says where that stands.
import type { Dialect } from '../acp/dialect';
import type { AgentDefinition } from '../agents/agentDefinition';
import { messageOf, ParleyError } from '../base/errors';
import type { AgentFiles } from './agentFiles';
import type { AgentLink } from './agentLink';
import type { ConnectionState } from './connectionState';
import { startFailure, untrusted } from './failures';
import type { ConversationServices } from './services';
import { openSession, type StartContext, signIn, startAgent } from './sessionStart';
import type { OpenedSession } from './turnControl';

/** What the connector tells its conversation. */
export interface ConnectorListener {
  /** The connection state changed. */
  changed(): void;
  /** An agent is about to start. @param lastEnd how the one before it ended, where that has not been told in the transcript yet */
  starting(lastEnd: ParleyError | undefined): void;
  /** The session can be used. */
  ready(): void;
  /** The agent is let go of. @param note a sentence on how it went @param hadSession there was a session that is lost now */
  detached(note: string, hadSession: boolean): void;
}

export class Connector {
  readonly #services: ConversationServices;
  readonly #listener: ConnectorListener;
  #context: StartContext;
  #state: ConnectionState = { kind: 'idle' };
  #starting: { readonly promise: Promise<void>; readonly abort: AbortController } | undefined;
  #signIn: AbortController | undefined;
  #agentSide: { readonly files: AgentFiles; readonly dialect: Dialect } | undefined;
  #sessionId: string | undefined;
  /** How the last agent ended, until the next one starts; shown with what can be done meanwhile. */
  #lastEnd: ParleyError | undefined;
  #disposed = false;

  constructor(context: Omit<StartContext, 'onNamed'>, listener: ConnectorListener) {
    this.#services = context.services;
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

  /** As it was when it was started last. */
  get agent(): AgentDefinition {
    return this.#context.agent;
  }

  /** The agent's id of the session; there as soon as the agent has named it. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Undefined before the agent was initialized and after it is gone. */
  get link(): AgentLink | undefined {
    const { link } = this.#state as { link?: AgentLink };
    return link;
  }

  /** The files that the agent may use, and the dialect that it speaks; there while it runs, also before its session is ready. */
  get agentSide(): { readonly files: AgentFiles; readonly dialect: Dialect } | undefined {
    return this.#agentSide;
  }

  get session(): OpenedSession | undefined {
    return this.#state.kind === 'ready' ? this.#state : undefined;
  }

  get isStarting(): boolean {
    return this.#starting !== undefined && this.#state.kind !== 'ready';
  }

  /** @throws ParleyError `no-session` */
  ready(): OpenedSession {
    if (this.#state.kind !== 'ready') throw new ParleyError('no-session', `${this.agent.name} is not ready.`);
    return this.#state;
  }

  /** Starts the agent and opens a session, once; later calls join. Never throws: what fails is in {@link state}. */
  start(): Promise<void> {
    const { kind } = this.#state;
    if (this.#starting) return this.#starting.promise;
    if (kind === 'ready' || kind === 'authRequired' || this.#disposed) return Promise.resolve();
    const abort = new AbortController();
    const promise = this.#start(abort.signal).finally(() => {
      this.#starting = undefined;
      this.#listener.changed();
    });
    this.#starting = { promise, abort };
    return promise;
  }

  /** Stops a start that has not ended. */
  cancelStart(): void {
    this.#starting?.abort.abort(new ParleyError('start-cancelled', 'The start was stopped.'));
  }

  /** Signs in with a method of the agent, then opens the session. Never throws: a failure is shown and can be tried again. */
  async signIn(methodId: string): Promise<void> {
    const state = this.#state;
    if (state.kind !== 'authRequired') return;
    this.#signIn?.abort();
    const abort = new AbortController();
    this.#signIn = abort;
    try {
      await signIn(this.#context, state.link, methodId, abort.signal);
      await this.#open(state.link, abort.signal);
    } catch (error) {
      if (this.#state === state) this.#set({ ...state, error: messageOf(error) });
    }
  }

  /** Ends the agent and everything that it started. @param note a sentence on why */
  async drop(note: string): Promise<void> {
    this.cancelStart();
    await this.#starting?.promise;
    const { link } = this;
    this.#detach(note);
    this.#set({ kind: 'idle' });
    await link?.close();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#starting?.abort.abort(new ParleyError('conversation-closed', 'The session was closed.'));
    this.link?.dispose();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { stages } = this.#context;
    stages.reset();
    if (!this.#services.isTrusted()) {
      this.#set({ kind: 'failed', error: untrusted() });
      return;
    }
    // The user may have corrected the setting since the last attempt.
    const agent = this.#services.currentAgent?.(this.agent.id) ?? this.agent;
    this.#context = { ...this.#context, agent };
    this.#set({ kind: 'starting' });
    this.#listener.starting(this.#lastEnd);
    this.#lastEnd = undefined;
    let link: AgentLink | undefined;
    try {
      link = await startAgent(this.#context, signal);
      const started = link;
      started.onDidEnd((error) => this.#onAgentEnd(started, error));
      const { dialect, description } = started;
      this.#agentSide = { dialect, files: this.#services.filesFor(this.agent.name, description.raw) };
      await this.#open(started, signal);
    } catch (error) {
      const stage = stages.current?.name;
      const stopped = error instanceof ParleyError && error.code === 'start-cancelled';
      const failure =
        link && !stopped ? await link.describe(error, stage ?? 'start') : startFailure(error, this.agent.name);
      await link?.close();
      if (this.#disposed) return;
      this.#detach(failure.message);
      this.#set(stopped ? { kind: 'idle' } : { kind: 'failed', error: failure, ...(stage && { stage }) });
    }
  }

  async #open(link: AgentLink, signal: AbortSignal): Promise<void> {
    const opened = await openSession(this.#context, link, signal);
    this.#set({ ...opened, link });
    if (opened.kind === 'ready') this.#listener.ready();
  }

  #onAgentEnd(link: AgentLink, error: ParleyError): void {
    if (this.link !== link) return; // still starting: the stage that waits hears of it
    this.#detach(error.message);
    this.#lastEnd = error;
    this.#set({ kind: 'exited', error });
  }

  #detach(note: string): void {
    const hadSession = this.#sessionId !== undefined;
    if (this.#sessionId !== undefined) this.link?.router.unregister(this.#sessionId);
    this.#sessionId = undefined;
    this.#agentSide = undefined;
    this.#signIn?.abort();
    this.#state = { kind: 'idle' }; // nothing may be sent while the turn is closed
    this.#listener.detached(note, hadSession);
  }

  #set(state: ConnectionState): void {
    this.#state = state;
    this.#listener.changed();
  }
}
