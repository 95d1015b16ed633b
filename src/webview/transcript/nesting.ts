// Entries that are nested in calls: they are drawn in the entry of their call, and not at their own
// places, unless they ask for a permission.
import type { SessionMessage, ToWebview } from '../../panel/contract';
import { createEntry } from '../entries/createEntry';
import type { EntryContext, EntryView } from '../entries/entryView';
import { createGroupEntry, createGroupLine } from '../entries/groupEntry';
import type { ItemChange, ItemStore } from '../entries/itemStore';
import { CallGroups } from '../nested/callGroups';
import { nestedPart, withNested } from '../nested/loadNested';
import type { NestedPart } from '../nested/nestedPart';
import type { OpenQuestions } from './openQuestions';
import type { Target } from './scrollIntoView';

export interface NestingOptions {
  readonly store: ItemStore;
  readonly context: EntryContext;
  readonly open: OpenQuestions;
  post(message: SessionMessage): void;
  /** Keeps what the user sees in place while heights change. */
  hold(): void;
  /** Scrolls to an entry that is drawn at its own place. */
  reveal(target: Target): void;
  /** A nested entry is drawn: puts it in place. */
  place(view: EntryView, target: Target): void;
}

export class Nesting {
  readonly #options: NestingOptions;
  /** To be gone to once it is loaded. */
  #wanted: Target | undefined;

  constructor(options: NestingOptions) {
    this.#options = options;
  }

  /** Returns whether an item is not drawn at its own place. */
  hides(index: number): boolean {
    const { store, open } = this.#options;
    return store.isNested(index) && open.at(index).length === 0;
  }

  /** Draws what is nested in a call, as part of its entry. */
  draw(entry: HTMLElement, index: number): void {
    const item = this.#options.store.get(index)?.item;
    if (item?.kind === 'tool' && item.nested) this.#with((part) => part.attach(entry, index));
  }

  changed({ index, type }: ItemChange): void {
    if (type === 'put' && this.#options.store.isNested(index)) nestedPart()?.put(index);
  }

  receive(message: Extract<ToWebview, { type: 'nested' }>): void {
    const { store, hold } = this.#options;
    hold();
    for (const { index, item } of message.items) store.insert(index, [item], message.revision);
    nestedPart()?.receive(message);
  }

  /** Items have arrived: one of them may be wanted. */
  arrived(): void {
    const target = this.#wanted;
    if (target && this.#options.store.get(target.index)) this.reveal(target);
  }

  /** Goes to an item in the entry of its call. @returns false where it is drawn at its own place */
  reveal(target: Target): boolean {
    this.#wanted = undefined;
    const { store, post, reveal, place } = this.#options;
    const { index } = target;
    if (target.offset !== undefined || !this.hides(index)) return false;
    const path = store.get(index)?.item.path;
    const [root] = path ?? [];
    if (!path || root === undefined) {
      this.#wanted = target;
      post({ type: 'page', from: index, to: index + 1 });
      return true;
    }
    reveal({
      index: root,
      drawn: () => this.#with((part) => part.find(path, index, (view) => place(view, target))),
    });
    return true;
  }

  #with(use: (part: NestedPart) => void): void {
    const { context, open, post, store, hold } = this.#options;
    withNested(
      {
        stored: (index) => store.get(index),
        held: store.held,
        create: (index) => createEntry(store.get(index)!, index, context),
        createGroup: createGroupEntry,
        createGroupLine,
        groups: (options) => new CallGroups(options),
        asking: () => new Set([...open.byIndex.keys()].flatMap((index) => store.get(index)?.item.path ?? [])),
        hides: (index) => this.hides(index),
        post,
        isExpanded: context.isExpanded,
        setExpanded: context.setExpanded,
        unpin: () => context.unpin(),
        hold,
      },
      use,
    );
  }
}
