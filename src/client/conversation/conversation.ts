// A live conversation with one agent: starts the agent, opens the session, sends the queue and owns
// the model. The state of the connection is one union; everything shown is derived from it, the
// model, the queue and the stages.

import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import { type PromptCapabilities, required } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Liveness } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import { SessionModel, type SessionView } from '../../session/model/model';
import { PromptQueue, type QueuedAttachment } from '../../session/queue/queue';
import type { SessionChanges } from '../changes/sessionChanges';
import type { AgentEnd, ConnectionState } from '../connection/connectionState';
import { Connector } from '../connection/connector';
import { ContextHandoff } from '../connection/contextHandoff';
import { readOnlyReason, takenOver, untrusted } from '../connection/failures';
import { type LifeSigns, LivenessProbe, type Look } from '../connection/livenessProbe';
import { LiveSession } from '../connection/liveSession';
import { canReopen, type SessionOpenStrategy, strategyFor } from '../connection/sessionOpenStrategy';
import { StartNotices } from '../connection/startNotices';
import { CommunicationChat } from '../http/communicationChat';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import { TurnControl } from '../prompts/turnControl';
import { EditHolds } from '../requests/editHolds';
import type { ElicitationRequestHandler } from '../requests/elicitationRequestHandler';
import { Subagents } from '../requests/subagents';
import { transcriptOf } from '../sharing/transcriptMessages';
import { Stages } from '../transport/stages';
import type { TurnResult } from '../turns/turnState';
import { AgentControls } from './agentControls';
import { AgentLoss } from './agentLoss';
import { changesOfSession } from './changesOfSession';
import { Choices } from './choices';
import type { ConversationOptions, ConversationServices } from './conversationOptions';
import { followTerminals } from './followTerminals';
import { isAtWork } from './idleAgents';
import { Inbound } from './inbound';
import { judgeFor } from './judgeFor';
import { type EarlierAgent, earlierAgent, KeptProgress } from './keptProgress';
import type { ConversationPersistence } from './persistence';
import { QueueActions } from './queueActions';
import { QueueMirror } from './queueMirror';
import { Recorder } from './recorder';
import { closingEvents, completeTranscript, itemsOf, restore } from './restore';
import { failedTurn, promptOfTurn } from './sendAgain';
import { SessionOps } from './sessionOps';
import { Unsent } from './unsent';

/** How a turn ended that ran when its session was closed. */
const CLOSE_NOTES = { closed: 'session-closed', 'window-ended': 'window-ended' } as const;

export class Conversation implements Disposable {
  readonly key: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly #model: SessionModel;
  readonly queue: PromptQueue;
  /** Queued messages that are being edited. */
  readonly edits: EditHolds;
  readonly stages: Stages;
  /** Operations on the agent's sessions, this one and others. */
  readonly ops: SessionOps;
  readonly unsent: Unsent;
  readonly queueActions: QueueActions;
  readonly controls: AgentControls;
  /** The session with HTTP agents, if any. */
  readonly communication: CommunicationChat;
  /** What its turns change on disk. */
  readonly changes: SessionChanges;
  readonly #recorder: Recorder;
  readonly #persistence: ConversationPersistence | undefined;
  readonly #services: ConversationServices;
  readonly #turns: TurnControl;
  readonly #subagents: Subagents;
  readonly #probe: LivenessProbe;
  readonly #connector: Connector;
  readonly #loss: AgentLoss;
  readonly #lifetime = new DisposableStore();
  readonly #notices: StartNotices;
  /** Why the session is read-only here; undefined: it is ours. */
  #held: ParleyError | undefined;
  readonly #choices: Choices;
  #isSuspended = false;
  readonly #progress: KeptProgress;
  /** Where an earlier window stood with the agent, until that is attached. */
  #earlier: EarlierAgent | undefined;
  #endsWithWindow = false;
  readonly #handoff = new ContextHandoff();
  #whole: Promise<void> | undefined;
  /** The queue item that repeats the prompt of a failed turn. */
  #sentAgain: string | undefined;

