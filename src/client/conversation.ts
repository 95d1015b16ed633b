// A live conversation with one agent: it starts the agent, opens the session, sends what is queued, and keeps the model. All knowledge of "what state are we in" is
// one union here; everything shown is derived from it, the model, the queue and the stages.
import type { PromptCapabilities } from '../acp/dialect';
import type { AgentDefinition } from '../agents/agentDefinition';
import { type Disposable, DisposableStore } from '../base/disposable';
import { ParleyError } from '../base/errors';
import type { Liveness } from '../panel/contract';
import type { SessionEvent } from '../session/event';
import { SessionModel } from '../session/model';
import { PromptQueue, type QueuedAttachment } from '../session/queue';
import type { AgentLink } from './agentLink';
import { answerRequest } from './agentRequests';
import type { ConnectionState } from './connectionState';
import { Connector } from './connector';
import { untrusted } from './failures';
import { followTerminals } from './followTerminals';
import { LivenessProbe } from './livenessProbe';
import type { ConversationServices } from './services';
import { Stages } from './stages';
import { type OpenedSession, TurnControl } from './turnControl';
import type { TurnResult } from './turnLedger';

export interface ConversationOptions {
  /** Ours, stable across reconnects. */
  readonly key: string;
  readonly agent: AgentDefinition;
  /** Absolute; the first root. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
}

export class Conversation implements Disposable {
  readonly key: string;
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
  readonly #turns: TurnControl;
  readonly #probe: LivenessProbe;
  readonly #connector: Connector;
  readonly #lifetime = new DisposableStore();

  constructor(options: ConversationOptions) {
    const { services, key, agent, cwd } = options;
    this.key = key;
    this.cwd = cwd;
    this.roots = options.roots;
    this.#services = services;
    this.queue = new PromptQueue(() => this.model.touch('queue'));
    this.stages = new Stages(services.clock.now, () => this.model.touch('connection'));
    this.#probe = new LivenessProbe(services.clock.now, services.quietMs, () => this.model.touch('connection'));
    const apply = (event: SessionEvent): void => this.#apply(event);
    this.#turns = new TurnControl({
      queue: this.queue,
      services,
      apply,
      onChange: () => this.model.touch('turn'),
      session: () => this.#connector.session,
      mayPrompt: (session) => this.#mayPrompt(session),
    });
    this.#connector = new Connector(
      {
        key,
        agent,
        cwd,
        services,
        stages: this.stages,
        apply,
        onRequest: (method, params, signal) => this.#onRequest(method, params, signal),
        onUpdates: (updates) => this.#onUpdates(updates),
      },
      {
        changed: () => this.model.touch('connection'),
        starting: (lastEnd) => this.#onStarting(lastEnd),
        ready: () => this.#onReady(),
        detached: (note, hadSession) => this.#onDetached(note, hadSession),
      },
    );
    this.#lifetime.add(followTerminals(services.terminals, key, apply));
  }

  /** As it was when it was started last. */
  get agent(): AgentDefinition {
    return this.#connector.agent;
  }

  get connection(): ConnectionState {
    return this.#connector.state;
  }

  get liveness(): Liveness {
    return this.#probe.liveness;
  }

  /** The agent was asked to stop and has not for ten seconds. */
  get ignoresStop(): boolean {
    return this.#turns.ignoresStop;
  }

  get sessionId(): string | undefined {
    return this.#connector.sessionId;
  }

  /** A turn runs, or its prompt waits for its answer. */
  get isBusy(): boolean {
    return this.#turns.isBusy;
  }

  /** What the agent said of itself; undefined before it was initialized. */
  get link(): AgentLink | undefined {
    return this.#connector.link;
  }

  get promptCapabilities(): PromptCapabilities {
    return this.link?.description.features.prompt ?? { image: false, audio: false, embeddedContext: false };
  }

  /** Starts the agent and opens a session, once; later calls join. Never throws: what fails is in {@link connection}. */
  start(): Promise<void> {
    return this.#connector.start();
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
    const done = now ? this.#turns.outbox.sendFirst(item) : this.#turns.outbox.expect(item);
    void this.start();
    this.#turns.outbox.pump();
    return { id: item.id, done };
  }

  /** Sends a queued message next: at once where nothing runs, else the running turn is cancelled and the message follows its end. */
  sendNow(id: string): void {
    const item = this.queue.find(id);
    if (!item || item.state === 'sending') return;
    this.queue.move(id, 0);
    void this.#turns.outbox.sendFirst(item);
    this.#turns.cancel();
    void this.start();
    this.#turns.outbox.pump();
  }

  /** Lets the queue go on. */
  resumeQueue(): void {
    this.queue.resume();
    void this.start();
    this.#turns.outbox.pump();
  }

