// Runs the turns of a session: sends one prompt at a time, waits for the end of its turn, and stops
// it.

import { createHash } from 'node:crypto';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import { readSteering, STEERING, steer } from '../../acp/proposals/steering';
import { type PromptAnswer, required, type StateReport, takes } from '../../acp/protocol/dialect';
import { REMOTE_LOST } from '../../acp/transport/remoteError';
import { Deferred } from '../../base/deferred';
import { errorText, messageOf, ParleyError } from '../../base/errors';
import { type LocalizableText, localizable, localize } from '../../base/localizable';
import { Pace } from '../../base/pace';
import { textOfBlocks } from '../../base/text';
import { at } from '../../base/untrusted';
import type { ContentBlock } from '../../session/events/content';
import type { Barrier, StopReason } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';
import { isAway, type PromptQueue, type QueueItem } from '../../session/queue/queue';
import { detailed, type PauseCode, type WaitReason } from '../../session/queue/waitReason';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import { later } from '../ports/grace';
import { UserRequests } from '../requests/userRequests';
import { canBeCut } from '../turns/engine';
import {
  GRACES,
  hasWaitingPrompt,
  initialTurns,
  isAwaited,
  isOwnWork,
  type KeptTurns,
  restoredTurns,
  type StoredFailure,
  type TurnResult,
} from '../turns/turnState';
import { contentOf, contentOfSent } from './promptContent';
import { type MessageSender, PromptDispatcher, type SentMessage } from './promptDispatcher';
import type { Preparation, TurnControlOptions } from './promptSession';
import { type SentPrompt, TurnDriver } from './turnDriver';

/** Each send waits for the disk. */
const sends = new Pace();

/** Before the user is offered to end the agent. */
const STOP_PATIENCE_MS = 10_000;

/** How long an agent that can't be written to may take to exit. */
const UNWRITABLE_MS = 2000;
const AUTH_REQUIRED = `agent-error ${RPC_CODES.authRequired}`;

/** A prompt was not sent because the session could not be reopened. */
class SessionLost extends Error {
  readonly wait: WaitReason<PauseCode>;

  constructor(wait: WaitReason<PauseCode>, cause: unknown) {
    super(wait, { cause });
    this.wait = wait;
  }
}

export class TurnControl implements MessageSender {
  readonly requests: UserRequests;
  readonly dispatcher: PromptDispatcher;
  readonly #options: TurnControlOptions;
  readonly driver: TurnDriver<QueuedPrompt>;
  #stopTimer: ReturnType<typeof setTimeout> | undefined;
  #ignoresStop = false;
  /** Preparation that can be aborted; `item` has not been sent yet. */
  #preparing: { readonly abort: AbortController; readonly item?: QueueItem } | undefined;

  readonly #accepted: AcceptedPrompts;
  readonly #resentIds = new Set<string>();
  /** The agent's message when a turn failed because it needs a sign-in. */
  #signInMessage: string | undefined;
  /** Prompts of an earlier window, until its agent is attached. */
  #restored: { readonly itemOf: (id: string) => QueueItem | undefined } | undefined;
  /** The connection on which the agent has inserted a prompt into another's turn, as v2 allows. */
  #insertingLink: AgentLink | undefined;
  /** Connections that were lost in a turn: their failures are not answers. */
  readonly #cutLinks = new WeakSet<AgentLink>();

  constructor(options: TurnControlOptions) {
    const { queue, recorder, services, model } = options;
    const { apply } = recorder;
    this.#options = options;
    this.requests = new UserRequests(apply, () => this.isCancelled, options.judge);
    this.#accepted = new AcceptedPrompts(queue);
    const { clock, log, schedule, barrierGraceMs: barrierMs, answerGraceMs: answerMs } = services;
    this.driver = new TurnDriver(initialTurns(model.state.turns.length), {
      graces: { ...GRACES, ...(barrierMs !== undefined && { barrierMs }), ...(answerMs !== undefined && { answerMs }) },
      schedule,
      now: clock.now,
      log,
      apply,
      onInserted: (promptId) => {
        const { turn, prompts } = this.driver.state;
        if (turn?.endsBy === 'state' && prompts.filter(({ inTurn }) => inTurn).length > 1)
          this.#insertingLink = this.#options.session.current?.link;
        this.#accepted.forget(promptId);
        queue.remove(promptId);
      },
      onSettled: (stopReason, prompts) => this.#onSettled(stopReason, prompts),
      onLost: ({ item, done }) => {
        this.#release(item);
        void done.promise.then(() => this.#pumpWhenHandled());
      },
    });
    this.dispatcher = new PromptDispatcher(queue, this);
  }

  get isBusy(): boolean {
    return this.#hasTurn || this.isPreparing;
  }

  get isPreparing(): boolean {
    return this.#preparing?.item !== undefined;
  }

  #changed(): void {
    this.#options.model.touch('turn');
  }

