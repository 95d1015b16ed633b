// Sends queued messages one after another and settles the promises of their senders.

import { Deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { PromptQueue, QueueItem } from '../../session/queue/queue';
import type { TurnResult } from '../turns/turnState';

export interface SentMessage {
  readonly done: Promise<TurnResult | undefined>;
}

export interface MessageSender {
  readonly canSend: boolean;
  /** Sends one message. Resolves once it was sent, with undefined if it was not. */
  send(item: QueueItem): Promise<SentMessage | undefined>;
  steer(item: QueueItem): Promise<SentMessage | undefined>;
}

export class PromptDispatcher implements Disposable {
  readonly #queue: PromptQueue;
  readonly #sender: MessageSender;
  readonly #senders = new Map<string, Deferred<TurnResult>>();
  #sending = false;
  /** Ids that are sent before all others, in this order. */
  #urgent: string[] = [];

  constructor(queue: PromptQueue, sender: MessageSender) {
    this.#queue = queue;
    this.#sender = sender;
  }

  /** @throws ParleyError `message-removed`, `conversation-closed` */
  expect(item: QueueItem): Promise<TurnResult> {
    const existing = this.#senders.get(item.id);
    if (existing) return existing.promise;
    const deferred = new Deferred<TurnResult>();
    deferred.promise.catch(() => {}); // most callers only watch the panel
    this.#senders.set(item.id, deferred);
    return deferred.promise;
  }

  sendFirst(item: QueueItem): Promise<TurnResult> {
    this.#urgent = [item.id, ...this.#urgent.filter((id) => id !== item.id)];
    return this.expect(item);
  }

  steer(item: QueueItem): Promise<TurnResult> {
    void this.#send(item, 'steer');
    return this.expect(item);
  }

  /** As {@link sendFirst}, after earlier items of this kind. */
  sendSoon(item: QueueItem): Promise<TurnResult> {
    this.#urgent = this.#urgent.filter((id) => this.#queue.find(id)?.state === 'queued');
    const previous = this.#urgent.at(-1);
    if (previous !== undefined)
      this.#queue.move(
        item.id,
        this.#queue.items.findIndex(({ id }) => id === previous),
      );
    this.#urgent.push(item.id);
    return this.expect(item);
  }

  /** Call whenever the next message may be sendable. */
  pump(): void {
    if (this.#sending || !this.#sender.canSend) return;
    const first = this.#urgent.map((id) => this.#queue.find(id)).find((item) => item?.state === 'queued');
    const item = first && !first.held ? first : this.#queue.next();
    if (!item) return;
    this.#urgent = this.#urgent.filter((id) => id !== item.id);
    void this.#send(item);
  }

  async #send(item: QueueItem, how: 'send' | 'steer' = 'send'): Promise<void> {
    const { id } = item;
    this.#sending = true;
    let sent: SentMessage | undefined;
    try {
      sent = await this.#sender[how](item);
    } catch (error) {
      this.#reject(id, error);
    } finally {
      this.#sending = false;
    }
    if (!sent) {
      this.pump(); // the item was removed
      return;
    }
    sent.done.then(
      (result) => {
        if (!result) return;
        this.#senders.get(id)?.resolve(result);
        this.#senders.delete(id);
      },
      (error: unknown) => this.#reject(id, error),
    );
    this.pump();
  }

  #reject(id: string, error: unknown): void {
    this.#senders.get(id)?.reject(error);
    this.#senders.delete(id);
  }

  forget(item: QueueItem): void {
    this.#senders
      .get(item.id)
      ?.reject(new ParleyError('message-removed', localizable('The message was removed from the queue.')));
    this.#senders.delete(item.id);
  }

  dispose(): void {
    for (const deferred of this.#senders.values())
      deferred.reject(new ParleyError('conversation-closed', localizable('The session was closed.')));
    this.#senders.clear();
  }
}
