// Absolute paths of changed files.
import { dirname, join } from 'node:path';
import type { FileChange } from '../../changes/model/fileChange';

type PathsOfChange = Pick<FileChange, 'root' | 'path' | 'oldPath'>;

export function pathOf({ root, path }: PathsOfChange): string {
  return join(root, path);
}

/** Returns a file's path after the change, and the one before it if the file was moved. */
export function pathsOf({ root, path, oldPath }: PathsOfChange): readonly string[] {
  return oldPath === undefined ? [join(root, path)] : [join(root, path), join(root, oldPath)];
}

/** Returns whether `others` contains a path or one of its parent folders. All are absolute. */
export function isCoveredBy(path: string, others: ReadonlySet<string>): boolean {
  for (let place = path; ; place = dirname(place)) {
    if (others.has(place)) return true;
    if (dirname(place) === place) return false;
  }
}
