// Entries nested in calls: drawn inside the entry of their call, unless they ask for permission.
import type { ToWebview } from '../../panel/contract';
import type { EntryContext, EntryView } from '../entries/entryView';
import type { ItemChange, ItemStore } from '../entries/itemStore';
import { post } from '../host/host';
import { Nest, type NestContents, type NestHost } from '../nested/nest';
import type { OpenQuestions } from './openQuestions';
import type { Revealer } from './revealer';
import type { Scroller } from './scroller';
import type { Target } from './scrollIntoView';

const TICK_MS = 1000;
/** Maximum number of expanded calls whose contents are kept while not in the page. */
const MAX_DETACHED = 50;

export class Nesting implements NestHost {
  readonly store: ItemStore;
  readonly context: EntryContext;
  readonly #questions: OpenQuestions;
  readonly #scroller: Scroller;
  readonly #revealer: Revealer;
  /** By the element of their entry. */
  readonly #nests = new Map<HTMLElement, Nest>();
  readonly #detached = new Map<string, NestContents>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #target: Target | undefined;

  constructor(
    store: ItemStore,
    context: EntryContext,
    questions: OpenQuestions,
    scroller: Scroller,
    revealer: Revealer,
  ) {
    this.store = store;
    this.context = context;
    this.#questions = questions;
    this.#scroller = scroller;
    this.#revealer = revealer;
  }

  hides(index: number): boolean {
    return this.store.isNested(index) && this.#questions.at(index).length === 0;
  }

  asking(): ReadonlySet<number> {
    return new Set([...this.#questions.byIndex.keys()].flatMap((index) => this.store.get(index)?.item.path ?? []));
  }

  hold(): void {
    this.#scroller.hold();
  }

  draw(entry: HTMLElement, index: number): void {
    const item = this.store.get(index)?.item;
    if (item?.kind !== 'tool' || !item.nested) return;
    let nest = this.#nests.get(entry);
    if (!nest) {
      nest = new Nest(this, index, entry, this.#contents(item.id));
      this.#nests.set(entry, nest);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    }
    nest.update();
  }

  changed({ index, type }: ItemChange): void {
    if (type !== 'put' || !this.store.isNested(index)) return;
    const parent = this.store.get(index)?.item.path?.at(-1);
    for (const nest of this.#all()) if (nest.index === parent) nest.put(index);
  }

  view(index: number): EntryView | undefined {
    for (const nest of this.#all()) {
      const view = nest.view(index);
      if (view) return view;
    }
    return undefined;
  }

  receive(message: Extract<ToWebview, { type: 'nested' }>): void {
    this.hold();
    for (const { index, item } of message.items) this.store.insert(index, [item], message.revision);
    for (const nest of this.#all()) if (nest.index === message.index) nest.receive(message);
  }

  update(): void {
    for (const nest of this.#all()) nest.update();
  }

  arrived(): Target | undefined {
    const target = this.#target;
    return target && this.store.get(target.index) ? target : undefined;
  }

  /**
   * Scrolls to a nested item inside the entry of its call.
   * @returns false if it is drawn at its own place
   */
  reveal(target: Target): boolean {
    this.#target = undefined;
    const { index } = target;
    if (target.offset !== undefined || !this.hides(index)) return false;
    const path = this.store.get(index)?.item.path;
    const [root] = path ?? [];
    if (!path || root === undefined) {
      this.#target = target;
      post({ type: 'page', from: index, to: index + 1 });
      return true;
    }
    this.#revealer.reveal({
      index: root,
      drawn: () => this.#find(path, index, (view) => this.#revealer.place(view, target)),
    });
    return true;
  }

  clear(): void {
    for (const nest of this.#nests.values()) nest.dispose();
    this.#nests.clear();
    this.#detached.clear();
    this.store.inUse.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Expands the calls down to an item.
   * @param path the calls; the first one is drawn
   */
  #find(path: readonly number[], index: number, drawn: (view: EntryView) => void): void {
    const [first, ...rest] = path;
    const nest = [...this.#all()].find((nest) => nest.index === first);
    nest?.find(rest[0] ?? index, (view) => {
      if (rest.length === 0) drawn(view);
      else this.#find(rest, index, drawn);
    });
  }

  #contents(id: string): NestContents {
    const detached = this.#detached.get(id);
    if (detached) return detached;
    const contents: NestContents = { calls: 0, from: 0, total: 0, indexes: undefined };
    this.#detached.set(id, contents);
    const [oldest] = this.#detached;
    if (oldest && this.#detached.size > MAX_DETACHED) {
      this.#detached.delete(oldest[0]);
      for (const index of oldest[1].indexes ?? []) this.store.inUse.delete(index);
    }
    return contents;
  }

  *#all(): Iterable<Nest> {
    for (const [entry, nest] of [...this.#nests]) {
      if (entry.isConnected || entry.contains(document.activeElement)) yield nest;
      else {
        nest.dispose();
        this.#nests.delete(entry);
      }
    }
  }

  #tick(): void {
    let isRunning = false;
    for (const nest of this.#all()) isRunning = nest.tick() || isRunning;
    if (isRunning) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
