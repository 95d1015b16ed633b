// Groups calls and thoughts of one turn into a fold, shown as one expandable line in the focus
// view. Calls that have failed or need the user are not grouped. Pure: no DOM.
import type { ItemView } from '../../panel/contract';
import type { Activity, ActivityCounts } from '../entries/groupEntry';
import { firstIndex } from '../text/firstIndex';
import type { CallGroup, CallGroupsOptions } from './callGroups';

const MIN_ENTRIES = 2;
const FOLDED: ReadonlySet<string> = new Set(['pending', 'in_progress', 'completed']);
const ACTIVITY_OF: Readonly<Record<string, Activity>> = {
  read: 'read',
  search: 'search',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'run',
  subagent: 'subagent',
};

type ToolItem = Extract<ItemView, { kind: 'tool' }>;

interface Member {
  readonly turnId: string;
  /** Undefined for a thought. */
  readonly activity: Activity | undefined;
  /** Members with the same name count once, such as a file that is read twice. */
  readonly name: string;
}

interface Fold {
  readonly turnId: string;
  /** Sorted transcript indexes. */
  readonly members: number[];
  readonly names: Map<Activity, Map<string, number>>;
  isOpen: boolean;
}

export interface TurnFoldsOptions extends CallGroupsOptions {
  /** Returns whether a call asks the user, or its changes wait for review. */
  needsUser(index: number, item: ToolItem): boolean;
}

export class TurnFolds {
  readonly #options: TurnFoldsOptions;
  readonly #members = new Map<number, Member>();
  readonly #folds = new Map<string, Fold>();

  constructor(options: TurnFoldsOptions) {
    this.#options = options;
  }

  at(index: number): CallGroup | undefined {
    const fold = this.#foldOf(this.#members.get(index));
    if (!fold || !isGroup(fold)) return undefined;
    return { first: fold.members[0]!, last: fold.members.at(-1)!, isOpen: fold.isOpen };
  }

  hides(index: number): boolean {
    const group = this.at(index);
    return group !== undefined && !group.isOpen && group.first !== index;
  }

  counts({ first }: CallGroup): ActivityCounts {
    const names = this.#foldOf(this.#members.get(first))?.names;
    return Object.fromEntries([...(names ?? [])].map(([activity, { size }]) => [activity, size]));
  }

  /**
   * @param isNested the item is drawn inside its call
   * @returns the other indexes to redraw
   */
  set(index: number, item: ItemView, isNested = item.path !== undefined): readonly number[] {
    const old = this.#members.get(index);
    const isKept = old === undefined && this.#options.isInUse(index);
    const member = isNested || isKept ? undefined : this.#memberOf(index, item);
    if (old && member && isSameMember(old, member)) return [];
    const touched = [
      ...this.#change(old, () => this.#remove(index)),
      ...this.#change(member, () => this.#add(index, member!)),
    ];
    return touched.filter((other) => other !== index);
  }

  toggle({ first, isOpen }: CallGroup): void {
    const fold = this.#foldOf(this.#members.get(first))!;
    fold.isOpen = !isOpen;
    this.#options.setExpanded(foldId(fold.turnId), fold.isOpen);
  }

  clear(): void {
    this.#members.clear();
    this.#folds.clear();
  }

  #foldOf(member: Member | undefined): Fold | undefined {
    return member && this.#folds.get(member.turnId);
  }

  /**
   * @returns the indexes to redraw: the line, or all members if the fold became a group or ceased
   * to be one
   */
  #change(member: Member | undefined, change: () => void): readonly number[] {
    if (!member) return [];
    const { turnId } = member;
    const isOpen = this.#options.isExpanded(foldId(turnId)) ?? false;
    const fold = this.#folds.get(turnId) ?? {
      turnId,
      members: [],
      names: new Map(),
      isOpen,
    };
    this.#folds.set(turnId, fold);
    const wasGroup = isGroup(fold);
    const before = fold.members[0];
    change();
    const after = fold.members[0];
    if (wasGroup !== isGroup(fold)) {
      // What the user is reading is not collapsed.
      if (!wasGroup) fold.isOpen ||= fold.members.some((index) => this.#options.isInUse(index));
      return [...fold.members];
    }
    return [before, after].filter((index) => index !== undefined);
  }

  #add(index: number, member: Member): void {
    const { members, names } = this.#foldOf(member)!;
    this.#members.set(index, member);
    members.splice(
      firstIndex(0, members.length, (at) => members[at]! > index),
      0,
      index,
    );
    if (!member.activity) return;
    const counts = names.get(member.activity) ?? new Map<string, number>();
    names.set(member.activity, counts.set(member.name, (counts.get(member.name) ?? 0) + 1));
  }

  #remove(index: number): void {
    const member = this.#members.get(index)!;
    const { members, names } = this.#foldOf(member)!;
    this.#members.delete(index);
    members.splice(
      firstIndex(0, members.length, (at) => members[at]! >= index),
      1,
    );
    const counts = member.activity && names.get(member.activity);
    const count = (counts?.get(member.name) ?? 1) - 1;
    if (count > 0) counts?.set(member.name, count);
    else counts?.delete(member.name);
  }

  #memberOf(index: number, item: ItemView): Member | undefined {
    const { id, turnId } = item;
    if (turnId === undefined || item.late) return undefined;
    if (item.kind === 'thought') return { turnId, activity: undefined, name: id };
    if (item.kind !== 'tool' || hasFailed(item) || this.#options.needsUser(index, item)) return undefined;
    // Its text is addressed to the user.
    if (item.toolKind === 'switch_mode') return undefined;
    const activity = item.nested ? 'subagent' : (ACTIVITY_OF[item.toolKind] ?? 'other');
    const path = item.locations[0]?.path;
    return { turnId, activity, name: (activity === 'read' || activity === 'edit' ? path : undefined) ?? id };
  }
}

function isSameMember(a: Member, b: Member): boolean {
  return a.turnId === b.turnId && a.activity === b.activity && a.name === b.name;
}

function hasFailed({ status, decision, content }: ToolItem): boolean {
  if (!FOLDED.has(status) || (decision && decision.outcome !== 'allowed')) return true;
  return content.some(
    (part) => part.type === 'terminal' && ((part.terminal.exitCode ?? 0) !== 0 || part.terminal.signal),
  );
}

function isGroup({ members, names }: Fold): boolean {
  return members.length >= MIN_ENTRIES && [...names.values()].some(({ size }) => size > 0);
}

function foldId(turnId: string): string {
  return `fold:${turnId}`;
}