  get #hasTurn(): boolean {
    return this.driver.state.turn !== undefined || hasWaitingPrompt(this.driver.state);
  }

  get isRunning(): boolean {
    const { turn } = this.driver.state;
    return (turn !== undefined && turn.ended === undefined) || hasWaitingPrompt(this.driver.state);
  }

  get isAsked(): boolean {
    const session = this.#options.session.current;
    return !this.isBusy && session?.link.dialect.isAsking?.(session.sessionId) === true;
  }

  get isCancelled(): boolean {
    return this.driver.state.turn?.cancelRequested === true;
  }

  get ignoresStop(): boolean {
    return this.#ignoresStop;
  }

  /**
   * A turn that failed because it needs a sign-in asks for one, as an error of its prompt would.
   */
  state(report: StateReport): void {
    if (report.error?.code === AUTH_REQUIRED && this.driver.state.turn) this.#signInMessage = report.error.message;
    this.driver.feed({ type: 'state', report });
    if (!this.driver.state.turn) this.#signInMessage = undefined;
    this.#changed();
  }

  cancel(): void {
    const { services } = this.#options;
    const session = this.#options.session.current;
    this.cancelSend();
    if (!session || (!this.isRunning && !this.isAsked)) return;
    this.driver.feed({ type: 'cancel' });
    this.#preparing?.abort.abort();
    const cancellation = session.link.dialect
      .cancel(session.sessionId)
      .catch((error: unknown) => services.log.warn(`session/cancel: ${messageOf(error)}`));
    if (!this.#hasTurn) {
      void cancellation.then(() => this.#changed());
      return;
    }
    this.requests.turnStopped();
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(() => {
      this.#ignoresStop = true;
      this.#changed();
    }, STOP_PATIENCE_MS);
  }

  /**
   * Keeps a message from being sent that is being prepared.
   * @param id any by default
   * @returns whether there was one
   */
  cancelSend(id?: string): boolean {
    const { abort, item } = this.#preparing ?? {};
    if (!item || abort?.signal.aborted || (id !== undefined && id !== item.id)) return false;
    abort?.abort();
    this.#options.queue.setState(item, 'queued');
    return true;
  }

  exited(note: LocalizableText, interrupted = false): void {
    this.#preparing?.abort.abort();
    this.#accepted.clear();
    this.#options.queue.takeBack();
    this.requests.agentExited();
    this.driver.feed({ type: 'exited', note, interrupted });
  }

  /**
   * The connection is lost in a turn, which stays open until {@link rejoin} or {@link exited}. The
   * agent repeats open questions.
   * @returns false if no turn runs
   */
  cut(link: AgentLink | undefined): boolean {
    if (!canBeCut(this.driver.state)) return false;
    this.driver.feed({ type: 'cut' });
    if (link) this.#cutLinks.add(link);
    this.#preparing?.abort.abort();
    this.#accepted.clear();
    this.#options.queue.takeBack();
    this.requests.agentExited();
    this.#clearStopTimer();
    this.#changed();
    return true;
  }

  /**
   * The agent was asked about the turn that was cut.
   * @param hasArrived whether the agent has its prompts; undefined: unknown
   * @returns false if the agent doesn't have the turn: {@link exited} ends it
   */
  rejoin(status: SessionStatus, hasArrived: boolean | undefined): boolean {
    const effects = this.driver.feed({ type: 'asked', status, hasArrived });
    this.#changed();
    return !effects.some(({ type }) => type === 'lost');
  }

  dispose(): void {
    clearTimeout(this.#stopTimer);
    this.exited('session-closed', true);
    this.driver.dispose();
    this.dispatcher.dispose();
  }

  /** Resolves once the message was sent; with undefined if it must wait. */
  async send(item: QueueItem): Promise<SentMessage | undefined> {
    const { queue, session } = this.#options;
    const opened = session.current;
    if (!opened) return undefined;
    queue.setState(item, 'sending');
    const preparation = session.precedes(opened);
    const wait = preparation && (await this.#prepare(preparation, item));
    const turn = sends.turn();
    if (turn) await turn;
    if (wait === 'kept-back') return undefined;
    if (wait === undefined) this.#options.session.leaving();
    const target = session.current; // may be a new session
    if (wait !== undefined || !target || target.link !== opened.link || !this.canSend) {
      queue.setState(item, 'queued');
      if (wait !== undefined) queue.pause(wait);
      return undefined;
    }
    return this.#leave(item, target, false);
  }

  /**
   * Returns whether messages can be put into the running turn: true, why this one can't, or
   * undefined if none can.
   */
  steers({ text, attachments }: Pick<QueueItem, 'text' | 'attachments'>): true | LocalizableText | undefined {
    const { turn, prompts, cut } = this.driver.state;
    const isOpen = turn !== undefined && turn.ended === undefined && !turn.cancelRequested && !cut;
    const { link } = this.#options.session.current ?? {};
    if (!isOpen || !link || this.#preparing || !prompts.some(({ inTurn }) => inTurn)) return undefined;
    const { features } = link.description;
    if (!features.steering) return this.#insertingLink === link || undefined;
    const [, command] = /^\/(\S+)/.exec(text) ?? [];
    if (this.#options.model.state.commands.some(({ name }) => name === command))
      return localizable('A command needs its own turn.');
    const untaken = attachments.find(({ forms }) => !forms.some((form) => takes(features.prompt, form)));
    return untaken ? localizable("The agent doesn't accept {0}.", untaken.label) : true;
  }

  /**
   * Sends a message into the running turn.
   * @returns as {@link send}
   */
  async steer(item: QueueItem): Promise<SentMessage | undefined> {
    const { queue, session } = this.#options;
    if (!session.current || this.steers(item) !== true) return undefined;
    queue.setState(item, 'sending');
    return this.#leave(item, session.current, true);
  }

  #leave(item: QueueItem, target: OpenedSession, steers: boolean): SentMessage {
    const { queue, recorder, session } = this.#options;
    const { features } = target.link.description;
    const content = contentOf(item, features.prompt);
    const endsBy = features.states ? 'state' : 'response';
    const promised = features.turnComplete !== undefined;
    const sent = [...content, ...session.appendix(features.prompt)];
    const echo = sent.length === content.length ? {} : { echo: textOfBlocks(sent) };
    const text = echo.echo ?? textOfBlocks(content);
    const prompt = { item, content, ...echo, done: new Deferred<TurnResult | undefined>() };
    // One transaction: it is stored either in the queue or in the transcript.
    const handle = recorder.together(() => {
      const terms = { promptId: item.id, text, endsBy, promised, ...(steers && { steers }) } as const;
      const added = this.driver.prompt(prompt, terms);
      recorder.commit();
      return added;
    });
    const takenBack = queue.find(item.id) ? this.#accepted.add(item.id) : undefined;
    const leaving = { opened: target, item, handle, content, sent, takenBack, steers };
    this.#handleAnswer(leaving, this.#prompt(leaving, target));
    return { done: prompt.done.promise.then((ended) => (this.#resentIds.delete(item.id) ? undefined : ended)) };
  }

  /** Sends a prompt to its session, or to the one that replaced it. */
  #prompt(
    { opened, item, handle, content, sent, takenBack, steers }: OutgoingPrompt,
    { link, sessionId }: OpenedSession,
  ): Promise<PromptAnswer> {
    const { queue, session } = this.#options;
    const isOther = sessionId !== opened.sessionId;
    const prompt = isOther ? [...content, ...session.appendix(link.description.features.prompt)] : sent;
    if (isOther) this.driver.replaceText(handle, textOfBlocks(prompt));
    const onSent = (requestId: string): void => {
      this.driver.feed({ type: 'sent', handle, requestId });
      if (queue.find(item.id)) queue.setState(item, 'accepted');
    };
    const signal = takenBack ?? new AbortController().signal;
    if (steers) return steer(required(link.rpc), sessionId, prompt, onSent, signal);
    const key = idempotencyKey(session.key, item, content, this.#options.model.state);
    return link.dialect.prompt(sessionId, prompt, onSent, signal, key);
  }

  #handleAnswer(leaving: OutgoingPrompt, pending: Promise<PromptAnswer>): void {
    const { queue, session, recorder } = this.#options;
    const { opened, item, handle, steers } = leaving;
    const { link, sessionId } = opened;
    (steers ? pending : this.#delivered(leaving, opened, pending)).then(
      (answer) =>
        // One transaction: the end of the turn and the progress of reading.
        recorder.together(() => {
          session.answered();
          // Messages queued before the question don't answer it.
          if (link.dialect.isAsking?.(sessionId) && queue.items.length > 0) queue.pause('agent-asks');
          this.driver.feed({ type: 'answer', handle, answer });
          if (item.repeats !== undefined && !answer.ends) session.duplicateAccepted();
        }),
      (error: unknown) => {
        if (isClosed(error) && this.#cutLinks.has(link)) return;
        // A lost connection is reported by the end of the agent, which has the reason.
        if (!isClosed(error) || !link.isAlive)
          recorder.together(() => this.#onPromptFailed(item, handle, error, steers));
      },
    );
  }

  /** Continues from an earlier window; nothing is sent until {@link resume}. */
  restore(kept: KeptTurns, state: Readonly<SessionState>, itemOf: (id: string) => QueueItem | undefined): void {
    const userIds = state.entries.flatMap((entry) =>
      entry.kind === 'user' && entry.messageId !== undefined ? [entry.messageId] : [],
    );
    const contentOf = (id: string): readonly ContentBlock[] => contentOfSent(itemOf(id));
    this.driver.restore(
      restoredTurns(kept, this.driver.state.turns, (id) => textOfBlocks(contentOf(id)), userIds),
      (id) => {
        const item = itemOf(id);
        return item && { item, content: contentOf(id), done: new Deferred() };
      },
    );
    this.requests.restore(state);
    this.#restored = { itemOf };
  }

  resume(opened: OpenedSession, sent: ReadonlyMap<string, string>): void {
    const { itemOf } = this.#restored ?? { itemOf: () => undefined };
    this.#restored = undefined;
    this.driver.resume();
    const { queue } = this.#options;
    const { turn } = this.driver.state;
    const prompts = this.driver.state.prompts.filter((prompt) => isAwaited(prompt, turn));
    const awaitedIds = new Set(prompts.map(({ promptId }) => promptId));
    // Sent after the last step that the earlier window stored.
    for (const item of queue.items) if (!awaitedIds.has(item.id)) this.#release(item);
    for (const { handle, promptId, inTurn, steers = false } of prompts) {
      const item = itemOf(promptId);
      if (!item) continue;
      const takenBack = inTurn ? undefined : this.#accepted.add(item.id);
      const content = contentOfSent(item);
      const leaving = { opened, item, handle, content, sent: content, takenBack, steers };
      this.#handleAnswer(leaving, this.#answerTo(leaving, sent.get(promptId)) ?? this.#prompt(leaving, opened));
    }
  }

  /** Returns the answer to a sent prompt; undefined if it was not sent. */
  #answerTo(
    { opened, handle, steers }: OutgoingPrompt,
    requestId: string | undefined,
  ): Promise<PromptAnswer> | undefined {
    const { rpc, dialect } = opened.link;
    if (requestId === undefined || !rpc) return undefined;
    this.driver.feed({ type: 'sent', handle, requestId });
    const method = steers ? STEERING : 'session/prompt';
    const answer = rpc.answerTo(Number(requestId), method, new AbortController().signal);
    return answer.then((raw) => (steers ? readSteering(raw) : required(dialect.readAnswer)(raw)));
  }

  /**
   * Runs a preparation that Stop can abort.
   * @returns why the prompt must wait
   */
  async #prepare(run: Preparation, item?: QueueItem): Promise<WaitReason<PauseCode> | 'kept-back' | undefined> {
    const abort = new AbortController();
    this.#preparing = { abort, item };
    this.#changed();
    try {
      const wait = await run(abort.signal);
      return abort.signal.aborted ? 'kept-back' : wait;
    } catch (error) {
      return abort.signal.aborted ? 'kept-back' : detailed('session-not-opened', errorText(error));
    } finally {
      this.#preparing = undefined;
      this.#changed();
    }
  }

  /**
   * Returns the answer to a prompt. If its session is lost, the session is reopened or replaced and
   * the prompt sent again, in the same turn.
   * @param inVain how often that was done
   * @throws SessionLost if no session could be opened; what the agent answers
   */
  async #delivered(
    leaving: OutgoingPrompt,
    opened: OpenedSession,
    pending: Promise<PromptAnswer>,
    inVain = 0,
  ): Promise<PromptAnswer> {
    try {
      return await pending;
    } catch (error) {
      const { link } = opened;
      if (isClosed(error) && link.isAlive) {
        // The agent is probably about to exit, which gives the reason. One that only stopped
        // reading won't.
        await new Promise((resolve) => later(() => resolve(undefined), UNWRITABLE_MS));
        throw link.isAlive && link.rpc?.isClosed === false ? new SessionLost('agent-closed-input', error) : error;
      }
      const isHere = (): boolean => this.#options.session.current?.link === link && !this.isCancelled;
      if (!isSessionGone(error, opened.sessionId, inVain) || !isHere()) throw error;
      const wait = await this.#prepare(this.#options.session.reopen(opened, inVain));
      const target = this.#options.session.current;
      if (wait === 'kept-back' || !isHere() || !target) throw error;
      if (wait !== undefined) throw new SessionLost(wait, error);
      this.#options.session.leaving();
      const resent = this.#prompt(leaving, target);
      const isNew = target.sessionId !== opened.sessionId;
      const answer = isNew ? resent : this.#delivered(leaving, target, resent, inVain + 1);
      this.dispatcher.pump(); // later prompts were waiting
      return answer;
    }
  }

  /**
   * A message that no turn took in stays queued; it is sent again after a sign-in or with a new
   * session.
   */
  #onPromptFailed(item: QueueItem, handle: string, thrown: unknown, steers: boolean): void {
    const { queue, session } = this.#options;
    if (steers) {
      this.#onSteeringFailed(item, handle, thrown);
      return;
    }
    const lost = thrown instanceof SessionLost ? thrown.wait : undefined;
    const error = thrown instanceof SessionLost ? thrown.cause : thrown;
    const code = error instanceof RpcError ? error.code : undefined;
    const failure = promptFailure(error);
    const signIn = code === RPC_CODES.authRequired;
    const willResend = (signIn || lost !== undefined) && (queue.find(item.id) !== undefined || queue.putBack(item));
    if (willResend) this.#resentIds.add(item.id);
    if (willResend && signIn) session.needSignIn({ message: localize(failure.message), data: at(error, 'data') });
    const withdrawn = code === RPC_CODES.cancelled;
    const effects = this.driver.feed({ type: 'failed', handle, error: failure, withdrawn });
    const done = effects.find((effect) => effect.type === 'done' && effect.handle === handle);
    if (done?.type === 'done' && done.refused)
      this.#onReturned(item, { again: willResend, asked: done.refused.asked, failure, cancelled: withdrawn });
    if (lost !== undefined) queue.pause(lost);
    this.#changed();
    this.#options.recorder.afterwards(() => this.#pumpWhenHandled());
  }

  /**
   * The message stays queued, as the next one. Unless the agent refused it, it may still echo it.
   */
  #onSteeringFailed(item: QueueItem, handle: string, error: unknown): void {
    const { queue } = this.#options;
    const failure = promptFailure(error);
    if (failure.code === 'steering-unclear') return;
    const action = this.#accepted.forget(item.id);
    if (isAway(item) && queue.find(item.id) === item) {
      this.#resentIds.add(item.id);
      const why = failure.code === 'prompt-required' ? undefined : detailed('not-steered', failure.message);
      queue.setState(item, 'queued', why);
      if (action === 'remove') this.#removed(item);
      else if (action === 'edit') queue.pause('taken-back');
    }
    const withdrawn = error instanceof RpcError && error.code === RPC_CODES.cancelled;
    this.driver.feed({ type: 'failed', handle, error: failure, withdrawn });
    this.#options.recorder.afterwards(() => this.#pumpWhenHandled());
  }

  /** The agent may have the message if it was sent. */
  #release(item: QueueItem): void {
    const { queue } = this.#options;
    if (queue.find(item.id) !== item) return;
    if (item.state === 'accepted') queue.doubt(item);
    else if (item.state === 'sending') queue.setState(item, 'queued');
  }

  #removed(item: QueueItem): void {
    this.#options.queue.remove(item.id);
    this.dispatcher.forget(item);
  }

  #onReturned(
    item: QueueItem,
    {
      again,
      asked,
      cancelled,
      failure,
    }: { again: boolean; asked: boolean; cancelled: boolean; failure: { message: LocalizableText } },
  ): void {
    const { queue } = this.#options;
    const action = this.#accepted.forget(item.id);
    if (again || cancelled) queue.setState(item, 'queued');
    else queue.setState(item, 'failed', detailed('refused', failure.message));
    if (action === 'remove') this.#removed(item);
    else if (action === 'edit') queue.pause('taken-back');
    else if (cancelled && !asked) queue.pause('given-back');
    else if (!again && !cancelled && queue.items.some(({ state }) => state === 'queued')) queue.pause('turn-failed');
    if (!this.#hasTurn) this.#clearStopTimer();
  }

  takeBack(id: string, why: 'remove' | 'edit'): void {
    this.#accepted.takeBack(id, why);
  }

  /** One prompt at a time, unless the agent has a queue; never while a turn stops. */
  get canSend(): boolean {
    const opened = this.#options.session.current;
    if (!opened || this.#preparing) return false;
    if (!this.#hasTurn) return true;
    if (this.isCancelled) return false;
    // An agent may never report that its own work is done; that must not lock the user out.
    return opened.link.description.features.queue !== undefined || isOwnWork(this.driver.state);
  }

  /** Later updates of the ended turn must not count for the next one. */
  #pumpWhenHandled(): void {
    const { rpc } = this.#options.session.current?.link ?? {};
    if (rpc) rpc.whenHandled(() => this.dispatcher.pump());
    else this.dispatcher.pump();
  }

  #clearStopTimer(): void {
    clearTimeout(this.#stopTimer);
    this.#ignoresStop = false;
  }

  #onSettled(stopReason: StopReason, prompts: readonly QueuedPrompt[]): void {
    const { queue, session } = this.#options;
    this.#clearStopTimer();
    if (this.#signInMessage !== undefined) {
      // The turn had taken them in; they are sent again after the sign-in.
      for (const { item } of prompts.toReversed()) if (queue.putBack(item)) this.#resentIds.add(item.id);
      session.needSignIn({ message: this.#signInMessage });
    }
    // The next message would probably fail too. Without a session, another notice says why.
    if (stopReason === 'error' && session.current && queue.items.length > 0) queue.pause('turn-failed');
    this.requests.turnEnded(session.current?.link.description.features.states !== undefined);
    this.#changed();
    this.#options.recorder.afterwards(() => this.#pumpWhenHandled());
  }
}

interface QueuedPrompt extends SentPrompt {
  readonly item: QueueItem;
}

interface OutgoingPrompt {
  readonly opened: OpenedSession;
  readonly item: QueueItem;
  readonly handle: string;
  readonly content: readonly ContentBlock[];
  readonly sent: readonly ContentBlock[];
  /** Aborted when the user takes it back; absent: it has begun a turn. */
  readonly takenBack: AbortSignal | undefined;
  readonly steers: boolean;
}

/**
 * Returns the same key for each attempt to send a message; another one once the user edits it, or
 * after the agent has finished a turn with it: then it is to be worked on again.
 */
function idempotencyKey(
  conversation: string,
  { id, repeats = id }: QueueItem,
  content: readonly ContentBlock[],
  { entries, turns }: Readonly<SessionState>,
): string {
  const first = firstId(repeats);
  const ended = new Set(turns.flatMap((turn) => (turn.barrier && ENDED_BY_AGENT.has(turn.barrier) ? turn.id : [])));
  const finished = entries.filter(
    (entry) =>
      entry?.kind === 'user' &&
      entry.promptId !== undefined &&
      firstId(entry.promptId) === first &&
      ended.has(entry.turnId ?? ''),
  );
  const message = JSON.stringify([
    conversation,
    first,
    textOfBlocks(content),
    ...(finished.length > 0 ? [finished.length] : []),
  ]);
  return createHash('sha256').update(message).digest('hex').slice(0, 32);
}

const ENDED_BY_AGENT: ReadonlySet<Barrier> = new Set(['state', 'turn_complete']);

function firstId(id: string): string {
  return id.replace(/(?:-again)+$/, '');
}

function isClosed(error: unknown): boolean {
  return error instanceof ParleyError && (error.code === 'connection-closed' || error.code === REMOTE_LOST);
}

/** Returns the agent's own message, with a hint if the code has a known meaning. */
export function promptFailure(error: unknown): StoredFailure {
  const message = messageOf(error);
  if (error instanceof RpcError) {
    const hint = error.code === RPC_CODES.authRequired ? localizable('Sign in to send the message again.') : undefined;
    return { code: `agent-error ${error.code}`, message, hint };
  }
  if (!(error instanceof ParleyError)) return { code: 'agent-error', message };
  return { code: error.code, ...error.texts };
}

const MAX_REOPENINGS = 3;

/**
 * Returns whether a refusal (-32002) is about the session, not about something that the prompt
 * names.
 * @param inVain how often the session was reopened for this prompt; after that only its own id
 * counts
 */
export function isSessionGone(error: unknown, sessionId: string, inVain: number): boolean {
  if (!(error instanceof RpcError) || error.code !== RPC_CODES.resourceNotFound) return false;
  const named = [at(error.data, 'sessionId'), at(error.data, 'uri')].filter((id) => id !== undefined);
  return inVain < MAX_REOPENINGS && (named.includes(sessionId) || (named.length === 0 && inVain === 0));
}

const TAKE_BACK_MS = 5000;

interface AcceptedPrompt {
  readonly takeBack: AbortController;
  /** What to do when the agent gives it back; undefined: the user has not asked. */
  action?: 'remove' | 'edit' | undefined;
  timer?: ReturnType<typeof setTimeout>;
}

/** Messages in the agent's own queue, which the user may take back until a turn takes them in. */
class AcceptedPrompts {
  readonly #queue: PromptQueue;
  readonly #prompts = new Map<string, AcceptedPrompt>();

  constructor(queue: PromptQueue) {
    this.#queue = queue;
  }

  /**
   * Adds a message that is sent while others run.
   * @returns a signal that is aborted when the user takes it back
   */
  add(id: string): AbortSignal {
    const takeBack = new AbortController();
    this.#prompts.set(id, { takeBack });
    return takeBack.signal;
  }

  /** Asks the agent to give a message back (`$/cancel_request` for its prompt). */
  takeBack(id: string, why: 'remove' | 'edit'): void {
    const item = this.#queue.find(id);
    const prompt = this.#prompts.get(id);
    if (item?.state !== 'accepted' || !prompt) return;
    prompt.action = why;
    this.#queue.setState(item, 'accepted', 'taking-back');
    prompt.takeBack.abort();
    prompt.timer ??= setTimeout(() => {
      prompt.action = undefined;
      this.#queue.setState(item, 'accepted', 'not-given-back');
    }, TAKE_BACK_MS);
  }

  forget(id: string): 'remove' | 'edit' | undefined {
    const prompt = this.#prompts.get(id);
    clearTimeout(prompt?.timer);
    this.#prompts.delete(id);
    return prompt?.action;
  }

  clear(): void {
    for (const id of [...this.#prompts.keys()]) this.forget(id);
  }
}
