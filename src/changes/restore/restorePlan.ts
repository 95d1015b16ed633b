// What a restore will change, and what it leaves out.
import { join } from 'node:path';
import type { FileChange, FileVersion, Snapshot } from '../model/fileChange';
import type { FolderStates } from '../model/folderStore';
import type { WorkingFiles } from '../model/workingFiles';
import { isPlainPath } from '../review/safePath';
import { fileId } from '../review/waitingFiles';
import type { AgentEdits } from './agentEdits';

/** Why a file is left out of a restore. Only `edited`, `unnamed` and `protected` can be included. */
export type SkipReason =
  /** The user edited it since, as far as is known. */
  | 'edited'
  /** It was changed while the agent worked, and nothing that the agent did named it. */
  | 'unnamed'
  /** It may have been there before, where the state did not look. */
  | 'was-there'
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
  const differing = await ports.states.changes(now, target, signal);
  const versions = new Map<string, FileVersion | undefined>();
  for (const { root, path, oldPath, after } of differing) {
    if (oldPath !== undefined) versions.set(fileId(root, oldPath), undefined);
    versions.set(fileId(root, path), after);
  }
  for (const change of differing) {
    signal?.throwIfAborted();
    const why = await skipReason(ports, change, agentEdits, versions);
    if (why) skipped.push({ change, why });
    else changes.push(change);
  }
  return { target, now, ...keepHalves(changes, skipped, agentEdits) };
}

/** A file is not deleted here where what it was renamed from is not written there. */
function keepHalves(
  changes: readonly FileChange[],
  skipped: readonly SkippedChange[],
  agentEdits: AgentEdits,
): Pick<RestorePlan, 'changes' | 'skipped'> {
  const unwritten = skipped.filter(({ change }) => change.after);
  if (unwritten.length === 0) return { changes, skipped };
  const halves = changes.flatMap((change) => {
    if (change.after) return [];
    const other = unwritten.find(
      (one) => one.change.root === change.root && agentEdits.isRenamed(change.root, change.path, one.change.path),
    );
    return other ? [{ change, why: other.why }] : [];
  });
  const left = new Set(halves.map(({ change }) => change));
  return { changes: changes.filter((change) => !left.has(change)), skipped: [...skipped, ...halves] };
}

/** Returns whether the user can include a file that is left out. */
export function canInclude(why: SkipReason): boolean {
  return why === 'edited' || why === 'unnamed' || why === 'protected';
}

async function skipReason(
  { files, isProtected }: PlanPorts,
  { root, path, oldPath, before, after, wasThere }: FileChange,
  agentEdits: AgentEdits,
  target: ReadonlyMap<string, FileVersion | undefined>,
): Promise<SkipReason | undefined> {
  const paths = oldPath === undefined ? [path] : [oldPath, path];
  if (!paths.every(isPlainPath)) return 'unsafe';
  if (wasThere && !after) return 'was-there';
  if (before?.isHashOnly || after?.isHashOnly) return 'not-kept';
  const full = paths.map((one) => join(root, one));
  for (const one of full) if ((await files.read(one).catch(() => undefined))?.isDirty) return 'unsaved';
  for (const one of full) if (await isProtected(one)) return 'protected';
  const owners = [agentEdits.ownerOf(root, oldPath ?? path, before, target)];
  if (oldPath !== undefined) owners.push(agentEdits.ownerOf(root, path, undefined, target));
  if (owners.includes('user')) return 'edited';
  return owners.includes('unnamed') ? 'unnamed' : undefined;
}