  constructor(options: ConversationOptions) {
    const { services, key, agent, cwd, kept } = options;
    this.key = key;
    this.cwd = cwd;
    this.roots = options.roots;
    this.#model = kept?.model ?? new SessionModel();
    this.#services = services;
    const transcript = () => transcriptOf(this.#model, this.agent.name);
    this.communication = new CommunicationChat(key, services, this.#model, transcript);
    this.#held = readOnlyReason(options);
    const persistence = this.#held ? undefined : options.persistence; // what another window writes is not ours to end
    this.#persistence = persistence;
    this.unsent = new Unsent(persistence, () => this.#model.touch('attachments'));
    const earlier = persistence && earlierAgent(key, kept, services.keepers);
    this.#earlier = earlier?.where === 'here' ? earlier : undefined;
    this.#progress = new KeptProgress(
      {
        turns: () => this.#turns,
        link: () => this.#connector?.agentSide?.link,
        sessionId: () => this.#connector.sessionId,
        isFar: () => this.#connector?.isFar === true,
        state: () => this.#model.state,
        terminals: () => services.terminals.heardOf(key, this.#earlier?.terminals),
      },
      earlier?.step,
    );
    this.#recorder = new Recorder(
      this.#model,
      persistence,
      services.clock.now,
      (event) => {
        this.changes.happened(event);
        this.#choices.happened(event);
      },
      this.#progress.read,
    );
    this.changes = changesOfSession(
      options,
      this.#model,
      () => this.#recorder,
      () => this.agent,
      () => this.#held === undefined,
    );
    const { apply } = this.#recorder;
    this.#choices = new Choices(this, { ready: () => this.#connector.ready(), apply, services });
    const mirror = persistence && new QueueMirror(persistence, kept?.queue, kept?.paused);
    this.queue = new PromptQueue(() => {
      if (mirror) this.#recorder.queueChanged(() => mirror.sync(this.queue));
      this.#model.touch('queue');
    });
    this.edits = new EditHolds(this.queue, () => this.queueActions.pump());
    const goesOn = earlier?.where;
    if (kept) restore(this, kept, apply, services.clock.now(), { isHeld: options.isHeld, goesOn });
    const isOver = (): boolean => this.#lifetime.isDisposed;
    const manner = { isOver, apply, now: services.clock.now, isHeld: options.isHeld, goesOn };
    this.#whole = completeTranscript(this.#model, kept?.whole, manner, services.log)?.finally(() => {
      this.#whole = undefined;
    });
    this.#notices = new StartNotices(apply, services.log);
    this.stages = new Stages(services.clock.now, () => this.#model.touch('connection'));
    this.#probe = new LivenessProbe({
      now: services.clock.now,
      quietMs: services.quietMs,
      onChange: () => this.#model.touch('connection'),
      onState: (report) => this.#turns.state(report),
    });
    this.#turns = new TurnControl({
      queue: this.queue,
      turnsSoFar: this.#model.state.turns.length,
      appendix: (capabilities) => this.#handoff.take(capabilities, this.#model.state.entries),
      services,
      apply,
      onChange: () => this.#model.touch('turn'),
      judge: judgeFor(options, () => this.agent.id),
      session: new LiveSession({
        connector: () => this.#connector,
        probe: this.#probe,
        agentState: () => services.agentState?.(key),
        choices: this.#choices,
        isBlocked: () => this.#held !== undefined,
      }),
      kept: this.#recorder,
    });
    if (earlier) this.#turns.restore(earlier.turns, this.#model.state, itemsOf(this.queue, this.#model));
    this.queueActions = new QueueActions({
      queue: this.queue,
      turns: this.#turns,
      start: () => this.start(),
      isClosed: () => this.#lifetime.isDisposed,
      requireOurs: () => this.#requireOurs(),
      acceptChoices: () => this.#choices.accept(),
    });
    this.#subagents = new Subagents({ side: () => this.#connector.agentSide, apply, log: services.log });
    this.#loss = new AgentLoss({
      key,
      services,
      model: this.#model,
      queue: this.queue,
      probe: this.#probe,
      turns: () => this.#turns,
      subagents: () => this.#subagents,
      session: () => this.#connector.session,
      isHeld: () => this.#held !== undefined,
    });
    const inbound = new Inbound({
      key,
      roots: this.roots,
      services,
      recorder: this.#recorder,
      turns: this.#turns,
      subagents: this.#subagents,
      probe: this.#probe,
      connector: () => this.#connector,
      changes: this.changes,
      model: this.#model,
    });
    this.#connector = new Connector(
      {
        key,
        agent,
        isStored: persistence !== undefined,
        begins: options.begins,
        cwd,
        additionalDirectories: this.roots.filter((root) => root !== cwd),
        services,
        stages: this.stages,
        communication: this.communication,
        apply,
        refuses: () => {
          if (this.#held) return this.#held;
          if (!services.isTrusted()) return untrusted();
          return persistence?.claim() === false ? (this.#held ?? takenOver()) : undefined;
        },
        onSession: (facts) => persistence?.describe(facts),
        known: () => this.#model.state,
        onRepeated: (repeated) => this.#loss.repeated(repeated),
        onRequest: (...request) => (options.onlySends ? new Promise(() => {}) : inbound.request(...request)),
        onNotification: (method, params) => inbound.notification(method, params),
        onUpdates: (updates, past) => inbound.updates(updates, past),
        onState: (report) => this.#turns.state(report),
        feed: (fact) => void this.#turns.driver.feed(fact),
        toolSession: inbound.toolSession(),
      },
      options.opening ?? strategyFor(kept),
      {
        changed: () => this.#model.touch('connection'),
        starting: (lastEnd) => this.#onStarting(lastEnd),
        ready: (problems, isNew) => this.#onReady(problems, isNew),
        replacing: () => this.#handoff.replacing(this.#model.state),
        attached: (opened) => this.#onAttached(opened),
        detached: (end, hadSession) => this.#onDetached(end, hadSession),
        isInTurn: () => this.#model.state.turn !== undefined,
        cut: (link) => this.#recorder.together(() => this.#loss.cut(link)),
        rejoining: () => void this.#turns.driver.feed({ type: 'asking' }),
        rejoined: (status) => this.#recorder.together(() => this.#loss.rejoined(status)),
      },
      earlier,
    );
    this.controls = new AgentControls(() => this.#connector.ready(), this.#subagents, this.#choices);
    this.ops = new SessionOps({
      link: () => this.#connector.link,
      session: () => this.#connector.session,
      agentName: () => this.agent.name,
      cwd,
      apply,
    });
    this.#lifetime.add(followTerminals(services.terminals, key, this.#model, this.#recorder, () => this.agent.name));
    if (goesOn === 'far') this.#recorder.together(() => this.#loss.cut());
    if (kept) this.changes.recalled();
  }

  /** The transcript and its state. Changes only through {@link note} and the agent, which are stored. */
  get model(): SessionView {
    return this.#model;
  }

  /** The agent as it was configured at its last start. */
  get agent(): AgentDefinition {
    return this.#connector.agent;
  }

  get connection(): ConnectionState {
    return this.#connector.state;
  }

  get liveness(): Liveness {
    return this.#probe.liveness;
  }

  /** The signs of life of the running turn. */
  get lifeSigns(): LifeSigns {
    return { state: this.#model.state, now: this.#services.clock.now(), ...this.#probe.signs };
  }

  /**
   * Asks a silent agent whether it responds; called every few seconds while a running turn is
   * visible.
   */
  checkSilence(look: Look): void {
    if (this.#connector.session && !this.isPreparing) this.#probe.look(this.#connector.session, look);
  }

  /** The agent was asked to stop ten seconds ago and has not stopped. */
  get ignoresStop(): boolean {
    return this.#turns.ignoresStop;
  }

  get sessionId(): string | undefined {
    return this.#connector.sessionId;
  }

  /** A turn runs, its prompt waits for its answer, or a message is about to leave. */
  get isBusy(): boolean {
    return this.#turns.isBusy;
  }

  /** As {@link isBusy}, but not while only the answer to a turn that is over is missing. */
  get isWorking(): boolean {
    return this.#turns.isRunning || this.#turns.isPreparing;
  }

  /** Its agent runs since an earlier window, and is not here yet. */
  get isAttaching(): boolean {
    return this.#connector.isAttaching;
  }

  /** The agent starts and waits for an answer of the user. */
  get waitsForUser(): boolean {
    return this.#connector.waitsForUser;
  }

  /** A message is about to leave; the session may have to be opened again before. */
  get isPreparing(): boolean {
    return this.#turns.isPreparing;
  }

  /** Returns whether a message is with the agent, and its turn is not over. */
  hasLeft(id: string): boolean {
    return this.#turns.driver.requestIds.has(id);
  }

  /** The agent asked something at the end of its turn: the next message is the answer. */
  get isAsked(): boolean {
    return this.#turns.isAsked;
  }

  /** The running agent; undefined before it was initialized. */
  get link(): AgentLink | undefined {
    return this.#connector.link;
  }

  get promptCapabilities(): PromptCapabilities {
    return this.link?.description.features.prompt ?? { image: false, audio: false, embeddedContext: false };
  }

  /**
   * Resolves when the whole transcript is in the model; undefined where it is. Never rejects: what
   * cannot be read stays a gap.
   */
  get whole(): Promise<void> | undefined {
    return this.#whole;
  }

  /**
   * Starts the agent and opens a session, once; later calls join. Nothing is started before the
   * whole transcript is there, which the agent's own is compared with. Never throws: what fails is
   * in {@link connection}.
   */
  start(): Promise<void> {
    return (
      this.#whole?.then(() => (this.#lifetime.isDisposed ? undefined : this.#connector.start())) ??
      this.#connector.start()
    );
  }

  /**
   * Takes a message: sent now, or queued until the session is ready and the running turn has ended.
   * @returns the queue item's id, and the end of its turn (rejects with `message-removed` or
   * `conversation-closed`).
   * @throws ParleyError `untrusted-workspace`, `session-held`, `empty-message`; the message stays
   * with the caller then.
   */
  send(text: string, attachments: readonly QueuedAttachment[] = []): { id: string; done: Promise<TurnResult> } {
    if (!this.#services.isTrusted()) throw untrusted();
    this.#requireOurs();
    if (text.trim() === '' && attachments.length === 0)
      throw new ParleyError('empty-message', localizable('There is nothing to send.'));
    this.#persistence?.verify();
    this.#requireOurs();
    // A message that the user sends while nothing runs, or what runs is being stopped, is meant now;
    // what they paused before it stays paused.
    const isOver = !this.isBusy || this.isPreparing || this.#turns.isCancelled;
    const now = this.queue.paused !== undefined && isOver;
    // Where it leaves at once it is never kept as one that waits.
    return this.#recorder.together(() => {
      const item = this.queue.add(text, attachments, now ? 'first' : 'last');
      const done = now ? this.#turns.dispatcher.sendSoon(item) : this.#turns.dispatcher.expect(item);
      void this.start();
      this.#turns.dispatcher.pump();
      return { id: item.id, done };
    });
  }

  /** The id of the newest turn where it failed and its prompt can be sent again. */
  get failedTurnId(): string | undefined {
    return failedTurn(this.#model.state, this.queue, this.#sentAgain)?.id;
  }

  /**
   * Sends the prompt of a failed turn again, as a new message.
   * @returns false where that turn is not the newest, or its prompt waits already
   * @throws what {@link send} throws
   */
  sendAgain(turnId: string): boolean {
    if (this.failedTurnId !== turnId) return false;
    const { text, attachments } = promptOfTurn(this.#model.state, turnId);
    this.#sentAgain = this.send(text, attachments).id;
    return true;
  }

  /** Stops the running turn or start. The queue is paused, by the user's setting. */
  cancel(): void {
    if (this.#connector.isStarting) {
      this.#connector.cancelStart();
      if (this.queue.items.length > 0) this.queue.pause('start-stopped');
      return;
    }
    // A message that has not left is stopped itself; what follows a turn is not, where the user has
    // set it so.
    const pauses = this.#turns.keepBack() || (this.#turns.isRunning && this.#services.afterCancel() === 'pause');
    if (pauses && this.queue.items.length > 0) this.queue.pause('stopped');
    this.#turns.cancel();
  }

  answerPermission(id: string, optionId: string | null): boolean {
    return this.#services.useEdited?.(this.key, id, optionId) || this.#turns.requests.permissions.answer(id, optionId);
  }

  /**
   * Adds events that are not the agent's, such as notices or messages of a shared past; stored as
   * well.
   */
  note(events: readonly TimedEvent[]): void {
    this.#recorder.together(() => {
      for (const { at, event } of events) this.#recorder.applyAt(event, at);
    });
  }

  /** The forms and pages that wait for the user. */
  get elicitations(): ElicitationRequestHandler {
    return this.#turns.requests.elicitations;
  }

  /** Asks the agent whether it has the session, where it offers session/status. */
  async checkStatus(): Promise<StatusAnswer> {
    const { session } = this.#connector;
    return session ? this.#probe.ask(session) : 'unsupported';
  }

  /** Signs in with a method of the agent, then opens the session. Never throws: a failure is shown. */
  signIn(methodId: string): Promise<void> {
    return this.#connector.signIn(methodId);
  }

  /**
   * Signs out and restarts the agent, which mostly asks for a sign-in then.
   * @throws ParleyError `cannot-sign-out`; what the agent answers.
   */
  async signOut(): Promise<void> {
    await this.#connector.signOut();
    await this.start();
  }

  /** Restarts the agent with an old session, see {@link SessionOpenStrategy}. */
  async reopen(opening: SessionOpenStrategy): Promise<void> {
    this.#isSuspended = false;
    await this.#connector.drop('session-opened', { next: opening });
    await this.start();
  }

  /**
   * Ends the agent and starts it again. The transcript stays, and the session continues where the
   * agent can open it again; else it begins a new one and is said to.
   */
  restart(): Promise<void> {
    return this.#connector.restart('agent-restarted');
  }

  /**
   * Another window has taken the session over: its agent is ended, and it is read-only from now on.
   */
  async lose(): Promise<void> {
    if (this.#held) return;
    this.#held = takenOver();
    await this.#connector.leave();
    await this.#connector.drop('taken-over');
    await this.start(); // which says why it does not
  }

  /** Nothing runs or waits in the session, and its agent can open it again. */
  get isIdle(): boolean {
    const { session } = this.#connector;
    if (!session || this.#held || this.agent.type !== 'process') return false;
    if (!canReopen(session.link.description.features)) return false;
    return !this.isBusy && !this.isAsked && this.queue.items.length === 0 && !isAtWork(this.#model.state);
  }

  /** The process of the idle agent was ended; the next start brings it back. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /**
   * Ends the process of an idle agent. The next start opens the same session.
   */
  async suspend(): Promise<void> {
    if (!this.isIdle) return;
    this.#isSuspended = true;
    await this.#connector.suspend('agent-idle');
  }

  /**
   * Ends the agent and everything that it started.
   * @param why the session is left, or only its window ends
   */
  async close(why: 'closed' | 'window-ended' = 'closed'): Promise<void> {
    this.#endsWithWindow = why === 'window-ended';
    if (this.#endsWithWindow && (await this.#leave())) return;
    await this.#connector.drop(CLOSE_NOTES[why], { closing: true });
    await this.changes.settledSoon();
    this.dispose();
  }

  /** Lets the agent go on, for the next window. @returns false where it ends with this one */
  async #leave(): Promise<boolean> {
    if (!this.#connector.outlives || !this.#services.keepers?.isOn) return false;
    await this.changes.leave();
    this.#recorder.end();
    await this.#connector.leave();
    this.dispose();
    return true;
  }

  dispose(): void {
    if (this.#lifetime.isDisposed) return;
    this.#lifetime.dispose();
    this.changes.dispose();
    this.#connector.dispose();
    this.#turns.dispose();
    void this.#services.terminals.closeSession(this.key);
  }

  /** Shows how the last agent ended. */
  #onStarting(lastEnd: ParleyError | undefined): void {
    if (lastEnd) {
      const { code, texts, stderr } = lastEnd;
      this.#recorder.apply({ type: 'error', code, message: texts.message, stderr: stderr || undefined });
    }
    this.#handoff.starting(this.#model.state.entries);
    this.changes.starting();
  }

  #onReady(problems: Parameters<StartNotices['notHandedOver']>[0], isNew: boolean): void {
    const { entries } = this.#model.state;
    if (this.#handoff.ready(this.sessionId, isNew, entries)) this.#notices.beganAnew(this.agent.name, entries);
    this.#notices.notHandedOver(problems);
    this.#progress.opened();
    this.#probe.heard();
    this.changes.warm();
    this.#loss.ready();
    this.#isSuspended = false;
    this.#choices.opened(isNew);
    this.#turns.dispatcher.pump();
  }

  /** The agent of an earlier window is here: it goes on as if nothing had been. */
  #onAttached(opened: OpenedSession): void {
    const { kept, rpc } = opened.link;
    const { lines, step, terminals } = required(this.#earlier);
    const session = required(kept);
    rpc?.resumeAfter(lines);
    this.#progress.opened();
    this.#turns.resume(opened, required(session.earlier).prompts);
    this.note(session.takeHeldBack(step));
    this.#subagents.resume(this.#model.state.entries);
    this.changes.resume();
    if (session.agent.commands) this.#services.terminals.resume(this.key, session.agent.commands, terminals);
    this.#earlier = undefined;
    session.agent.deliver(lines);
    this.#onReady([], false);
  }

  #onDetached(end: AgentEnd, hadSession: boolean): void {
    this.#loss.detached(end, hadSession, this.#endsWithWindow || this.#earlier !== undefined);
    if (!this.#earlier) return;
    this.#earlier = undefined;
    for (const event of closingEvents(this.#model.state, this.#services.clock.now())) this.#recorder.apply(event);
  }

  /** @throws ParleyError `session-held` */
  #requireOurs(): void {
    if (this.#held) throw this.#held;
  }
}
