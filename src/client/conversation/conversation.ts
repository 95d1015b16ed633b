// A live conversation with one agent: starts the agent, opens the session, sends queued messages
// and owns the model. Everything shown derives from the connection's state, the model, the queue
// and the stages.
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import { type PromptCapabilities, required } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Liveness, StopTarget } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import { SessionModel, type SessionView } from '../../session/model/model';
import { PromptQueue, type QueuedAttachment } from '../../session/queue/queue';
import type { SessionChanges } from '../changes/sessionChanges';
import type { ConnectionState } from '../connection/connectionState';
import { Connector } from '../connection/connector';
import { ContextHandoff } from '../connection/contextHandoff';
import { readOnlyReason, takenOver, untrusted } from '../connection/failures';
import { type LifeSigns, LivenessProbe, type SilenceCheck } from '../connection/livenessProbe';
import { LiveSession } from '../connection/liveSession';
import { canReopen, type SessionOpenStrategy, strategyFor } from '../connection/sessionOpenStrategy';
import { CommunicationChat } from '../http/communicationChat';
import type { AgentLink } from '../ports/agentLink';
import { TurnControl } from '../prompts/turnControl';
import { EditHolds } from '../requests/editHolds';
import type { ElicitationRequestHandler } from '../requests/elicitationRequestHandler';
import { Subagents } from '../requests/subagents';
import { transcriptOf } from '../sharing/messageCollector';
import { Stages } from '../transport/stages';
import type { TurnResult } from '../turns/turnState';
import { Choices } from './choices';
import { compareVersions } from './compareVersions';
import { ConnectionEvents } from './connectionEvents';
import type { ConversationOptions, ConversationServices } from './conversationOptions';
import { followTerminals } from './followTerminals';
import { isAtWork } from './idleAgents';
import { Inbound } from './inbound';
import { type EarlierAgent, earlierAgent, KeptProgress, promptOf } from './keptProgress';
import { ListedTitle } from './listedTitle';
import type { ConversationPersistence, KeptConversation } from './persistence';
import { QueueMirror } from './persistence';
import { QueueActions } from './queueActions';
import { Recorder } from './recorder';
import { closingEvents, restore } from './restore';
import { failedTurn, promptOfTurn } from './sendAgain';
import { SessionOps } from './sessionOps';
import { changesOfSession, judgeFor } from './sessionParts';
import { Unsent } from './unsent';

const CLOSE_NOTES = { closed: 'session-closed', 'window-ended': 'window-ended' } as const;

export class Conversation implements Disposable {
  readonly key: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly queue: PromptQueue;
  readonly edits: EditHolds;
  readonly stages: Stages;
  readonly ops: SessionOps;
  readonly unsent: Unsent;
  readonly queueActions: QueueActions;
  readonly communication: CommunicationChat;
  readonly changes: SessionChanges;
  readonly choices: Choices;

  // Public for the parts, each of which takes its own interface of the conversation.
  readonly services: ConversationServices;
  readonly recorder: Recorder;
  readonly turns: TurnControl;
  readonly subagents: Subagents;
  readonly probe: LivenessProbe;
  readonly connector: Connector;
  readonly progress: KeptProgress;
  readonly events: ConnectionEvents;
  readonly persistence: ConversationPersistence | undefined;
  readonly handoff = new ContextHandoff();
  /** The idle agent's process was ended; the next start resumes the session. */
  isSuspended = false;
  endsWithWindow = false;

  readonly #model: SessionModel;
  readonly #lifetime = new DisposableStore();
  #readOnly: ParleyError | undefined;
  #whole: Promise<void> | undefined;
  #resentId: string | undefined;

