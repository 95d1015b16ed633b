// Checks a path before a file there is read, written or deleted: it may come from a store that
// something else wrote to, and folders may have become links since.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isWindowsFilePath, plainParts } from '../../base/pathNames';

/**
 * Returns whether a file lies in its folder and nothing on the way is a link: a store of git has no
 * paths that lead through links. The file itself may be a link; then it is meant, not its target.
 * Nothing in a `.git` passes, however it is spelled.
 * @param root absolute; links in it are fine
 * @param path relative, with forward slashes
 */
export async function isSafePath(root: string, path: string): Promise<boolean> {
  if (!isPlainPath(path)) return false;
  const parts = path.split('/');
  let folder = root;
  for (const part of parts.slice(0, -1)) {
    folder = join(folder, part);
    const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => error.code ?? 'EIO');
    if (typeof found === 'string') return ['ENOENT', 'ENOTDIR'].includes(found);
    if (found.isSymbolicLink()) return false;
  }
  return true;
}

/** Returns whether a path, as it is written, stays in its folder and out of `.git`. */
export function isPlainPath(path: string): boolean {
  if (path === '' || path.includes('\0')) return false;
  if (process.platform === 'win32' && (/[\\:]/.test(path) || !isWindowsFilePath(path))) return false;
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return false;
  // Most paths need no closer look.
  if (/^[ -~]*$/.test(path) && !/git/i.test(path)) return true;
  return !plainParts(path).some((part) => part === '.git' || /^git~\d+$/.test(part));
}
