// What runs in a session: one turn at a time, the messages that wait for it, the questions that it asks, and stopping it.
import type { PromptCapabilities, StateReport } from '../acp/dialect';
import { isReceipt } from '../acp/promptLifecycle';
import { RpcError, rpcCodes } from '../acp/rpcError';
import type { TurnComplete } from '../acp/turnComplete';
import { messageOf, ParleyError } from '../base/errors';
import type { ContentBlock } from '../session/content';
import type { SessionEvent, StopReason } from '../session/event';
import type { PromptQueue, QueueItem } from '../session/queue';
import { detailed } from '../session/waitReason';
import type { AgentLink } from './agentLink';
import { ElicitationDesk } from './elicitationDesk';
import { promptFailure } from './failures';
import { type AskFile, FileQuestions } from './fileQuestions';
import { Outbox, type SentMessage } from './outbox';
import { PermissionDesk } from './permissionDesk';
import { textOf } from './promptEcho';
import type { ConversationServices } from './services';
import { TurnLedger } from './turnLedger';

/** How long an agent may take to stop before the user is offered to end it, in milliseconds. */
const STOP_PATIENCE_MS = 10_000;

/** A session that prompts can be sent to. */
export interface OpenedSession {
  readonly link: AgentLink;
  readonly sessionId: string;
}

export interface TurnControlOptions {
  /** Turns that the session had before. */
  readonly turnsSoFar: number;
  readonly queue: PromptQueue;
  readonly services: ConversationServices;
  readonly apply: (event: SessionEvent) => void;
  readonly onChange: () => void;
  readonly session: () => OpenedSession | undefined;
  /** Asked before each prompt; false where it must wait, with the queue paused for a reason that the user reads. */
  readonly mayPrompt: (session: OpenedSession) => Promise<boolean>;
  /** What goes along with the next message, after it: what a new session must be told of the one before. */
  readonly appendix: (capabilities: PromptCapabilities) => readonly ContentBlock[];
  /** A prompt was answered that the user must sign in: until they have, there is no session to send to. */
  readonly needSignIn: (message: string) => void;
}

export class TurnControl {
  readonly permissions: PermissionDesk;
  readonly elicitations: ElicitationDesk;
  readonly outbox: Outbox;
  readonly #options: TurnControlOptions;
  readonly #ledger: TurnLedger;
  readonly #fileQuestions: FileQuestions;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #ignoresStop = false;

