// The user's actions on queued messages: send now, resume, remove, restore, and take back from the
// agent.
import { isAway, type PromptQueue, type QueuedAttachment, type QueueItem } from '../../session/queue/queue';
import { detailed, type PauseCode, readReason } from '../../session/queue/waitReason';
import type { TurnControl } from '../prompts/turnControl';

export interface QueueingConversation {
  readonly queue: PromptQueue;
  readonly turns: Pick<
    TurnControl,
    'isBusy' | 'canSend' | 'cancel' | 'cancelSend' | 'takeBack' | 'steers' | 'dispatcher'
  >;
  readonly choices: { accept(): void };
  readonly isDisposed: boolean;
  start(): Promise<void>;
  requireOurs(): void;
}

export class QueueActions {
  readonly #conversation: QueueingConversation;
  readonly #nextIds = new Set<string>();

  constructor(conversation: QueueingConversation) {
    this.#conversation = conversation;
  }

  /** Sends a queued message next, after stopping a running turn. */
  sendNow(id: string): void {
    const { queue, turns } = this.#conversation;
    const item = queue.find(id);
    if (!item || item.state === 'sending') return;
    this.#conversation.choices.accept();
    queue.putNext(id);
    void turns.dispatcher.sendFirst(item);
    if (turns.isBusy) turns.cancel();
    this.#continueQueue();
  }

  /**
   * The first queued message that can be put into the running turn, unless it is in doubt or being
   * edited.
   */
  get steerable(): QueueItem | undefined {
    const { queue, turns } = this.#conversation;
    return queue.items.find((item) => item.state === 'queued' && !item.held && turns.steers(item) === true);
  }

  /** Puts a queued message into the running turn. If no turn takes it in, it is next. */
  steer(id: string): void {
    const { queue, turns } = this.#conversation;
    const item = queue.find(id);
    if (!item || isAway(item)) return;
    const can = turns.steers(item);
    if (can !== true) {
      if (can !== undefined && item.state === 'queued') queue.setState(item, 'queued', detailed('not-steered', can));
      return;
    }
    queue.putNext(id);
    // An agent that inserts prompts by itself gets an ordinary prompt.
    void (turns.canSend ? turns.dispatcher.sendFirst(item) : turns.dispatcher.steer(item));
    this.pump();
  }

  /**
   * Queues a message before all others and past a pause; several keep their order. If the turn is
   * stopped later, it is held with the others.
   */
  sendNext(text: string): void {
    const { queue, turns } = this.#conversation;
    const item = queue.add(text, [], 'first');
    const lastNext = queue.items.findLastIndex(({ id }) => this.#nextIds.has(id));
    queue.move(item.id, Math.max(0, lastNext)); // after those that the agent has
    this.#nextIds.add(item.id);
    if (queue.paused !== undefined) void turns.dispatcher.sendSoon(item);
    this.#continueQueue();
  }

  /**
   * Queues messages that were not sent, until the user sends them.
   * @param attachments of the first message
   * @throws ParleyError if another window has the session
   */
  addUnsent(texts: readonly string[], attachments: readonly QueuedAttachment[]): void {
    const { queue } = this.#conversation;
    this.#conversation.requireOurs();
    if (queue.paused === undefined) queue.pause('window-ended');
    for (const [index, text] of texts.entries()) queue.add(text, index === 0 ? attachments : []);
  }

  resume(): void {
    this.#conversation.choices.accept();
    this.#conversation.queue.resume();
    this.#continueQueue();
  }

  release(code: PauseCode): void {
    const { paused } = this.#conversation.queue;
    if (paused !== undefined && readReason(paused)?.code === code) this.resume();
  }

  remove(id?: string): readonly QueueItem[] {
    const { queue, turns } = this.#conversation;
    turns.cancelSend(id);
    const item = id === undefined ? undefined : queue.find(id);
    if (item && isAway(item)) {
      turns.takeBack(item.id, 'remove');
      return [];
    }
    const removed = id === undefined ? queue.clear() : [queue.remove(id)];
    const removedItems = removed.filter((item) => item !== undefined);
    for (const item of removedItems) turns.dispatcher.forget(item);
    return removedItems;
  }

  restore(removedItems: readonly QueueItem[], paused: string | undefined): void {
    if (this.#conversation.isDisposed) return;
    this.#conversation.queue.unclear(removedItems, paused);
    this.pump();
  }

  takeBack(id: string): void {
    this.#conversation.turns.takeBack(id, 'edit');
  }

  pump(): void {
    this.#conversation.turns.dispatcher.pump();
  }

  #continueQueue(): void {
    void this.#conversation.start();
    this.pump();
  }
}
