// What runs in a session: one turn at a time, the messages that wait for it, the questions that it asks, and stopping it.
import type { TurnComplete } from '../acp/turnComplete';
import { messageOf, ParleyError } from '../base/errors';
import type { SessionEvent } from '../session/event';
import type { PromptQueue, QueueItem } from '../session/queue';
import type { AgentLink } from './agentLink';
import { promptFailure } from './failures';
import { Outbox } from './outbox';
import { PermissionDesk } from './permissionDesk';
import type { ConversationServices } from './services';
import { TurnLedger, type TurnResult } from './turnLedger';

/** How long an agent may take to stop before the user is offered to end it, in milliseconds. */
const STOP_PATIENCE_MS = 10_000;

/** A session that prompts can be sent to. */
export interface OpenedSession {
  readonly link: AgentLink;
  readonly sessionId: string;
}

export interface TurnControlOptions {
  readonly queue: PromptQueue;
  readonly services: ConversationServices;
  readonly apply: (event: SessionEvent) => void;
  readonly onChange: () => void;
  readonly session: () => OpenedSession | undefined;
  /** Asked before each prompt; false where it must wait, with the queue paused for a reason that the user reads. */
  readonly mayPrompt: (session: OpenedSession) => Promise<boolean>;
}

export class TurnControl {
  readonly permissions: PermissionDesk;
  readonly outbox: Outbox;
  readonly #options: TurnControlOptions;
  readonly #ledger: TurnLedger;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #ignoresStop = false;

  constructor(options: TurnControlOptions) {
    const { apply, services, queue } = options;
    this.#options = options;
    this.permissions = new PermissionDesk(apply);
    this.#ledger = new TurnLedger({
      apply,
      now: services.clock.now,
      log: services.log,
      onSettled: () => this.#onSettled(),
      ...(services.barrierGraceMs !== undefined && { barrierGraceMs: services.barrierGraceMs }),
    });
    this.outbox = new Outbox(queue, {
      canSend: () => options.session() !== undefined && this.#ledger.current === undefined,
      send: (item) => this.#send(item),
    });
  }

  /** A turn runs, or its prompt waits for its answer. */
  get isBusy(): boolean {
    return this.#ledger.current !== undefined;
  }

  get isCancelled(): boolean {
    return this.#ledger.current?.cancelRequested === true;
  }

  /** The agent was asked to stop and goes on regardless. */
  get ignoresStop(): boolean {
    return this.#ignoresStop;
  }

  turnComplete(barrier: TurnComplete): void {
    this.#ledger.turnComplete(barrier);
  }

  /** Asks the agent to stop: the turn still ends by the agent's word. Its open questions are answered at once. */
  cancel(): void {
    const session = this.#options.session();
    if (!session || !this.isBusy) return;
    this.#ledger.cancelRequested();
    session.link.dialect
      .cancel(session.sessionId)
      .catch((error: unknown) => this.#options.services.log.warn(`session/cancel: ${messageOf(error)}`));
    this.permissions.cancelAll('turn');
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      this.#ignoresStop = true;
      this.#options.onChange();
    }, STOP_PATIENCE_MS);
  }

  /** The agent is gone. @param note a sentence on how it went. */
  exited(note: string): void {
    this.permissions.cancelAll('exit');
    this.#ledger.exited(note);
  }

  dispose(): void {
    clearTimeout(this.#patience);
    this.exited('the session was closed');
    this.outbox.dispose();
  }

  /** Sends one message and resolves when its turn has ended. Undefined where it must wait after all. */
  async #send(item: QueueItem): Promise<TurnResult | undefined> {
    const { queue, apply, mayPrompt, session } = this.#options;
    const opened = session();
    if (!opened) return undefined;
    queue.setState(item, 'sending');
    if (!(await mayPrompt(opened)) || session()?.sessionId !== opened.sessionId) {
      queue.setState(item, 'queued');
      return undefined;
    }
    const { link, sessionId } = opened;
    const content = this.outbox.contentOf(item, link.description.features.prompt);
    const turn = this.#ledger.begin();
    queue.remove(item.id);
    apply({ type: 'prompt_sent', turnId: turn.id, promptId: item.id, content });
    const promised = link.description.features.turnComplete !== undefined;
    link.dialect
      .prompt(sessionId, content, (id) => this.#ledger.sent(turn.id, id))
      .then(
        ({ stopReason, tokens }) => this.#ledger.answered(turn.id, stopReason, tokens, promised),
        (error: unknown) => {
          // The end of the connection is told by the end of the agent, which knows why.
          if (error instanceof ParleyError && error.code === 'connection-closed' && link.isAlive) return;
          this.#ledger.failed(turn.id, promptFailure(error));
        },
      );
    return turn.done;
  }

  #onSettled(): void {
    clearTimeout(this.#patience);
    this.#ignoresStop = false;
    // Some agents end a turn without a word about the question that it left open.
    this.permissions.cancelAll('turn');
    this.#options.onChange();
    this.outbox.pump();
  }
}
