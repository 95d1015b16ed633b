// Groups runs of reads and searches in one turn, shown as one expandable line. Calls that are
// running, have failed or wait for the user are not grouped, nor are edits and commands. Pure: no
// DOM.
import type { ItemView } from '../../panel/contract';
import type { ActivityCounts } from '../entries/groupEntry';

const MIN_CALLS = 3;

export interface CallGroup {
  /** Transcript indexes, inclusive. */
  readonly first: number;
  readonly last: number;
  readonly isOpen: boolean;
}

interface Call {
  readonly id: string;
  readonly turnId: string | undefined;
  readonly file: string | undefined;
}

interface Run {
  readonly first: number;
  readonly last: number;
  /** Whether the user expanded or collapsed it; undefined if neither. */
  chosen: boolean | undefined;
  /** Expanded because the user is in one of its calls. */
  isInUse: boolean;
}

export interface CallGroupsOptions {
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  isInUse(index: number): boolean;
}

export class CallGroups {
  readonly #options: CallGroupsOptions;
  readonly #calls = new Map<number, Call>();
  readonly #runs = new Map<number, Run>();

  constructor(options: CallGroupsOptions) {
    this.#options = options;
  }

  at(index: number): CallGroup | undefined {
    const run = this.#runs.get(index);
    if (!run || run.last - run.first + 1 < MIN_CALLS) return undefined;
    return { first: run.first, last: run.last, isOpen: run.chosen ?? run.isInUse };
  }

  hides(index: number): boolean {
    const group = this.at(index);
    return group !== undefined && !group.isOpen && group.first !== index;
  }

  counts({ first, last }: CallGroup): ActivityCounts {
    const files = new Set<string>();
    let searches = 0;
    for (let index = first; index <= last; index++) {
      const { file } = this.#calls.get(index)!;
      if (file === undefined) searches++;
      else files.add(file);
    }
    return { read: files.size, search: searches };
  }

  /**
   * @param isNested the item is drawn inside its call
   * @returns the other indexes to redraw
   */
  set(index: number, item: ItemView, isNested = item.path !== undefined): readonly number[] {
    const call = isNested ? undefined : callOf(item);
    const old = this.#calls.get(index);
    if (!call && !old) return [];
    const oldRun = this.#runs.get(index);
    if (call && old && call.turnId === old.turnId) {
      this.#calls.set(index, call);
      return oldRun && oldRun.first !== index ? [oldRun.first] : [];
    }
    this.#runs.delete(index);
    if (!call) {
      this.#calls.delete(index);
      return oldRun ? this.#split(oldRun, index) : [];
    }
    this.#calls.set(index, call);
    return this.#join(index, call);
  }

  toggle(group: CallGroup): void {
    const run = this.#runs.get(group.first)!;
    run.chosen = !group.isOpen;
    this.#options.setExpanded(groupId(this.#calls.get(run.first)!), run.chosen);
  }

  clear(): void {
    this.#calls.clear();
    this.#runs.clear();
  }

  #join(index: number, { turnId }: Call): readonly number[] {
    const beside = (other: number): Run | undefined =>
      this.#calls.get(other)?.turnId === turnId ? this.#runs.get(other) : undefined;
    const left = beside(index - 1);
    const right = beside(index + 1);
    const run = this.#createRun(left?.first ?? index, right?.last ?? index, left?.chosen ?? right?.chosen);
    return this.#affectedIndexes([left, right, run], index);
  }

  #split({ first, last, chosen }: Run, index: number): readonly number[] {
    const left = index > first ? this.#createRun(first, index - 1, chosen) : undefined;
    const right = index < last ? this.#createRun(index + 1, last, chosen) : undefined;
    return this.#affectedIndexes([left, right], index);
  }

  #createRun(first: number, last: number, chosen: boolean | undefined): Run {
    const run: Run = { first, last, chosen, isInUse: false };
    run.chosen ??= this.#options.isExpanded(groupId(this.#calls.get(first)!));
    for (let index = first; index <= last; index++) {
      this.#runs.set(index, run);
      run.isInUse ||= this.#options.isExpanded(this.#calls.get(index)!.id) === true || this.#options.isInUse(index);
    }
    return run;
  }

  /**
   * Returns the lines of groups, and the calls of all runs that may have become a group or ceased
   * to be one.
   */
  #affectedIndexes(runs: readonly (Run | undefined)[], except: number): readonly number[] {
    const indexes = new Set<number>();
    for (const run of runs) {
      if (!run) continue;
      indexes.add(run.first);
      const isOpen = run.chosen ?? run.isInUse;
      if (run.last - run.first < MIN_CALLS || isOpen) for (let at = run.first; at <= run.last; at++) indexes.add(at);
    }
    indexes.delete(except);
    return [...indexes];
  }
}

function groupId({ id }: Call): string {
  return `group:${id}`;
}

function callOf(item: ItemView): Call | undefined {
  if (item.kind !== 'tool' || item.status !== 'completed' || item.late || item.decision) return undefined;
  if (item.toolKind !== 'read' && item.toolKind !== 'search') return undefined;
  const isText = item.content.every(({ type }) => type === 'content');
  if (!isText) return undefined;
  const { id, turnId } = item;
  return { id, turnId, file: item.toolKind === 'read' ? (item.locations[0]?.path ?? item.title) : undefined };
}
