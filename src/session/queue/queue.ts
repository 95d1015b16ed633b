// Messages that wait for their turn, in the user's order. Pure: it knows nothing of agents or time; whoever sends asks for the next one.
import type { ContentBlock } from '../events/content';
import type { ItemCode, PauseCode, WaitReason } from './waitReason';

export type QueueItemState = 'queued' | 'sending' | 'accepted' | 'failed';

export interface QueueItem {
  readonly id: string;
  text: string;
  /** What goes with the text, as content blocks for the agent. */
  readonly attachments: readonly QueuedAttachment[];
  state: QueueItemState;
  /** Why it does not go, as a {@link WaitReason}. */
  reason?: string;
  /** The user is editing it: it is not sent under their fingers. */
  held: boolean;
  /** It failed so that nobody knows whether the agent has it: it goes only when the user says so of it. */
  doubtful?: true;
  /** The id of the prompt in the transcript that it says again; absent where it does not stand there. */
  readonly repeats?: string;
}

/** What is said of an item beside its state. */
export type StateFacts = Readonly<Pick<QueueItem, 'reason' | 'doubtful'>>;

/** An attachment as it was when the message was queued. */
export interface QueuedAttachment {
  readonly id: string;
  readonly kind: 'file' | 'selection' | 'image' | 'other';
  readonly label: string;
  readonly detail?: string;
  /** A small picture of a pasted image, as a `data:` address. */
  readonly thumbnail?: string;
  /** What the agent gets, best form first; the first that the agent takes is sent. */
  readonly forms: readonly ContentBlock[];
}

/** On its way, or with the agent, which has not taken it in yet: nothing can be changed about it here. */
export function isAway({ state }: QueueItem): boolean {
  return state === 'sending' || state === 'accepted';
}

export class PromptQueue {
  readonly #items: QueueItem[] = [];
  #sequence = 0;
  #paused: string | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Goes on with what was kept. @param used the highest number that an id of this session has, among these and those that were sent */
  restore(items: readonly QueueItem[], paused: string | undefined, used: number): void {
    this.#items.push(...items);
    this.#paused = paused;
    this.#sequence = Math.max(this.#sequence, used);
    this.#onChange();
  }

  get items(): readonly QueueItem[] {
    return this.#items;
  }

  /** Why nothing is sent by itself, as a {@link WaitReason}; undefined while the queue runs. */
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

  /** Puts a message that is not in the queue before all others. */
  putFirst(item: QueueItem): void {
    this.#items.unshift({ ...item });
    this.#onChange();
  }

  /** An item that has left and was not taken is the next again. False where it is here. */
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

  /** The item that may be sent now: the first one that is here, unless the queue is paused or somebody edits that item. Order is never broken by itself. */
  next(): QueueItem | undefined {
    const first = this.#items.find((item) => !isAway(item) && item.state !== 'failed');
    return this.#paused === undefined && first?.state === 'queued' && !first.held ? first : undefined;
  }

  /** Replaces the text of an item that has not left. False where it has. */
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

  /** Moves an item to a position (0 is the next to be sent). */
  move(id: string, to: number): boolean {
    const item = this.find(id);
    if (!item || isAway(item)) return false;
    this.#items.splice(this.#items.indexOf(item), 1);
    // What is with the agent already comes before it in any case.
    const away = this.#items.filter(isAway).length;
    this.#items.splice(Math.max(away, Math.min(to, this.#items.length)), 0, item);
    this.#onChange();
    return true;
  }

  remove(id: string): QueueItem | undefined {
    const index = this.#items.findIndex((item) => item.id === id);
    if (index < 0) return undefined;
    const [item] = this.#items.splice(index, 1);
    // A pause is for what waits: it must not hold what the user writes later.
    if (this.#items.length === 0) this.#paused = undefined;
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

  /** The agent is gone: what had not left yet is here again. What it had got, and nobody knows whether it was taken in, is for the user. */
  takeBack(): void {
    const away = this.#items.filter(isAway);
    if (away.length === 0) return;
    for (const item of away) {
      if (item.state === 'accepted') Object.assign(item, { state: 'failed', reason: 'in-doubt', doubtful: true });
      else {
        item.state = 'queued';
        delete item.reason;
      }
    }
    this.#onChange();
  }

  /** Stops sending by itself, until it is resumed or the queue has run empty. */
  pause(reason: WaitReason<PauseCode>): void {
    this.#paused = reason;
    this.#onChange();
  }

  /** Lets the queue go on. What failed, or may have arrived already, is not part of that: it goes when the user says so of the item itself. */
  resume(): void {
    this.#paused = undefined;
    this.#onChange();
  }

  /** The user wants this one sent next, also where it had failed or is being edited: it goes as it stands. */
  putNext(id: string): void {
    this.#change(id, (item) => {
      item.held = false;
      release(item);
    });
    this.move(id, 0);
  }

  /** Removes everything that has not left and returns it. */
  clear(): QueueItem[] {
    const gone = this.#items.filter((item) => !isAway(item));
    this.#items.splice(0, this.#items.length, ...this.#items.filter(isAway));
    this.#paused = undefined;
    this.#onChange();
    return gone;
  }

  /** Takes back that the queue was cleared. @param gone what {@link clear} returned @param paused why the queue waited before it */
  unclear(gone: readonly QueueItem[], paused: string | undefined): void {
    this.#items.splice(this.#items.filter(isAway).length, 0, ...gone.map((item) => ({ ...item, held: false })));
    this.#paused ??= paused;
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

/** What had failed may go again: the user says so. */
function release(item: QueueItem): void {
  if (item.state !== 'failed') return;
  item.state = 'queued';
  delete item.reason;
  delete item.doubtful;
}
