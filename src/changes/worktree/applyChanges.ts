// Applies one folder's changes to another by lines, without touching differing content there.
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
  /** Skipped in part or whole: the folder has other lines there. */
  readonly conflicts: readonly ReviewProblem[];
  readonly failed: readonly ReviewProblem[];
}

/** One step of the editor's Undo. Applied content is skipped, so it can be repeated. */
export async function applyChanges({ changes, states, from, to, files }: ApplyOptions): Promise<ApplyResult> {
  const result = { applied: [] as string[], conflicts: [] as ReviewProblem[], failed: [] as ReviewProblem[] };
  const texts = new FileTexts(states, from);
  const sourceLocation = ({ root, path, oldPath }: Change) => ({ root, path: oldPath ?? path });
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
        if (edits.length > 0) result.applied.push(sourceLocation(change).path);
      },
      conflict: ({ change }, why) => result.conflicts.push({ ...sourceLocation(change), why }),
      failed: ({ change }, why) => result.failed.push({ ...sourceLocation(change), why }),
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

function reversed({ path, oldPath, before, after }: FileChange, root: string): Change {
  return {
    root,
    path: oldPath ?? path,
    oldPath: oldPath !== undefined ? path : undefined,
    before: after,
    after: before,
  };
}