  constructor(options: ConversationOptions) {
    const { services, key, cwd, roots, kept } = options;
    const { now } = services.clock;
    this.key = key;
    this.cwd = cwd;
    this.roots = roots;
    this.services = services;
    this.#model = kept?.model ?? new SessionModel();
    this.#readOnly = readOnlyReason(options);
    // While read-only, nothing is stored: another window writes the session.
    const persistence = this.#readOnly ? undefined : options.persistence;
    this.persistence = persistence;
    const earlier = persistence && earlierAgent(key, kept, services.keepers);
    this.communication = new CommunicationChat(key, services, this.#model, () =>
      transcriptOf(this.#model, this.agent.name),
    );
    this.unsent = new Unsent(persistence, () => this.#model.touch('attachments'));
    this.progress = new KeptProgress(this, earlier);
    this.recorder = new Recorder(this.#model, persistence, now, this.progress);
    this.changes = changesOfSession(this, this.#model);
    this.choices = new Choices(this, () => this.#model.touch('modes'));
    this.recorder.onDidApply((event) => this.changes.onEvent(event));
    this.recorder.onDidApply((event) => this.choices.happened(event));
    this.recorder.onDidApply(({ type }) => type === 'turn_ended' && this.connector.checkSignIn());
    this.queue = this.#newQueue(kept);
    this.edits = new EditHolds(this.queue, () => this.queueActions.pump());
    this.stages = new Stages(now, services.startTimeoutMs, () => this.#model.touch('connection'));
    this.probe = new LivenessProbe({
      now,
      quietMs: services.quietMs,
      onChange: () => this.#model.touch('connection'),
      onState: (report) => this.turns.state(report),
    });
    const { queue, recorder } = this;
    const session = new LiveSession(this);
    this.turns = new TurnControl({ queue, recorder, services, session, model: this.#model, judge: judgeFor(this) });
    this.queueActions = new QueueActions(this);
    const side = () => this.connector.agentSide;
    this.subagents = new Subagents({
      agent: side,
      ownId: () => this.sessionId,
      apply: recorder.apply,
      log: services.log,
    });
    this.events = new ConnectionEvents(this, this.#model);
    this.connector = this.#newConnector(options, earlier);
    this.ops = new SessionOps(this);
    const listedTitle = new ListedTitle(this);
    this.recorder.onDidApply((event) => listedTitle.happened(event));
    if (kept) this.#restore(kept, options.isHeld, earlier);
    this.#lifetime.add(followTerminals(this));
    this.#lifetime.add(compareVersions(this));
  }

  #newConnector(
    { agent, beforeOpen, onlySends, opening, kept }: ConversationOptions,
    earlier: EarlierAgent | undefined,
  ): Connector {
    const { key, cwd, roots, services, stages, communication, persistence } = this;
    const context = {
      ...{ key, agent, cwd, services, stages, communication, beforeOpen },
      isStored: persistence !== undefined,
      additionalDirectories: roots.filter((root) => root !== cwd),
      session: new Inbound(this, onlySends),
    };
    return new Connector(context, opening ?? strategyFor(kept), this.events, earlier);
  }

  #newQueue(kept: KeptConversation | undefined): PromptQueue {
    const mirror = this.persistence && new QueueMirror(this.persistence, kept?.queue, kept?.paused);
    const queue: PromptQueue = new PromptQueue(() => {
      if (mirror) this.recorder.queueChanged(() => mirror.sync(queue));
      this.#model.touch('queue');
    });
    return queue;
  }

  #restore(kept: KeptConversation, isHeld: boolean | undefined, earlier: EarlierAgent | undefined): void {
    const { apply } = this.recorder;
    const { clock, log } = this.services;
    const running = earlier?.where;
    restore(this, kept, apply, clock.now(), { isHeld, running });
    const complete = async (read: () => Promise<SessionModel>): Promise<void> => {
      try {
        const whole = await read();
        if (this.isDisposed) return;
        this.#model.complete(whole);
        if (!running) for (const event of closingEvents(this.#model.state, clock.now(), isHeld)) apply(event);
      } catch (error) {
        log.error(`a session could not be read: ${messageOf(error)}`);
      } finally {
        this.#whole = undefined;
      }
    };
    this.#whole = kept.whole && complete(kept.whole);
    if (earlier) this.turns.restore(earlier.turns, this.#model.state, promptOf(this));
    if (running === 'far') this.events.cut();
    this.changes.onRestored();
  }

  /** Changes only through {@link note} and the agent, so that all changes are stored. */
  get model(): SessionView {
    return this.#model;
  }

  get agent(): AgentDefinition {
    return this.connector.agent;
  }

  get isDisposed(): boolean {
    return this.#lifetime.isDisposed;
  }

  get connection(): ConnectionState {
    return this.connector.state;
  }

  get liveness(): Liveness {
    return this.probe.liveness;
  }

  get ignoresStop(): boolean {
    return this.turns.ignoresStop;
  }

  get isPreparing(): boolean {
    return this.turns.isPreparing;
  }

  /** The turn ended with a question, so the next message is the answer. */
  get isAsked(): boolean {
    return this.turns.isAsked;
  }

  get isAttaching(): boolean {
    return this.connector.isAttaching;
  }

  get lifeSigns(): LifeSigns {
    return { state: this.#model.state, now: this.services.clock.now(), ...this.probe.signs };
  }

  /** Asks a silent agent whether it responds. Called every few seconds during a visible turn. */
  checkSilence(check: SilenceCheck): void {
    if (this.connector.session && !this.turns.isPreparing) this.probe.checkSilence(this.connector.session, check);
  }

  get sessionId(): string | undefined {
    return this.connector.sessionId;
  }

  /** A turn runs, a prompt has no answer yet, or a message is about to be sent. */
  get isBusy(): boolean {
    return this.turns.isBusy;
  }

  /** As {@link isBusy}, except while only the response to a finished turn is missing. */
  get isWorking(): boolean {
    return this.turns.isRunning || this.turns.isPreparing;
  }

  get waitsForUser(): boolean {
    return this.connector.waitsForUser;
  }

  get link(): AgentLink | undefined {
    return this.connector.link;
  }

  get promptCapabilities(): PromptCapabilities {
    return this.link?.description.features.prompt ?? { image: false, audio: false, embeddedContext: false };
  }

  /**
   * Resolves when the model is complete; undefined if it is. Never rejects: unreadable parts remain
   * gaps.
   */
  get whole(): Promise<void> | undefined {
    return this.#whole;
  }

  /**
   * Starts the agent and opens a session, once; later calls join. Waits for the whole transcript,
   * to compare it with the agent's. Never throws: failures are in {@link connection}.
   */
  start(): Promise<void> {
    return this.#whole?.then(() => (this.isDisposed ? undefined : this.connector.start())) ?? this.connector.start();
  }

  /**
   * Sends a message, or queues it until the session is ready and the running turn has ended.
   * @returns the queue item's id, and the end of its turn (rejects with `message-removed` or
   * `conversation-closed`)
   * @throws ParleyError `untrusted-workspace`, `session-held`, `empty-message`
   */
  send(text: string, attachments: readonly QueuedAttachment[] = []): { id: string; done: Promise<TurnResult> } {
    if (!this.services.isTrusted()) throw untrusted();
    this.requireOurs();
    if (text.trim() === '' && attachments.length === 0)
      throw new ParleyError('empty-message', localizable('There is nothing to send.'));
    this.persistence?.verify();
    this.requireOurs();
    // A message sent while nothing runs, or while the turn is being stopped, is next; messages that
    // were paused before it stay paused.
    const isOver = !this.isBusy || this.turns.isPreparing || this.turns.isCancelled;
    const now = this.queue.paused !== undefined && isOver;
    // One transaction: a message that is sent immediately is never stored as queued.
    return this.recorder.together(() => {
      const item = this.queue.add(text, attachments, now ? 'first' : 'last');
      const { dispatcher } = this.turns;
      const done = now ? dispatcher.sendSoon(item) : dispatcher.expect(item);
      void this.start();
      // Once the agent is ready, it gets the message without waiting for the first state.
      if (!this.link) this.changes.warm();
      dispatcher.pump();
      return { id: item.id, done };
    });
  }

  get failedTurnId(): string | undefined {
    return failedTurn(this.#model.state, this.queue, this.#resentId)?.id;
  }

  sendAgain(turnId: string): boolean {
    if (this.failedTurnId !== turnId) return false;
    const { text, attachments } = promptOfTurn(this.#model.state, turnId);
    this.#resentId = this.send(text, attachments).id;
    return true;
  }

  cancel(): void {
    if (this.connector.isStarting) {
      this.connector.cancelStart();
      if (this.queue.items.length > 0) this.queue.pause('start-stopped');
      return;
    }
    const pauses = this.turns.cancelSend() || (this.turns.isRunning && this.services.afterCancel() === 'pause');
    if (pauses && this.queue.items.length > 0) this.queue.pause('stopped');
    this.turns.cancel();
  }

  /**
   * Stops one tool call, terminal or subagent.
   * @throws ParleyError `no-session`; what the agent answers
   */
  async stopOne({ kind, id }: StopTarget): Promise<void> {
    const { link, sessionId } = this.connector.ready();
    if (kind === 'subagent') return this.subagents.stop(id);
    const controls = required(link.dialect.controls);
    const ofSubagent = kind === 'tool' ? this.subagents.callOf(id) : undefined;
    if (ofSubagent) return controls.cancelTool(ofSubagent.sessionId, ofSubagent.toolCallId);
    return kind === 'tool' ? controls.cancelTool(sessionId, id) : controls.cancelTerminal(sessionId, id);
  }

  /** @param isEdited the user has edited the change and applied it */
  answerPermission(id: string, optionId: string | null, isEdited?: true): boolean {
    const { permissions } = this.turns.requests;
    return this.services.useEdited?.(this.key, id, optionId) || permissions.answer(id, optionId, isEdited);
  }

  note(events: readonly TimedEvent[]): void {
    this.recorder.together(() => {
      for (const { at, event } of events) this.recorder.applyAt(event, at);
    });
  }

  get elicitations(): ElicitationRequestHandler {
    return this.turns.requests.elicitations;
  }

  async checkStatus(): Promise<StatusAnswer> {
    const { session } = this.connector;
    return session ? this.probe.ask(session) : 'unsupported';
  }

  signIn(methodId: string): Promise<void> {
    return this.connector.signIn(methodId);
  }

  /**
   * Signs out and restarts the agent.
   * @throws ParleyError `cannot-sign-out`; what the agent answers
   */
  async signOut(): Promise<void> {
    await this.connector.signOut();
    await this.start();
  }

  async reopen(opening: SessionOpenStrategy): Promise<void> {
    this.isSuspended = false;
    await this.connector.drop('session-opened', { next: opening });
    await this.start();
  }

  /**
   * Restarts the agent. The session is reopened if possible; otherwise a new one gets the
   * transcript.
   */
  restart(): Promise<void> {
    return this.connector.restart('agent-restarted');
  }

  async becomeReadOnly(): Promise<void> {
    if (this.#readOnly) return;
    this.#readOnly = takenOver();
    await this.connector.leave();
    await this.connector.drop('taken-over');
    await this.start(); // shows why it is read-only
  }

  get readOnly(): ParleyError | undefined {
    return this.#readOnly;
  }

  requireOurs(): void {
    if (this.#readOnly) throw this.#readOnly;
  }

  get isIdle(): boolean {
    const { session } = this.connector;
    if (!session || this.#readOnly || this.agent.type !== 'process') return false;
    if (!canReopen(session.link.description.features)) return false;
    return !this.isBusy && !this.turns.isAsked && this.queue.items.length === 0 && !isAtWork(this.#model.state);
  }

  /** Ends the agent. The next start opens the same session. */
  async suspend(): Promise<void> {
    if (!this.isIdle) return;
    this.isSuspended = true;
    await this.connector.suspend('agent-idle');
  }

  /** @param why `window-ended`: only the window closes, not the session */
  async close(why: 'closed' | 'window-ended' = 'closed'): Promise<void> {
    this.endsWithWindow = why === 'window-ended';
    if (this.endsWithWindow && this.connector.outlives && this.services.keepers?.isOn) {
      await this.changes.leave();
      this.recorder.end();
      await this.connector.leave();
    } else {
      await this.connector.drop(CLOSE_NOTES[why], { closing: true });
      await this.changes.settledSoon();
    }
    this.dispose();
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.#lifetime.dispose();
    this.changes.dispose();
    this.connector.dispose();
    this.turns.dispose();
    void this.services.terminals.closeSession(this.key);
  }
}
