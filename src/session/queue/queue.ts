// The message queue, in the user's order. Pure, without agents or time; the sender asks for the
// next message.
import type { ContentBlock } from '../events/content';
import type { ItemCode, PauseCode, WaitReason } from './waitReason';

export type QueueItemState = 'queued' | 'sending' | 'accepted' | 'failed';

export interface QueueItem {
  readonly id: string;
  text: string;
  readonly attachments: readonly QueuedAttachment[];
  state: QueueItemState;
  reason?: string;
  held: boolean;
  /**
   * Sending failed, but the agent may have received it. It is only resent on the user's request.
   */
  doubtful?: true;
  /** Id of the prompt in the transcript that this message resends, if it is there. */
  readonly repeats?: string;
}

export type StateFacts = Readonly<Pick<QueueItem, 'reason' | 'doubtful'>>;

export interface QueuedAttachment {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  readonly thumbnail?: string;
  /** Alternative forms, best first; the first that the agent supports is sent. */
  readonly forms: readonly ContentBlock[];
}

/**
 * Returns whether an item is being sent, or sent but not yet accepted: it can't be changed then.
 */
export function isAway({ state }: QueueItem): boolean {
  return state === 'sending' || state === 'accepted';
}

const IN_DOUBT = { state: 'failed', reason: 'in-doubt', doubtful: true } as const;

export class PromptQueue {
  readonly #items: QueueItem[] = [];
  #sequence = 0;
  paused: string | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  restore(items: readonly QueueItem[], paused: string | undefined, used: number): void {
    this.#items.push(...items);
    this.paused = paused;
    this.#sequence = Math.max(this.#sequence, used);
    this.#onChange();
  }

  get items(): readonly QueueItem[] {
    return this.#items;
  }

  add(text: string, attachments: readonly QueuedAttachment[], place: 'first' | 'last' = 'last'): QueueItem {
    const item: QueueItem = { id: `q${++this.#sequence}`, text, attachments, state: 'queued', held: false };
    if (place === 'first') this.#items.unshift(item);
    else this.#items.push(item);
    this.#onChange();
    return item;
  }

  putFirst(item: QueueItem): void {
    this.#items.unshift({ ...item });
    this.#onChange();
  }

  /** Puts a sent but not accepted item back at the front. */
  putBack(item: QueueItem): boolean {
    if (this.#items.includes(item)) return false;
    item.state = 'queued';
    this.#items.unshift(item);
    this.#onChange();
    return true;
  }

  find(id: string): QueueItem | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /**
   * Returns the first unsent item, unless the queue is paused or that item is being edited. Items
   * are never sent out of order automatically.
   */
  next(): QueueItem | undefined {
    const first = this.#items.find((item) => !isAway(item) && item.state !== 'failed');
    return this.paused === undefined && first?.state === 'queued' && !first.held ? first : undefined;
  }

  edit(id: string, text: string): boolean {
    return this.#change(id, (item) => {
      item.text = text;
      item.held = false;
      release(item);
    });
  }

  hold(id: string, held: boolean): boolean {
    return this.#change(id, (item) => {
      item.held = held;
    });
  }

  move(id: string, to: number): boolean {
    const item = this.find(id);
    if (!item || isAway(item)) return false;
    this.#items.splice(this.#items.indexOf(item), 1);
    // Items that the agent already has stay in front.
    const away = this.#items.filter(isAway).length;
    this.#items.splice(Math.max(away, Math.min(to, this.#items.length)), 0, item);
    this.#onChange();
    return true;
  }

  remove(id: string): QueueItem | undefined {
    const index = this.#items.findIndex((item) => item.id === id);
    if (index < 0) return undefined;
    const [item] = this.#items.splice(index, 1);
    // A pause applies to the queued items and must not hold up later messages.
    if (this.#items.length === 0) this.paused = undefined;
    this.#onChange();
    return item;
  }

  setState(item: QueueItem, state: QueueItemState, reason?: WaitReason<ItemCode>): void {
    item.state = state;
    delete item.doubtful;
    if (reason === undefined) delete item.reason;
    else item.reason = reason;
    this.#onChange();
  }

  /** Marks an item that the agent may have received. */
  doubt(item: QueueItem): void {
    Object.assign(item, IN_DOUBT);
    this.#onChange();
  }

  takeBack(): void {
    const away = this.#items.filter(isAway);
    if (away.length === 0) return;
    for (const item of away) {
      if (item.state === 'accepted') Object.assign(item, IN_DOUBT);
      else {
        item.state = 'queued';
        delete item.reason;
      }
    }
    this.#onChange();
  }

  pause(reason: WaitReason<PauseCode>): void {
    this.paused = reason;
    this.#onChange();
  }

  resume(): void {
    this.paused = undefined;
    this.#onChange();
  }

  /** Makes an item the next one, even if it failed or is being edited, with its current text. */
  putNext(id: string): void {
    this.#change(id, (item) => {
      item.held = false;
      release(item);
    });
    this.move(id, 0);
  }

  clear(): QueueItem[] {
    const removed = this.#items.filter((item) => !isAway(item));
    this.#items.splice(0, this.#items.length, ...this.#items.filter(isAway));
    this.paused = undefined;
    this.#onChange();
    return removed;
  }

  unclear(gone: readonly QueueItem[], paused: string | undefined): void {
    this.#items.splice(this.#items.filter(isAway).length, 0, ...gone.map((item) => ({ ...item, held: false })));
    this.paused ??= paused;
    this.#onChange();
  }

  #change(id: string, apply: (item: QueueItem) => void): boolean {
    const item = this.find(id);
    if (!item || isAway(item)) return false;
    apply(item);
    this.#onChange();
    return true;
  }
}

function release(item: QueueItem): void {
  if (item.state !== 'failed') return;
  item.state = 'queued';
  delete item.reason;
  delete item.doubtful;
}
