// The changes of a turn as a patch, for an agent that is to read them.
import type { FileChange, FileVersion } from '../../changes/model/fileChange';
import type { FolderStates } from '../../changes/model/folderStore';
import { lineDiff } from '../requests/lineDiff';
import { pathsOf } from './changedPaths';
import { boundedDiff, MAX_FILES } from './commitMessage';

/** Bytes of both versions of a file whose lines are shown. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns a patch much as `git diff` prints it, with absolute paths. Of many or large changes it has
 * the first lines of each file.
 * @throws ParleyError `state-gone`
 */
export async function turnPatch(files: readonly FileChange[], states: Pick<FolderStates, 'read'>): Promise<string> {
  let patch = '';
  for (const [index, change] of files.entries()) {
    const { root, before, after, isBinary } = change;
    const [now, old = now] = pathsOf(change);
    const textOf = async (version: FileVersion | undefined): Promise<string> =>
      version ? (await states.read(root, version)).toString() : '';
    const isRead = !isBinary && index < MAX_FILES && (before?.size ?? 0) + (after?.size ?? 0) < MAX_BYTES;
    const diff = isRead ? lineDiff(await textOf(before), await textOf(after)) : undefined;
    const hunks = diff?.hunks.flatMap(({ oldStart, newStart, lines }) => [`@@ -${oldStart} +${newStart} @@`, ...lines]);
    const names = `diff --git ${before ? old : '/dev/null'} ${after ? now : '/dev/null'}`;
    patch += [names, ...(hunks ?? []), ...(diff && !diff.truncated ? [''] : ['[cut]', ''])].join('\n');
  }
  return boundedDiff(patch);
}