  /** Takes messages out of the queue: one, or all. */
  removeFromQueue(id?: string): void {
    const gone = id === undefined ? this.queue.clear() : [this.queue.remove(id)];
    for (const item of gone) if (item) this.#turns.outbox.forget(item);
  }

  /** Lets an item that was edited or released go, where it is its turn. */
  pumpQueue(): void {
    this.#turns.outbox.pump();
  }

  /** Stops the running turn, or a start that has not ended. What is queued waits for the user, by their setting. */
  cancel(): void {
    if (this.#connector.isStarting) {
      this.#connector.cancelStart();
      return;
    }
    if (!this.isBusy) return;
    if (this.queue.items.length > 0 && this.#services.afterCancel() === 'pause')
      this.queue.pause('you stopped the turn');
    this.#turns.cancel();
  }

  answerPermission(id: string, optionId: string | null): boolean {
    return this.#turns.permissions.answer(id, optionId);
  }

  /** @throws ParleyError `no-session`; what the agent answers. */
  async setMode(modeId: string): Promise<void> {
    const { link, sessionId } = this.#connector.ready();
    await link.dialect.setMode(sessionId, modeId);
    this.#apply({ type: 'mode', current: modeId });
  }

  /** @throws ParleyError `no-session`; what the agent answers. */
  async setConfigOption(id: string, value: string | boolean): Promise<void> {
    const { link, sessionId } = this.#connector.ready();
    const options = await link.dialect.setConfigOption(sessionId, id, value);
    if (options) this.#apply({ type: 'config', options });
  }

  /** Asks the agent whether it handles the session; shown, and nothing else. Without the capability nothing is sent. */
  async checkStatus(): Promise<Liveness> {
    const { session } = this.#connector;
    return session ? this.#probe.ask(session) : 'unknown';
  }

  /** Signs in with a method of the agent, then opens the session. Never throws: a failure is shown and can be tried again. */
  signIn(methodId: string): Promise<void> {
    return this.#connector.signIn(methodId);
  }

  /** Ends the agent and starts it anew. The transcript stays; the agent begins a new session and is said to. */
  async restart(): Promise<void> {
    await this.#connector.drop('the agent was restarted');
    await this.start();
  }

  /** Ends the agent and everything that it started. */
  async close(): Promise<void> {
    await this.#connector.drop('the session was closed');
    this.dispose();
  }

  dispose(): void {
    if (this.#lifetime.isDisposed) return;
    this.#lifetime.dispose();
    this.#connector.dispose();
    this.#turns.dispose();
    void this.#services.terminals.closeSession(this.key);
  }

  // ---- The agent comes and goes ------------------------------------------------------------------------------------

  /** What stands in the transcript is not known to the agent that starts now; how the last one ended is told where it happened. */
  #onStarting(lastEnd: ParleyError | undefined): void {
    if (lastEnd) {
      const { code, message, stderr } = lastEnd;
      this.#apply({ type: 'error', code, message, ...(stderr && { stderr }) });
    }
    if (this.model.state.turns.length === 0) return;
    const description = `${this.agent.name} was started again and does not know what is above.`;
    this.#apply({ type: 'notice', own: true, severity: 'info', title: 'New session', description });
  }

  #onReady(): void {
    this.#probe.heard();
    this.#probe.set('live');
    this.#turns.outbox.pump();
  }

  /** What is queued for a session that was lost waits until the user says otherwise. A start that failed has lost nothing: what was sent for it goes with the next one. */
  #onDetached(note: string, hadSession: boolean): void {
    this.#probe.set('unknown');
    if (hadSession && this.queue.items.length > 0) this.queue.pause(note.replace(/\.$/, ''));
    this.#turns.exited(note);
    void this.#services.terminals.closeSession(this.key);
  }

  // ---- What comes from the agent -----------------------------------------------------------------------------------

  #onUpdates(updates: readonly unknown[]): void {
    const now = this.#services.clock.now();
    this.#probe.heard();
    this.#connector.agentSide?.dialect.readUpdates(updates, {
      emit: (event) => this.model.apply(event, now),
      onTurnComplete: (barrier) => this.#turns.turnComplete(barrier),
      onState: () => {},
      log: this.#services.log,
    });
  }

  async #onRequest(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    this.#probe.heard();
    return answerRequest(
      {
        key: this.key,
        sessionId: () => this.sessionId,
        roots: this.roots,
        terminals: this.#services.terminals,
        permissions: this.#turns.permissions,
        agentSide: () => this.#connector.agentSide,
        isCancelled: () => this.#turns.isCancelled,
      },
      method,
      params,
      signal,
    );
  }

  async #mayPrompt(session: OpenedSession): Promise<boolean> {
    const doubt = await this.#probe.doubt(session);
    if (doubt !== undefined) this.queue.pause(doubt);
    return doubt === undefined;
  }

  #apply(event: SessionEvent): void {
    this.model.apply(event, this.#services.clock.now());
  }
}
