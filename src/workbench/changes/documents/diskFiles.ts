// Files on the disk, byte by byte. Links are read and written as links, never followed.

import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { access, chmod, mkdir, open, readlink, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ParleyError } from '../../../base/errors';
import { localizable } from '../../../base/localizable';
import type { FileVersion } from '../../../changes/model/fileChange';
import { fileMode, statOnDisk, withMode } from '../../../changes/restore/disk';

/** Larger files are not read, in bytes: what is kept of changed files is smaller by far. */
const MAX_BYTES = 64 * 1024 * 1024;
const isWindows = process.platform === 'win32';
/** Windows has neither; there, what is opened is what was looked at before. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A file or a link, as git tells them. */
export interface DiskFile {
  /** Of a link: where it points to. */
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
}

/**
 * @returns undefined where there is neither a file nor a link
 * @throws ParleyError `file-too-large`; the file system's error where it cannot be read
 */
export async function readDiskFile(path: string): Promise<DiskFile | undefined> {
  const found = await statOnDisk(fs, path);
  if (found?.isSymbolicLink()) return { content: await readlink(path, { encoding: 'buffer' }), mode: '120000' };
  if (!found?.isFile()) return undefined;
  const file = await open(path, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new ParleyError('file-too-large', localizable('{0} is too large.', path));
    return { content: await file.readFile(), mode: fileMode(found.mode) };
  } finally {
    await file.close();
  }
}

/** Returns whether a file may be changed: somebody who took the write bits away meant it. */
export async function isWritable(path: string): Promise<boolean> {
  const found = await statOnDisk(fs, path);
  if (!found?.isFile()) return true;
  if ((found.mode & 0o222) === 0) return false;
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Makes a file or a link what is given, with its folders. A file that is there stays the same file,
 * with its owner and its other links.
 * @throws the file system's error
 */
export async function writeDiskFile(path: string, { content, mode }: DiskFile): Promise<void> {
  const found = await statOnDisk(fs, path);
  if (found?.isDirectory()) await rmdir(path); // an empty one only
  await mkdir(dirname(path), { recursive: true });
  if (found?.isSymbolicLink() || (found && mode === '120000')) await rm(path);
  if (mode === '120000') {
    await symlink(content, path);
    return;
  }
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | O_NOFOLLOW);
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
  await setExecutable(path, mode === '100755');
}

/** Deletes a file or a link. @throws the file system's error */
export async function deleteDiskFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Sets whether a file can be run by those who can read it. */
export async function setExecutable(path: string, isExecutable: boolean): Promise<void> {
  if (isWindows) return;
  const found = await statOnDisk(fs, path);
  if (!found?.isFile() || (fileMode(found.mode) === '100755') === isExecutable) return;
  await chmod(path, withMode(found.mode & 0o777, isExecutable ? '100755' : '100644'));
}
