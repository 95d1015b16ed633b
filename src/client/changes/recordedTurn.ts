// A turn's recorded changes while it runs.
import type { FileChange, Snapshot, SnapshotGap } from '../../changes/model/fileChange';
import type { TurnChanges } from '../../session/events/event';
import { pathsOf } from './changedPaths';
import type { AgentCommand } from './namedFiles';
import type { ShownDiffs } from './shownDiffs';
import type { TakenState } from './stateSequence';

export interface RecordedTurn {
  readonly turnId: string;
  readonly startedAt: number;
  /** Resolves when the first state was taken or is unavailable. Never rejects. */
  whenBegun: Promise<void>;
  before?: Snapshot;
  /** The agent may have written before the first state was taken. */
  isLate?: true;
  mayWrite?: true;
  isBeginStored?: true;
  hasEnded?: true;
  readonly isResumed?: true;
  /** Resumed, with no state taken before the turn ended. */
  isUnseen?: true;
  /** Absolute paths that the user edited in earlier windows, or before the turn. */
  yoursBefore?: readonly string[];
  /** When the next turn began, ms since 1970. */
  followedAt?: number;
  lastState?: TakenState;
  liveChanges?: { readonly files: readonly FileChange[] };
  /** Absolute paths written through the client. */
  readonly written: Set<string>;
  readonly commands: AgentCommand[];
  readonly diffs: ShownDiffs;
}

export interface ChangeTotal {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

export function totalOf(files: readonly FileChange[]): ChangeTotal {
  let [added, removed] = [0, 0];
  for (const file of files) {
    added += file.added;
    removed += file.removed;
  }
  return { files: files.length, added, removed };
}

/** Omits folders that aren't in both snapshots. */
export function foldersOf(before: Snapshot, after?: Snapshot): TurnChanges['folders'] {
  if (!after) return before.folders.map(({ root, tree }) => ({ root, before: tree }));
  return before.folders.flatMap(({ root, tree }) => {
    const then = after.folders.find((folder) => folder.root === root);
    return then ? [{ root, before: tree, after: then.tree }] : [];
  });
}

/** `after` is undefined if the end wasn't recorded. */
export function statesOf({ folders }: TurnChanges): { before: Snapshot; after: Snapshot | undefined } {
  const after = folders.flatMap(({ root, after: tree }) => (tree === undefined ? [] : [{ root, tree }]));
  return {
    before: { folders: folders.map(({ root, before: tree }) => ({ root, tree })), gaps: [] },
    after: after.length === folders.length ? { folders: after, gaps: [] } : undefined,
  };
}

/** Returns why the states may miss changes. */
export function gapOf(...snapshots: readonly Snapshot[]): TurnChanges['incomplete'] {
  const why = new Set<SnapshotGap['why']>(snapshots.flatMap(({ gaps }) => gaps.map((gap) => gap.why)));
  if (why.has('timeout') || why.has('failed')) return 'failed';
  if (why.has('too-large')) return 'too-large';
  if (why.has('repositories')) return 'repositories';
  return why.has('no-git') ? 'no-git' : undefined;
}

export function isSameSnapshot(before: Snapshot, after: Snapshot): boolean {
  return foldersOf(before, after).every((folder) => folder.before === folder.after);
}

/** Returns absolute paths of changed files that the agent didn't name. */
export function unnamedOf(
  { unnamed, hasMoreUnnamed }: Pick<TurnChanges, 'unnamed' | 'hasMoreUnnamed'>,
  files: readonly FileChange[],
): ReadonlySet<string> {
  return new Set(hasMoreUnnamed ? files.flatMap(pathsOf) : unnamed);
}

export function isSettled({ folders }: TurnChanges): boolean {
  return folders.every(({ after }) => after !== undefined);
}
