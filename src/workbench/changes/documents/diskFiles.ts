// Reads and writes files on disk as bytes, and symbolic links as links.

import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { access, open, readlink, rm, rmdir } from 'node:fs/promises';
import { ParleyError } from '../../../base/errors';
import { localizable } from '../../../base/localizable';
import { succeeds } from '../../../base/within';
import type { FileVersion } from '../../../changes/model/fileChange';
import { fileMode, readOnDisk, statOnDisk, writeOnDisk } from '../../../changes/restore/disk';

/** Maximum file size, bytes; stored contents of changed files are much smaller. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Not available on Windows. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export interface DiskFile {
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
}

/** @returns undefined if there is neither a file nor a link @throws ParleyError `file-too-large` */
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

/** Returns whether the file has a write permission, which users remove on purpose. */
export async function isWritable(path: string): Promise<boolean> {
  const found = await statOnDisk(fs, path);
  if (!found?.isFile()) return true;
  if ((found.mode & 0o222) === 0) return false;
  return succeeds(access(path, constants.W_OK));
}

export async function writeDiskFile(path: string, { content, mode }: DiskFile): Promise<void> {
  const found = await readOnDisk(fs, path);
  if (found === 'other') throw new ParleyError('file-unwritable', localizable("{0} isn't a regular file.", path));
  if (found === 'folder') await rmdir(path); // if empty
  await writeOnDisk(fs, path, content, mode, found === 'folder' ? undefined : found);
}

export async function deleteDiskFile(path: string): Promise<void> {
  await rm(path, { force: true });
}
