// Writes versions of files to the disk, each in one step that a kill does not leave half done.
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';
import type { FileVersion } from '../model/fileChange';

const isWindows = process.platform === 'win32';

/** The functions of the file system that a restore uses. */
export type Disk = Pick<
  typeof fs,
  'chmod' | 'lstat' | 'mkdir' | 'readFile' | 'readlink' | 'rename' | 'rmdir' | 'symlink' | 'unlink' | 'writeFile'
>;

/** A file as it is on the disk. */
export interface FileOnDisk {
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
  /** Permissions. */
  readonly bits: number;
}

/** What is at a path, without following a link; undefined where nothing is. */
export async function statOnDisk(disk: Pick<Disk, 'lstat'>, path: string): Promise<Stats | undefined> {
  return disk.lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** The mode of a file with these permissions, as git tells it. Windows has no executable files. */
export function fileMode(bits: number): FileVersion['mode'] {
  return !isWindows && (bits & 0o100) !== 0 ? '100755' : '100644';
}

/**
 * Reads a file without following a link.
 * @returns undefined where there is nothing; `folder` where there is one; `other` for a device, a
 * pipe or a socket
 */
export async function readOnDisk(disk: Disk, path: string): Promise<FileOnDisk | undefined | 'folder' | 'other'> {
  const found = await statOnDisk(disk, path);
  if (!found) return undefined;
  if (found.isDirectory()) return 'folder';
  const bits = found.mode & 0o777;
  if (found.isSymbolicLink()) {
    return { content: Buffer.from(await disk.readlink(path, { encoding: 'buffer' })), mode: '120000', bits };
  }
  if (!found.isFile()) return 'other';
  return { content: await disk.readFile(path), mode: fileMode(bits), bits };
}

/**
 * Writes a file: beside it first, then it takes the place, so that it is there as a whole or not at
 * all. Makes folders that are missing. Permissions of the file that was there stay, but for those to
 * execute it.
 * @param old what is there now
 * @throws the file system's error
 */
export async function writeOnDisk(
  disk: Disk,
  path: string,
  content: Buffer,
  mode: FileVersion['mode'],
  old: FileOnDisk | undefined,
): Promise<void> {
  const bits = old && old.mode !== '120000' ? withMode(old.bits, mode) : undefined;
  if (bits !== undefined && mode !== '120000' && old?.content.equals(content)) {
    await disk.chmod(path, bits);
    return;
  }
  const beside = pathBeside(path);
  const made = await disk.mkdir(dirname(path), { recursive: true });
  await discardBeside(disk, path);
  try {
    if (mode === '120000') await disk.symlink(content, beside);
    else {
      await disk.writeFile(beside, content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
      if (bits !== undefined) await disk.chmod(beside, bits);
    }
    await retryBusy(() => disk.rename(beside, path));
  } catch (error) {
    await discardBeside(disk, path).catch(() => undefined);
    if (made !== undefined) await removeEmptyFolders(disk, dirname(made), dirname(path));
    throw error;
  }
}

/**
 * Deletes a file, and the folders that are empty then.
 * @param root stays, absolute
 * @throws the file system's error, if the file cannot be deleted
 */
export async function deleteOnDisk(disk: Disk, root: string, path: string): Promise<void> {
  await retryBusy(() => disk.unlink(path));
  await removeEmptyFolders(disk, root, dirname(path));
}

/** Removes a folder and those above it, as long as they are empty and below `root`. */
export async function removeEmptyFolders(disk: Pick<Disk, 'rmdir'>, root: string, folder: string): Promise<void> {
  for (let at = folder; at.length > root.length && at.startsWith(root); at = dirname(at)) {
    const isGone = await disk.rmdir(at).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (!isGone) return;
  }
}

/** Removes what a killed run left beside a file. */
export async function discardBeside(disk: Disk, path: string): Promise<void> {
  await disk.unlink(pathBeside(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  });
}

/** Where a file is written before it takes its place: the same for the same file. */
export function pathBeside(path: string): string {
  const name = createHash('sha256').update(basename(path)).digest('hex').slice(0, 16);
  return join(dirname(path), `.parley-${name}.tmp`);
}

/** Permissions as they were; whoever may read may execute, or nobody. */
export function withMode(bits: number, mode: FileVersion['mode']): number {
  return mode === '100755' ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;
}
