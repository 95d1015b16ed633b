// What subagents do, under the calls that started them: one line each, which unfolds.
import type { ToWebview } from '../../panel/contract';
import { adoptStyles } from '../dom/pageStyles';
import type { EntryView } from '../entries/entryView';
import styles from '../styles/nested.css';
import { Nest, type NestContents } from './nest';
import type { NestedServices } from './nestedServices';

/** How often the time of running subagents is drawn, ms. */
const TICK_MS = 1000;
/** Unfolded calls whose contents are remembered while they are out of the page. */
const MAX_KEPT = 50;

export class NestedPart {
  readonly #services: NestedServices;
  /** By the element of the entry that it stands in. */
  readonly #nests = new Map<HTMLElement, Nest>();
  readonly #kept = new Map<string, NestContents>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(services: NestedServices) {
    adoptStyles(styles);
    this.#services = services;
  }

  /** Draws what is nested in the entry of a call, or draws it again. */
  attach(entry: HTMLElement, index: number): void {
    const id = this.#services.stored(index)?.item.id;
    const known = this.#nests.get(entry);
    if (id === undefined || known) {
      known?.update();
      return;
    }
    const nest = new Nest(this.#services, {
      index,
      entry,
      contents: this.#contents(id),
      attach: (child, at) => this.attach(child, at),
    });
    this.#nests.set(entry, nest);
    nest.update();
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** An item that is nested in calls is new or has changed. */
  put(index: number): void {
    const parent = this.#services.stored(index)?.item.path?.at(-1);
    for (const nest of this.#all()) if (nest.index === parent) nest.put(index);
  }

  /** The view of a nested item, if it is drawn. */
  view(index: number): EntryView | undefined {
    for (const nest of this.#all()) {
      const view = nest.view(index);
      if (view) return view;
    }
    return undefined;
  }

  receive(message: Extract<ToWebview, { type: 'nested' }>): void {
    for (const nest of this.#all()) if (nest.index === message.index) nest.receive(message);
  }

  /** Permission requests have come or gone. */
  look(): void {
    for (const nest of this.#all()) nest.update();
  }

  /**
   * Unfolds the calls down to an item.
   * @param path the calls that it is nested in, the first of which is drawn
   */
  find(path: readonly number[], index: number, drawn: (view: EntryView) => void): void {
    const [first, ...rest] = path;
    const nest = [...this.#all()].find((one) => one.index === first);
    const next = rest[0] ?? index;
    nest?.find(next, (view) => {
      if (rest.length === 0) drawn(view);
      else this.find(rest, index, drawn);
    });
  }

  /** The session is shown anew, or another one is. */
  clear(): void {
    for (const nest of this.#nests.values()) nest.dispose();
    this.#nests.clear();
    this.#kept.clear();
    this.#services.held.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #contents(id: string): NestContents {
    const known = this.#kept.get(id);
    if (known) return known;
    const contents: NestContents = { calls: 0, from: 0, total: 0, indexes: undefined };
    this.#kept.set(id, contents);
    const [oldest] = this.#kept;
    if (oldest && this.#kept.size > MAX_KEPT) {
      this.#kept.delete(oldest[0]);
      for (const index of oldest[1].indexes ?? []) this.#services.held.delete(index);
    }
    return contents;
  }

  /** Those in the page; the others are forgotten. */
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
