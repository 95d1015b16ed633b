// Nesting: what a subagent does belongs to the call that started it. Agents name that call by its
// id, so it may be unknown, come later, or be part of a circle. The cost of an entry does not depend
// on how many there are.
import type { Entry, ToolEntry } from './state';

/** Subagents within subagents; what is deeper belongs to the last level. */
export const MAX_DEPTH = 5;
/** Entries whose parent is not known yet; more stay where they are. */
const MAX_WAITING = 5000;

/** What stands under one call. */
interface Nest {
  readonly children: Entry[];
  /** Calls of all levels that have not ended, in the order in which they began. */
  readonly open: Set<ToolEntry>;
  /** The last one of them, as far as it is still open. */
  latest: ToolEntry | undefined;
  /** Calls of all levels. */
  calls: number;
  /** Levels below the call. */
  height: number;
}

/** What is told of the calls under a call. */
export interface NestCounts {
  readonly calls: number;
  /** How many of them have not ended. */
  readonly open: number;
  /** The title of one that has not ended. */
  readonly now?: string;
}

export class Nests {
  readonly #nests = new Map<ToolEntry, Nest>();
  readonly #parents = new Map<Entry, ToolEntry>();
  readonly #waiting = new Map<string, Entry[]>();
  #waitingCount = 0;

  /** Nothing is nested. */
  get isEmpty(): boolean {
    return this.#parents.size === 0;
  }

  parentOf(entry: Entry): ToolEntry | undefined {
    return this.#parents.get(entry);
  }

  /** The calls that an entry stands under, outermost first. */
  pathOf(entry: Entry): readonly ToolEntry[] {
    const path: ToolEntry[] = [];
    for (let at = this.#parents.get(entry); at; at = this.#parents.get(at)) path.push(at);
    return path.reverse();
  }

  /** What stands directly under a call, in the order in which it came. */
  childrenOf(entry: Entry): readonly Entry[] {
    return (entry.kind === 'tool' && this.#nests.get(entry)?.children) || [];
  }

  /** Undefined where nothing stands under the call. */
  countsOf(entry: ToolEntry): NestCounts | undefined {
    const nest = this.#nests.get(entry);
    if (!nest) return undefined;
    const { calls, open, latest } = nest;
    return { calls, open: open.size, now: latest && open.has(latest) && latest.title ? latest.title : undefined };
  }

  /**
   * An entry names its parent. The first parent stays.
   * @param parent undefined: not known yet
   * @param isOpen the entry is a call that has not ended
   * @returns the entries that look different now
   */
  put(entry: Entry, id: string, parent: ToolEntry | undefined, isOpen: boolean): readonly Entry[] {
    if (this.#parents.has(entry)) return [];
    if (parent) return this.#link(entry, parent, isOpen);
    const waiting = this.#waiting.get(id) ?? [];
    if (this.#waitingCount >= MAX_WAITING || waiting.includes(entry)) return [];
    waiting.push(entry);
    this.#waiting.set(id, waiting);
    this.#waitingCount++;
    return [];
  }

  /**
   * A call is new: what waited for it stands under it from now on.
   * @returns the entries that look different now
   */
  announce(id: string, parent: ToolEntry, isOpen: (entry: Entry) => boolean): readonly Entry[] {
    const waiting = this.#waiting.get(id);
    if (!waiting) return [];
    this.#waiting.delete(id);
    this.#waitingCount -= waiting.length;
    return waiting.flatMap((entry) => (this.#parents.has(entry) ? [] : this.#link(entry, parent, isOpen(entry))));
  }

  /**
   * A nested call has changed.
   * @returns the calls that it stands under, if they look different now
   */
  touch(entry: ToolEntry, isOpen: boolean, isRenamed: boolean): readonly ToolEntry[] {
    if (!this.#parents.has(entry)) return [];
    const path = this.pathOf(entry);
    let isSame = true;
    for (const one of path) {
      const nest = this.#nestOf(one);
      const { open } = nest;
      if (open.has(entry) === isOpen) {
        isSame &&= !(isRenamed && nest.latest === entry);
        continue;
      }
      isSame = false;
      if (isOpen) {
        open.add(entry);
        nest.latest = entry;
      } else open.delete(entry);
    }
    return isSame ? [] : path;
  }

  /** Ids start over: what still waits stays where it is. */
  renew(): void {
    this.#waiting.clear();
    this.#waitingCount = 0;
  }

  clear(): void {
    this.renew();
    this.#nests.clear();
    this.#parents.clear();
  }

  #link(entry: Entry, parent: ToolEntry, isOpen: boolean): readonly Entry[] {
    const path = [...this.pathOf(parent), parent];
    const own = entry.kind === 'tool' ? this.#nests.get(entry) : undefined;
    const above = path.slice(0, MAX_DEPTH - (own?.height ?? 0));
    const to = above.at(-1);
    if (!to || path.includes(entry as ToolEntry)) return [];
    this.#parents.set(entry, to);
    for (const [index, one] of above.entries()) {
      const nest = this.#nestOf(one);
      nest.height = Math.max(nest.height, above.length - index + (own?.height ?? 0));
      if (entry.kind !== 'tool') continue;
      nest.calls += 1 + (own?.calls ?? 0);
      for (const call of [...(own?.open ?? []), ...(isOpen ? [entry] : [])]) {
        nest.open.add(call);
        nest.latest = call;
      }
    }
    this.#nestOf(to).children.push(entry);
    return [entry, ...above];
  }

  #nestOf(entry: ToolEntry): Nest {
    const known = this.#nests.get(entry);
    if (known) return known;
    const nest: Nest = { children: [], open: new Set(), latest: undefined, calls: 0, height: 0 };
    this.#nests.set(entry, nest);
    return nest;
  }
}

/** An entry with the number of calls that it stands under. */
export interface PlacedEntry {
  readonly entry: Entry;
  readonly depth: number;
}

/** Returns all entries, what is nested directly after its call. */
export function inNestedOrder(entries: readonly Entry[], nests: Nests): readonly PlacedEntry[] {
  if (nests.isEmpty) return entries.map((entry) => ({ entry, depth: 0 }));
  const placed: PlacedEntry[] = [];
  const add = (entry: Entry, depth: number): void => {
    placed.push({ entry, depth });
    for (const child of nests.childrenOf(entry)) add(child, depth + 1);
  };
  for (const entry of entries) if (!nests.parentOf(entry)) add(entry, 0);
  return placed;
}