  constructor(options: TurnControlOptions) {
    const { apply, services, queue } = options;
    this.#options = options;
    this.permissions = new PermissionDesk(apply);
    this.elicitations = new ElicitationDesk(apply);
    this.#fileQuestions = new FileQuestions(this.permissions);
    this.#ledger = new TurnLedger({
      turnsSoFar: options.turnsSoFar,
      apply,
      now: services.clock.now,
      log: services.log,
      onSettled: (stopReason) => this.#onSettled(stopReason),
      onInserted: (promptId) => queue.remove(promptId),
      ...(services.barrierGraceMs !== undefined && { barrierGraceMs: services.barrierGraceMs }),
      ...(services.answerGraceMs !== undefined && { answerGraceMs: services.answerGraceMs }),
    });
    this.outbox = new Outbox(queue, {
      canSend: () => this.#canSend(),
      send: (item) => this.#send(item),
    });
  }

  /** A turn runs, or a prompt waits for its answer. */
  get isBusy(): boolean {
    return this.#ledger.current !== undefined || this.#ledger.hasWaiting;
  }

  /** No turn runs, and the last one ended with a question: the next message is the answer. */
  get isAsked(): boolean {
    const session = this.#options.session();
    return !this.isBusy && session?.link.dialect.isAsking?.(session.sessionId) === true;
  }

  get isCancelled(): boolean {
    return this.#ledger.current?.cancelRequested === true;
  }

  /** The agent was asked to stop and goes on regardless. */
  get ignoresStop(): boolean {
    return this.#ignoresStop;
  }

  /** Asks the user about a file; once the turn is to stop, every one is refused. */
  readonly askFile: AskFile = async (question, signal) =>
    !this.isCancelled && (await this.#fileQuestions.ask(question, signal));

  turnComplete(barrier: TurnComplete): void {
    this.#ledger.turnComplete(barrier);
  }

  /** What the agent says of its own state. */
  state(report: StateReport): void {
    this.#ledger.state(report);
    this.#options.onChange();
  }

  /** The agent sent an update of the session, of whatever kind. */
  updated(): void {
    this.#ledger.updated();
  }

  /** To be called with each event of the agent's, before it is applied: it may be what a prompt has become. */
  heard(event: SessionEvent): void {
    this.#ledger.heard(event);
  }

  /** Asks the agent to stop: the turn still ends by the agent's word. Its open questions are answered at once. */
  cancel(): void {
    const { session: current, services, onChange } = this.#options;
    const session = current();
    if (!session || (!this.isBusy && !this.isAsked)) return;
    this.#ledger.cancelRequested();
    const asked = session.link.dialect
      .cancel(session.sessionId)
      .catch((error: unknown) => services.log.warn(`session/cancel: ${messageOf(error)}`));
    if (!this.isBusy) {
      void asked.then(onChange);
      return;
    }
    this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(true);
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      this.#ignoresStop = true;
      this.#options.onChange();
    }, STOP_PATIENCE_MS);
  }

  /** The agent is gone. @param note a sentence on how it went. */
  exited(note: string): void {
    this.#options.queue.takeBack();
    this.permissions.cancelAll('exit');
    this.#fileQuestions.turnEnded();
    this.elicitations.exited();
    this.#ledger.exited(note);
  }

  dispose(): void {
    clearTimeout(this.#patience);
    this.exited('the session was closed');
    this.outbox.dispose();
  }

  /** Sends one message; resolves when it has left, with the end of its turn. Undefined where it must wait after all. */
  async #send(item: QueueItem): Promise<SentMessage | undefined> {
    const { queue, apply, mayPrompt, session } = this.#options;
    const opened = session();
    if (!opened) return undefined;
    queue.setState(item, 'sending');
    if (!(await mayPrompt(opened)) || session()?.sessionId !== opened.sessionId || !this.#canSend()) {
      queue.setState(item, 'queued');
      return undefined;
    }
    const { link, sessionId } = opened;
    const { features } = link.description;
    const content = this.outbox.contentOf(item, features.prompt);
    const endsBy = features.states ? 'state' : 'response';
    const promised = features.turnComplete !== undefined;
    const sent = [...content, ...this.#options.appendix(features.prompt)];
    const echo = sent.length === content.length ? {} : { echo: textOf(sent) };
    const terms = { promptId: item.id, content, endsBy, promised, ...echo } as const;
    const begins = !this.isBusy || (endsBy === 'response' && this.#ledger.isOwnWork);
    const { id: handle, done } = begins ? this.#ledger.begin(terms) : this.#ledger.follow(terms);
    if (begins) {
      // In this order, so that it is kept in one place at least whatever happens between.
      apply({ type: 'prompt_sent', turnId: handle, promptId: item.id, content, ...echo });
      queue.remove(item.id);
    }
    const result = { again: false };
    const onSent = (id: string): void => {
      this.#ledger.sent(handle, id);
      if (!begins) queue.setState(item, 'accepted');
    };
    link.dialect.prompt(sessionId, sent, onSent).then(
      (answer) => {
        // What was written before the question is no answer to it.
        if (link.dialect.isAsking?.(sessionId) && queue.items.length > 0) queue.pause('agent-asks');
        if (isReceipt(answer, this.#ledger.statesSeen)) this.#ledger.received(handle, answer.messageId);
        else this.#ledger.answered(handle, answer.stopReason, answer.tokens, promised, answer.note);
      },
      (error: unknown) => {
        // The end of the connection is told by the end of the agent, which knows why.
        if (error instanceof ParleyError && error.code === 'connection-closed' && link.isAlive) return;
        result.again = this.#refused(item, handle, error);
      },
    );
    return { done: done.then((ended) => (result.again ? undefined : ended)) };
  }

  /** A prompt was answered with an error. What no turn has taken in stays with the user. @returns whether it will be sent again */
  #refused(item: QueueItem, handle: string, error: unknown): boolean {
    const { queue, needSignIn } = this.#options;
    const code = error instanceof RpcError ? error.code : undefined;
    const failure = promptFailure(error);
    const again = code === rpcCodes.authRequired && (queue.find(item.id) !== undefined || queue.putBack(item));
    if (again) needSignIn(failure.message);
    const { kind, asked } = this.#ledger.failed(handle, failure, code === rpcCodes.cancelled);
    if (kind === 'refused') {
      if (again || code === rpcCodes.cancelled) queue.setState(item, 'queued');
      else queue.setState(item, 'failed', detailed('refused', failure.message));
      if (code === rpcCodes.cancelled && !asked) queue.pause('given-back');
      if (!this.isBusy) this.#stopped();
      this.#options.onChange();
      this.outbox.pump();
    }
    return again;
  }

  /** One prompt at a time, unless the agent keeps a queue of its own; a turn that stops is waited for in any case. */
  #canSend(): boolean {
    const opened = this.#options.session();
    if (!opened) return false;
    if (!this.isBusy) return true;
    if (this.isCancelled) return false;
    // An agent whose turns its answers end may say that it works, and never that it is done: that must not lock the user out.
    return opened.link.description.features.queue !== undefined || this.#ledger.isOwnWork;
  }

  /** What was to stop has stopped. */
  #stopped(): void {
    clearTimeout(this.#patience);
    this.#ignoresStop = false;
  }

  #onSettled(stopReason: StopReason): void {
    const { queue, session } = this.#options;
    this.#stopped();
    // What failed for one message mostly fails for the next: they are kept until the user has looked. Without a session something else tells why they wait.
    if (stopReason === 'error' && session() && queue.items.length > 0) queue.pause('turn-failed');
    // Some agents end a turn without a word about the question that it left open. One that reports its states withdraws what is over: the rest may be asked by work
    // that goes on beside the turns.
    if (!this.#options.session()?.link.description.features.states) this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(false);
    this.#options.onChange();
    this.outbox.pump();
  }
}
