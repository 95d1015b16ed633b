// Writes file versions to disk, each atomically even if the process is killed.
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import type * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KeyedQueue } from '../../base/keyedQueue';
import { retryBusy } from '../../base/retryBusy';
import type { FileVersion } from '../model/fileChange';

const isWindows = process.platform === 'win32';
const { O_NOFOLLOW = 0 } = constants;
const NO_TEMPORARY_FILE: readonly unknown[] = ['EACCES', 'EBUSY', 'EPERM', 'EXDEV'];
/** By path, because a temporary file belongs to one write. */
const writes = new KeyedQueue<string>();

export type Disk = Pick<
  typeof fs,
  | 'chmod'
  | 'lstat'
  | 'mkdir'
  | 'open'
  | 'readFile'
  | 'readlink'
  | 'rename'
  | 'rmdir'
  | 'symlink'
  | 'unlink'
  | 'writeFile'
>;

export interface FileOnDisk {
  readonly content: Buffer;
  readonly mode: FileVersion['mode'];
  readonly bits: number;
}

/** Does not follow links; undefined if nothing exists. */
export async function statOnDisk(disk: Pick<Disk, 'lstat'>, path: string): Promise<Stats | undefined> {
  return disk.lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

export function fileMode(bits: number): FileVersion['mode'] {
  return !isWindows && (bits & 0o100) !== 0 ? '100755' : '100644';
}

/** Does not follow links. `other`: a device, pipe or socket. */
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
 * Atomic, through a temporary file. Keeps permissions except those to execute. A file with hard
 * links, another owner or in a read-only folder is overwritten in place, and restored if the disk
 * is full.
 * @throws the file system's error; EACCES for a read-only file, also as root
 */
export function writeOnDisk(
  disk: Disk,
  path: string,
  content: Buffer,
  mode: FileVersion['mode'],
  old: FileOnDisk | undefined,
): Promise<void> {
  return writes.run(path, () => writeExclusively(disk, path, content, mode, old));
}

async function writeExclusively(
  disk: Disk,
  path: string,
  content: Buffer,
  mode: FileVersion['mode'],
  old: FileOnDisk | undefined,
): Promise<void> {
  const bits = old && old.mode !== '120000' ? withMode(old, mode) : undefined;
  // Renaming, or root, would bypass the read-only flag.
  if (bits !== undefined && (bits & 0o222) === 0) throw Object.assign(new Error('read-only'), { code: 'EACCES' });
  if (bits !== undefined && mode !== '120000' && old?.content.equals(content)) {
    await disk.chmod(path, bits);
    return;
  }
  const temporary = temporaryPath(path);
  const made = await disk.mkdir(dirname(path), { recursive: true });
  const there = bits === undefined || mode === '120000' ? undefined : await statOnDisk(disk, path);
  try {
    await discardTemporary(disk, path);
    if (mode === '120000') await disk.symlink(content, temporary);
    else {
      await disk.writeFile(temporary, content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
      if (bits !== undefined) await disk.chmod(temporary, bits);
    }
    if (there && (await hasOtherLinks(disk, there, temporary))) await overwrite(disk, path, content, bits);
    else await retryBusy(() => disk.rename(temporary, path));
  } catch (error) {
    await discardTemporary(disk, path).catch(() => undefined);
    if (there?.isFile() && NO_TEMPORARY_FILE.includes((error as NodeJS.ErrnoException).code)) {
      await overwrite(disk, path, content, bits);
      return;
    }
    if (made !== undefined) await removeEmptyFolders(disk, dirname(made), dirname(path));
    throw error;
  }
}

async function hasOtherLinks(disk: Disk, old: Stats, temporary: string): Promise<boolean> {
  if (!old.isFile()) return false;
  if (old.nlink > 1) return true;
  const { uid, gid } = await disk.lstat(temporary);
  return old.uid !== uid || old.gid !== gid;
}

/** Writes the part past the old end first: only that needs space. */
async function overwrite(disk: Disk, path: string, content: Buffer, bits: number | undefined): Promise<void> {
  await discardTemporary(disk, path).catch(() => undefined);
  const file = await disk.open(path, constants.O_RDWR | O_NOFOLLOW);
  try {
    const old = await file.readFile();
    try {
      await writeAt(file, content.subarray(old.length), old.length);
      await writeAt(file, content.subarray(0, old.length), 0);
      await file.truncate(content.length);
    } catch (error) {
      await file.truncate(old.length);
      await writeAt(file, old, 0);
      throw error;
    }
    if (bits !== undefined) await file.chmod(bits);
  } finally {
    await file.close();
  }
}

async function writeAt(file: fs.FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}

/** Also deletes folders below `root` that become empty. */
export async function deleteOnDisk(disk: Disk, root: string, path: string): Promise<void> {
  await retryBusy(() => disk.unlink(path));
  await removeEmptyFolders(disk, root, dirname(path));
}

export async function removeEmptyFolders(disk: Pick<Disk, 'rmdir'>, root: string, folder: string): Promise<void> {
  for (let at = folder; at.length > root.length && at.startsWith(root); at = dirname(at)) {
    const isRemoved = await disk.rmdir(at).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (!isRemoved) return;
  }
}

export async function discardTemporary(disk: Disk, path: string): Promise<void> {
  await disk.unlink(temporaryPath(path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  });
}

/** Throws if the disk is full: VS Code saves in place, and would truncate the document. */
export function requireRoom(disk: Pick<Disk, 'unlink' | 'writeFile'>, path: string, content: Buffer): Promise<void> {
  return writes.run(path, async () => {
    const temporary = temporaryPath(path);
    try {
      await disk.writeFile(temporary, content);
    } catch (error) {
      // If no file can be created, the free space is unknown.
      if (!NO_TEMPORARY_FILE.includes((error as NodeJS.ErrnoException).code)) throw error;
    } finally {
      await disk.unlink(temporary).catch(() => undefined);
    }
  });
}

export function temporaryPath(path: string): string {
  const name = createHash('sha256').update(basename(path)).digest('hex').slice(0, 16);
  return join(dirname(path), `.parley-${name}.tmp`);
}

function withMode({ bits, mode: was }: Pick<FileOnDisk, 'bits' | 'mode'>, mode: FileVersion['mode']): number {
  if (was === mode) return bits;
  return mode === '100755' ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;
}
