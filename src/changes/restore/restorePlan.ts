// Decides what a restore changes and what it skips.
import { join } from 'node:path';
import type { FileChange, FileVersion, FolderStates, Snapshot, WorkingFiles } from '../model/fileChange';
import { isPlainPath } from '../review/reviewFile';
import { fileId } from '../review/waitingFiles';
import type { AgentEdits } from './agentEdits';

export type SkipReason =
  | 'edited'
  | 'unnamed'
  /** It may have existed before: the state did not cover it. */
  | 'was-there'
  /** It configures which programs an editor or agent starts. */
  | 'protected'
  | 'unsaved'
  | 'not-kept'
  | 'unsafe';

export interface SkippedChange {
  readonly change: FileChange;
  readonly why: SkipReason;
}

export interface RestorePlan {
  readonly target: Snapshot;
  /** The state before; restoring it undoes the restore. */
  readonly now: Snapshot;
  readonly changes: readonly FileChange[];
  readonly skipped: readonly SkippedChange[];
}

export interface PlanPorts {
  readonly states: FolderStates;
  readonly files: WorkingFiles;
  /** Whether the file affects which programs start. */
  isProtected(path: string): Promise<boolean>;
}

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
  return { target, now, ...skipHalfRenames(changes, skipped, agentEdits) };
}

/** Skips deletions of files whose former rename source is not written. */
function skipHalfRenames(
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
