// The paths of changed files.
import { dirname, join } from 'node:path';
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

/** Returns whether a path, or a folder around it, is among others. All are absolute. */
export function isOrIsIn(path: string, others: ReadonlySet<string>): boolean {
  for (let place = path; ; place = dirname(place)) {
    if (others.has(place)) return true;
    if (dirname(place) === place) return false;
  }
}
