// Storage of a conversation, implemented by the composition root. Without it, a conversation is in
// memory only.
import type { Anchor, DraftView } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import type { PromptQueue, QueuedAttachment, QueueItem, QueueItemState, StateFacts } from '../../session/queue/queue';

export type KeptItem = Readonly<QueueItem>;

/**
 * Stores the queue. Calls return once the change is on disk or the user has a notice that it
 * isn't; none throws.
 */
export interface QueuePersistence {
  added(item: KeptItem, place: 'first' | 'last'): void;
  changed(id: string, change: { readonly text?: string; readonly held?: boolean }): void;
  state(id: string, state: QueueItemState, facts: StateFacts): void;
  order(ids: readonly string[]): void;
  removed(id: string): void;
  paused(reason: string | undefined): void;
}

export interface ReadProgress {
  readonly json: string;
  /** Call before storing, with the unstored ends of texts, which may begin a secret. */
  readonly holdBack: (events: readonly TimedEvent[]) => void;
  readonly stored: () => void;
}

/** Stores one conversation. No method throws. */
export interface ConversationPersistence extends QueuePersistence {
  /**
   * Claims the session for this window, as the first write does.
   * @returns false if another window has it, or has continued it since it was read
   */
  claim(): boolean;
  /** Checks that the session is still this window's, as each write does. */
  verify(): void;
  together(run: () => void): void;
  /**
   * Prompts, permissions and ends of turns are on disk when this returns.
   * @param progress is stored in the same transaction
   */
  events(events: readonly TimedEvent[], progress?: ReadProgress): void;
  /** The agent's data about the session; undefined: unchanged, null: removed. */
  describe(facts: {
    readonly agentId?: string;
    readonly agentSessionId?: string | null;
    readonly protocol?: 1 | 2 | 'communication';
    readonly title?: string;
  }): void;
  draft(draft: DraftView, attachments: readonly QueuedAttachment[]): void;
  place(anchor: Anchor | undefined): void;
}

export interface KeptConversation {
  readonly model: SessionModel;
  /**
   * Reads the whole transcript in small steps, if `model` has only its end.
   * @throws ParleyError `journal-unreadable`
   */
  readonly whole?: () => Promise<SessionModel>;
  /** With `whole`: the unread part may use ids up to this number. */
  readonly usedIds?: number;
  readonly queue: readonly KeptItem[];
  readonly paused?: string;
  readonly draft: DraftView;
  readonly attachments: readonly QueuedAttachment[];
  readonly anchor?: Anchor;
  readonly progress?: string;
  readonly agentSessionId?: string;
}

export class QueueMirror {
  readonly #persistence: QueuePersistence;
  #storedItems = new Map<string, KeptItem>();
  #paused: string | undefined;

  constructor(persistence: QueuePersistence, kept: readonly KeptItem[] = [], paused?: string) {
    this.#persistence = persistence;
    this.#storedItems = new Map(kept.map((item) => [item.id, item]));
    this.#paused = paused;
  }

  sync(queue: PromptQueue): void {
    const { items } = queue;
    const currentIds = new Set(items.map(({ id }) => id));
    for (const id of [...this.#storedItems.keys()]) {
      if (currentIds.has(id)) continue;
      this.#persistence.removed(id);
      this.#storedItems.delete(id);
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
    const stored = this.#storedItems.get(id);
    if (!stored) {
      const isLast = !isFirst || this.#storedItems.size === 0;
      this.#persistence.added(item, isLast ? 'last' : 'first');
      // The order of the map must match the queue's.
      this.#storedItems = isLast ? this.#storedItems.set(id, item) : new Map([[id, item], ...this.#storedItems]);
      return;
    }
    if (stored.text !== text || stored.held !== held) {
      this.#persistence.changed(id, {
        text: stored.text !== text ? text : undefined,
        held: stored.held !== held ? held : undefined,
      });
    }
    if (stored.state !== state || stored.reason !== reason || stored.doubtful !== doubtful)
      this.#persistence.state(id, state, item);
    this.#storedItems.set(id, item);
  }

  #syncOrder(items: readonly QueueItem[]): void {
    const order = items.map(({ id }) => id);
    const storedOrder = [...this.#storedItems.keys()];
    if (order.every((id, index) => storedOrder[index] === id)) return;
    this.#persistence.order(order);
    this.#storedItems = new Map(
      order.flatMap((id) => {
        const item = this.#storedItems.get(id);
        return item ? [[id, item] as const] : [];
      }),
    );
  }
}
