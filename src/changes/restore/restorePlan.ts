// What a restore will change, and what it leaves out.
import { join } from 'node:path';
import type { FileChange, Snapshot } from '../model/fileChange';
import type { FolderStates } from '../model/folderStore';
import type { WorkingFiles } from '../model/workingFiles';
import { isPlainPath } from '../review/safePath';
import type { AgentEdits } from './agentEdits';

/** Why a file is left out of a restore. Only `edited` and `protected` can be included. */
export type SkipReason =
  /** The user edited it since, as far as is known. */
  | 'edited'
  /** It tells an editor or an agent what to start. */
  | 'protected'
  /** An editor holds unsaved changes of it. */
  | 'unsaved'
  /** The store has only the hash of a version. */
  | 'not-kept'
  /** The path leads out of the folder, or into `.git`. */
  | 'unsafe';

/** A file that is left out. */
export interface SkippedChange {
  readonly change: FileChange;
  readonly why: SkipReason;
}

/** A restore that can be shown before it runs. */
export interface RestorePlan {
  /** The state that is gone back to. */
  readonly target: Snapshot;
  /** The state before the restore; with it the restore is undone. */
  readonly now: Snapshot;
  /** What will change, from `now` to `target`. */
  readonly changes: readonly FileChange[];
  readonly skipped: readonly SkippedChange[];
}

/** What planning needs. */
export interface PlanPorts {
  readonly states: FolderStates;
  readonly files: WorkingFiles;
  /** Returns whether writing a file, absolute, changes what programs start. */
  isProtected(path: string): Promise<boolean>;
}

/**
 * Plans to bring files back to an earlier state. Changes nothing.
 * @param now taken just before
 * @param agentEdits what the turns since `target` changed
 * @throws ParleyError `state-gone`
 */
export async function planRestore(
  ports: PlanPorts,
  target: Snapshot,
  now: Snapshot,
  agentEdits: AgentEdits,
  signal?: AbortSignal,
): Promise<RestorePlan> {
  const changes: FileChange[] = [];
  const skipped: SkippedChange[] = [];
  for (const change of await ports.states.changes(now, target, signal)) {
    signal?.throwIfAborted();
    const why = await skipReason(ports, change, agentEdits);
    if (why) skipped.push({ change, why });
    else changes.push(change);
  }
  return { target, now, changes, skipped };
}

/** Returns whether the user can include a file that is left out. */
export function canInclude(why: SkipReason): boolean {
  return why === 'edited' || why === 'protected';
}

async function skipReason(
  { files, isProtected }: PlanPorts,
  { root, path, oldPath, before, after }: FileChange,
  agentEdits: AgentEdits,
): Promise<SkipReason | undefined> {
  const paths = oldPath === undefined ? [path] : [oldPath, path];
  if (!paths.every(isPlainPath)) return 'unsafe';
  if (before?.isHashOnly || after?.isHashOnly) return 'not-kept';
  const full = paths.map((one) => join(root, one));
  for (const one of full) if ((await files.read(one).catch(() => undefined))?.isDirty) return 'unsaved';
  for (const one of full) if (await isProtected(one)) return 'protected';
  const isEdited =
    agentEdits.isEdited(root, oldPath ?? path, before) ||
    (oldPath !== undefined && agentEdits.isEdited(root, path, undefined));
  return isEdited ? 'edited' : undefined;
}
