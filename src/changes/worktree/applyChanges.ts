// Puts what changed in one folder into another one by lines, without touching what differs there.
import * as l10n from '@vscode/l10n';
import type { FileChange, FolderStates, WorkingFiles } from '../model/fileChange';
import { FileTexts } from '../review/fileTexts';
import type { ReviewProblem } from '../review/reviewFile';
import type { Change } from '../review/takeBack';
import { undoInSteps } from '../review/undoInSteps';

export interface ApplyOptions {
  readonly changes: readonly FileChange[];
  readonly states: FolderStates;
  readonly from: string;
  readonly to: string;
  readonly files: WorkingFiles;
}

export interface ApplyResult {
  readonly applied: readonly string[];
  /** Files left out in part or whole: the folder has other lines there. */
  readonly conflicts: readonly ReviewProblem[];
  readonly failed: readonly ReviewProblem[];
}

/**
 * Applies changes as one step of the editor's Undo. Existing content is left, so the same can be
 * applied again after more work.
 */
export async function applyChanges({ changes, states, from, to, files }: ApplyOptions): Promise<ApplyResult> {
  const result = { applied: [] as string[], conflicts: [] as ReviewProblem[], failed: [] as ReviewProblem[] };
  const texts = new FileTexts(states, from);
  const placeOf = ({ root, path, oldPath }: Change) => ({ root, path: oldPath ?? path });
  // It may still exist in the worktree, ignored.
  const [unread, known] = [changes.filter(isUnread), changes.filter((change) => !isUnread(change))];
  for (const { path } of unread) result.conflicts.push({ root: to, path, why: 'was-there' });
  const items = known.map((change) => ({ change: reversed(change, to), part: {} }));
  await undoInSteps(
    items,
    files,
    () => texts,
    {
      undone: async ({ change }, { edits }) => {
        if (edits.length > 0) result.applied.push(placeOf(change).path);
      },
      conflict: ({ change }, why) => result.conflicts.push({ ...placeOf(change), why }),
      failed: ({ change }, why) => result.failed.push({ ...placeOf(change), why }),
    },
    l10n.t('Apply changes of the agent'),
  );
  return { ...result, applied: result.applied.sort() };
}

export function tryChanges(options: ApplyOptions): Promise<ApplyResult> {
  const { files } = options;
  return applyChanges({ ...options, files: { read: (path) => files.read(path), apply: async () => [] } });
}

function isUnread({ after, wasThere }: FileChange): boolean {
  return wasThere === true && !after;
}

/** Applying a change is taking back its reverse. */
function reversed({ path, oldPath, before, after }: FileChange, root: string): Change {
  return {
    root,
    path: oldPath ?? path,
    oldPath: oldPath !== undefined ? path : undefined,
    before: after,
    after: before,
  };
}
