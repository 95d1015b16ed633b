// Takes messages from the queue one after the other and tells whoever waits how each of them went.
import { type PromptCapabilities, takes } from '../acp/dialect';
import { Deferred } from '../base/deferred';
import type { Disposable } from '../base/disposable';
import { ParleyError } from '../base/errors';
import type { ContentBlock } from '../session/content';
import type { PromptQueue, QueueItem } from '../session/queue';
import type { TurnResult } from './turnLedger';

export interface OutboxOptions {
  readonly canSend: () => boolean;
  /** Sends one message; resolves with the end of its turn, or undefined where it was not sent. */
  readonly send: (item: QueueItem) => Promise<TurnResult | undefined>;
}

export class Outbox implements Disposable {
  readonly #queue: PromptQueue;
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<string, Deferred<TurnResult>>();
  #sending = false;
  #first: QueueItem | undefined;

  constructor(queue: PromptQueue, options: OutboxOptions) {
    this.#queue = queue;
    this.#options = options;
  }

  /** The end of the turn of an item. @throws ParleyError `message-removed`, `conversation-closed` */
  expect(item: QueueItem): Promise<TurnResult> {
    const known = this.#waiting.get(item.id);
    if (known) return known.promise;
    const deferred = new Deferred<TurnResult>();
    deferred.promise.catch(() => {}); // most callers only watch the panel
    this.#waiting.set(item.id, deferred);
    return deferred.promise;
  }

  /** Lets an item go before all others and past a pause, as soon as something can be sent. */
  sendFirst(item: QueueItem): Promise<TurnResult> {
    this.#first = item;
    return this.expect(item);
  }

  /** Sends the next message where it may be sent. Call it whenever that may have changed. */
  pump(): void {
    if (this.#sending || !this.#options.canSend()) return;
    const first = this.#first && this.#queue.find(this.#first.id);
    const item = first && !first.held ? first : this.#queue.next();
    if (!item) return;
    if (item === first) this.#first = undefined;
    this.#sending = true;
    const { id } = item;
    let left = false;
    const sent = this.#options.send(item).finally(() => {
      this.#sending = false;
    });
    sent
      .then(
        (result) => {
          if (!result) return;
          left = true;
          this.#waiting.get(id)?.resolve(result);
          this.#waiting.delete(id);
        },
        (error: unknown) => {
          left = true;
          this.#waiting.get(id)?.reject(error);
          this.#waiting.delete(id);
        },
      )
      .finally(() => {
        if (left) this.pump();
      });
  }

  /** The item will not be sent. */
  forget(item: QueueItem): void {
    this.#waiting.get(item.id)?.reject(new ParleyError('message-removed', 'The message was removed from the queue.'));
    this.#waiting.delete(item.id);
  }

  /** What the agent gets for a message: its text, then each attachment in the best form that it takes. */
  contentOf(item: QueueItem, capabilities: PromptCapabilities): ContentBlock[] {
    const blocks: ContentBlock[] = item.text === '' ? [] : [{ type: 'text', text: item.text }];
    for (const { forms, label } of item.attachments) {
      blocks.push(forms.find((form) => takes(capabilities, form)) ?? { type: 'text', text: `[${label}]` });
    }
    return blocks;
  }

  dispose(): void {
    for (const deferred of this.#waiting.values())
      deferred.reject(new ParleyError('conversation-closed', 'The session was closed.'));
    this.#waiting.clear();
  }
}
