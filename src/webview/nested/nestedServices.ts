// What the code about nested calls uses of the rest of the panel. It is loaded later, as a script of
// its own, so that it can share no module that has a state with the main script.
import type { ItemView, SessionMessage } from '../../panel/contract';
import type { EntryView } from '../entries/entryView';
import type { GroupCounts } from '../entries/groupEntry';
import type { StoredItem } from '../entries/itemStore';
import type { CallGroups, CallGroupsOptions } from './callGroups';

export interface NestedServices {
  stored(index: number): StoredItem | undefined;
  /** These items stay in memory, as they are shown far from their own places. */
  readonly held: Set<number>;
  /** Creates the view of an item. */
  create(index: number): EntryView;
  createGroup(id: string, counts: () => GroupCounts, toggle: () => void): EntryView;
  createGroupLine(isOpen: boolean, counts: GroupCounts, toggle: () => void): HTMLElement;
  groups(options: CallGroupsOptions): CallGroups;
  /** The calls in which a nested one asks for a permission. */
  asking(): ReadonlySet<number>;
  /** Returns whether an item is drawn in its call. */
  hides(index: number): boolean;
  post(message: SessionMessage): void;
  isExpanded(id: string): boolean | undefined;
  setExpanded(id: string, expanded: boolean): void;
  /** The user folds or unfolds something. */
  unpin(): void;
  /** The height of an entry changes. */
  hold(): void;
}

export type ToolItem = Extract<ItemView, { kind: 'tool' }>;
