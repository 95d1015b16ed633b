// Messages that wait for their turn, in the user's order. Pure: it knows nothing of agents or time; whoever sends asks for the next one.
import type { ContentBlock } from './content';

export type QueueItemState = 'queued' | 'sending' | 'accepted' | 'failed';

export interface QueueItem {
  readonly id: string;
  text: string;
  /** What goes with the text, as content blocks for the agent. */
  readonly attachments: readonly QueuedAttachment[];
  state: QueueItemState;
  /** Why it failed. */
  reason?: string;
  /** The user is editing it: it is not sent under their fingers. */
  held: boolean;
}

/** An attachment as it was when the message was queued. */
export interface QueuedAttachment {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  /** What the agent gets, best form first; the first that the agent takes is sent. */
  readonly forms: readonly ContentBlock[];
}

export class PromptQueue {
  readonly #items: QueueItem[] = [];
  #sequence = 0;
  #paused: string | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get items(): readonly QueueItem[] {
    return this.#items;
  }

  /** Why nothing is sent by itself; undefined while the queue runs. */
  get paused(): string | undefined {
    return this.#paused;
  }

  add(text: string, attachments: readonly QueuedAttachment[], place: 'first' | 'last' = 'last'): QueueItem {
    const item: QueueItem = { id: `q${++this.#sequence}`, text, attachments, state: 'queued', held: false };
    if (place === 'first') this.#items.unshift(item);
    else this.#items.push(item);
    this.#onChange();
    return item;
  }

  find(id: string): QueueItem | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /** The item that may be sent now: the first one, unless the queue is paused or somebody edits that item. Order is never broken by itself. */
  next(): QueueItem | undefined {
    const [first] = this.#items;
    return this.#paused === undefined && first?.state === 'queued' && !first.held ? first : undefined;
  }

  /** Replaces the text of an item that has not left. False where it has. */
  edit(id: string, text: string): boolean {
    return this.#change(id, (item) => {
      item.text = text;
      item.held = false;
      if (item.state === 'failed') {
        item.state = 'queued';
        delete item.reason;
      }
    });
  }

  hold(id: string, held: boolean): boolean {
    return this.#change(id, (item) => {
      item.held = held;
    });
  }

  /** Moves an item to a position (0 is the next to be sent). */
  move(id: string, to: number): boolean {
    const item = this.find(id);
    if (!item || item.state === 'sending') return false;
    this.#items.splice(this.#items.indexOf(item), 1);
    this.#items.splice(Math.max(0, Math.min(to, this.#items.length)), 0, item);
    this.#onChange();
    return true;
  }

  remove(id: string): QueueItem | undefined {
    const index = this.#items.findIndex((item) => item.id === id);
    if (index < 0) return undefined;
    const [item] = this.#items.splice(index, 1);
    this.#onChange();
    return item;
  }

  setState(item: QueueItem, state: QueueItemState, reason?: string): void {
    item.state = state;
    if (reason === undefined) delete item.reason;
    else item.reason = reason;
    this.#onChange();
  }

  /** Stops sending by itself. @param reason shown to the user. */
  pause(reason: string): void {
    this.#paused = reason;
    this.#onChange();
  }

  resume(): void {
    this.#paused = undefined;
    for (const item of this.#items) if (item.state === 'failed') item.state = 'queued';
    this.#onChange();
  }

  /** Removes everything that has not left and returns it. */
  clear(): QueueItem[] {
    const gone = this.#items.splice(0);
    this.#paused = undefined;
    this.#onChange();
    return gone;
  }

  #change(id: string, apply: (item: QueueItem) => void): boolean {
    const item = this.find(id);
    if (!item || item.state === 'sending') return false;
    apply(item);
    this.#onChange();
    return true;
  }
}
