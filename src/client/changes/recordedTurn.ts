// What is known of the changes of one turn while it runs.
import type { FileChange, Snapshot, SnapshotGap } from '../../changes/model/fileChange';
import type { TurnChanges } from '../../session/events/event';
import { pathsOf } from './changedPaths';
import type { AgentCommand } from './namedFiles';
import type { ShownDiffs } from './shownDiffs';
import type { TakenState } from './stateSequence';

export interface RecordedTurn {
  readonly turnId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Resolves when the first state is known, or cannot be. Never rejects. */
  hasBegun: Promise<void>;
  /** The state at the start; undefined: not known (yet). */
  before?: Snapshot;
  /** The first state was taken when the agent may have written already. */
  isLate?: true;
  /** The agent has done something that may change files. */
  mayWrite?: true;
  /** The journal names the state at the start. */
  isNoted?: true;
  hasEnded?: true;
  /** An earlier window recorded its start. */
  readonly isResumed?: true;
  /** No state was taken between that and its end. */
  isUnseen?: true;
  /** What the user edited in earlier windows while it ran: absolute paths. */
  readonly yoursBefore?: readonly string[];
  /** When the next turn began, in milliseconds since 1970. */
  followedAt?: number;
  /** The newest state that was taken while it ran. */
  seen?: TakenState;
  /** What has changed so far. */
  soFar?: { readonly files: readonly FileChange[] };
  /** Files that it wrote through the client, absolute, and commands that it ran there. */
  readonly written: Set<string>;
  readonly commands: AgentCommand[];
  /** What its tool calls say they have written. */
  readonly shown: ShownDiffs;
}

/** Files and lines that changed. */
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

/** The states as an event names them; folders that are not in both are left out. */
export function foldersOf(before: Snapshot, after?: Snapshot): TurnChanges['folders'] {
  if (!after) return before.folders.map(({ root, tree }) => ({ root, before: tree }));
  return before.folders.flatMap(({ root, tree }) => {
    const then = after.folders.find((folder) => folder.root === root);
    return then ? [{ root, before: tree, after: then.tree }] : [];
  });
}

/** The states that an event names. `after` is undefined where the end was not seen. */
export function statesOf({ folders }: TurnChanges): { before: Snapshot; after: Snapshot | undefined } {
  const after = folders.flatMap(({ root, after: tree }) => (tree === undefined ? [] : [{ root, tree }]));
  return {
    before: { folders: folders.map(({ root, before: tree }) => ({ root, tree })), gaps: [] },
    after: after.length === folders.length ? { folders: after, gaps: [] } : undefined,
  };
}

/** Why more may have changed than two states show. */
export function gapOf(...snapshots: readonly Snapshot[]): TurnChanges['incomplete'] {
  const why = new Set<SnapshotGap['why']>(snapshots.flatMap(({ gaps }) => gaps.map((gap) => gap.why)));
  if (why.has('timeout') || why.has('failed')) return 'failed';
  if (why.has('too-large')) return 'too-large';
  if (why.has('repositories')) return 'repositories';
  return why.has('no-git') ? 'no-git' : undefined;
}

/** Returns whether all folders are in the same state. */
export function isSame(before: Snapshot, after: Snapshot): boolean {
  return foldersOf(before, after).every((folder) => folder.before === folder.after);
}

/** Returns which changed files of a turn may be the work of somebody else: absolute paths. */
export function unnamedOf(
  { unnamed, hasMoreUnnamed }: Pick<TurnChanges, 'unnamed' | 'hasMoreUnnamed'>,
  files: readonly FileChange[],
): ReadonlySet<string> {
  return new Set(hasMoreUnnamed ? files.flatMap(pathsOf) : unnamed);
}

/** Returns whether the end of a turn is known. */
export function isSettled({ folders }: TurnChanges): boolean {
  return folders.every(({ after }) => after !== undefined);
}
