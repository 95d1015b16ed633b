// Persists the queue: after each change, writes the difference before anything else happens.
import type { PromptQueue, QueueItem } from '../../session/queue/queue';
import type { KeptItem, QueuePersistence } from './persistence';

export class QueueMirror {
  readonly #persistence: QueuePersistence;
  #kept = new Map<string, KeptItem>();
  #paused: string | undefined;

  constructor(persistence: QueuePersistence, kept: readonly KeptItem[] = [], paused?: string) {
    this.#persistence = persistence;
    this.#kept = new Map(kept.map((item) => [item.id, item]));
    this.#paused = paused;
  }

  sync(queue: PromptQueue): void {
    const { items } = queue;
    const here = new Set(items.map(({ id }) => id));
    for (const id of [...this.#kept.keys()]) {
      if (here.has(id)) continue;
      this.#persistence.removed(id);
      this.#kept.delete(id);
    }
    for (const [index, item] of items.entries()) this.#syncItem(item, index === 0);
    this.#syncOrder(items);
    if (queue.paused !== this.#paused) {
      this.#paused = queue.paused;
      this.#persistence.paused(queue.paused);
    }
  }

  #syncItem(current: QueueItem, isFirst: boolean): void {
    const item: KeptItem = { ...current };
    const { id, text, state, held, reason, doubtful } = item;
    const old = this.#kept.get(id);
    if (!old) {
      const isLast = !isFirst || this.#kept.size === 0;
      this.#persistence.added(item, isLast ? 'last' : 'first');
      // The map's order is compared with the queue's.
      this.#kept = isLast ? this.#kept.set(id, item) : new Map([[id, item], ...this.#kept]);
      return;
    }
    if (old.text !== text || old.held !== held) {
      this.#persistence.changed(id, {
        text: old.text !== text ? text : undefined,
        held: old.held !== held ? held : undefined,
      });
    }
    if (old.state !== state || old.reason !== reason || old.doubtful !== doubtful)
      this.#persistence.state(id, state, item);
    this.#kept.set(id, item);
  }

  #syncOrder(items: readonly QueueItem[]): void {
    const order = items.map(({ id }) => id);
    const kept = [...this.#kept.keys()];
    if (order.every((id, index) => kept[index] === id)) return;
    this.#persistence.order(order);
    this.#kept = new Map(
      order.flatMap((id) => {
        const item = this.#kept.get(id);
        return item ? [[id, item] as const] : [];
      }),
    );
  }
}
