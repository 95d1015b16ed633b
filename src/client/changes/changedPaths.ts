// The paths of changed files.
import { join } from 'node:path';
import type { FileChange } from '../../changes/model/fileChange';

type Place = Pick<FileChange, 'root' | 'path' | 'oldPath'>;

/** The absolute path of a file, as it is called after the change. */
export function pathOf({ root, path }: Place): string {
  return join(root, path);
}

/** The absolute paths of a file, before and after the change. */
export function pathsOf({ root, path, oldPath }: Place): readonly string[] {
  return oldPath === undefined ? [join(root, path)] : [join(root, path), join(root, oldPath)];
}
