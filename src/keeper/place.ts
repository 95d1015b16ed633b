// Where a keeper listens: a socket in a private folder, or a named pipe on Windows.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Longest socket path that all systems accept, bytes. */
const MAX_SOCKET_PATH = 100;
const IS_WINDOWS = process.platform === 'win32';

export interface Place {
  readonly folder: string;
  readonly socket: string;
  readonly socketFolder?: string | undefined;
}

export async function makePlace(all: string, id: string): Promise<Place> {
  await makePrivate(all);
  const folder = join(all, id);
  await mkdir(folder, { mode: 0o700 });
  if (IS_WINDOWS) return { folder, socket: `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}` };
  const socket = join(folder, 's');
  if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH) return { folder, socket };
  const base = Buffer.byteLength(tmpdir()) <= MAX_SOCKET_PATH - 20 ? tmpdir() : '/tmp';
  const socketFolder = await mkdtemp(join(base, 'parley-'));
  return { folder, socket: join(socketFolder, 's'), socketFolder };
}

export async function removePlace({ folder, socket, socketFolder }: Place): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  if (socketFolder !== undefined) await removeSocket(socket, socketFolder);
}

export async function removeSocket(socket: string, socketFolder: string): Promise<void> {
  if (dirname(socket) !== socketFolder) return;
  await unlink(socket).catch(() => {});
  await rmdir(socketFolder).catch(() => {});
}

/** Creates a folder with access for this user only. @throws Error if it belongs to another user */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (IS_WINDOWS) return;
  if ((await stat(folder)).uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
  await chmod(folder, 0o700);
}

/** Undefined if the process does not exist, or on Windows (see `ownBirth`). */
export async function identityOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return startedAt(pid);
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => ''),
      readFile(`/proc/${pid}/stat`, 'latin1'),
    ]);
    // The name in parentheses can contain anything, so fields are counted after the last one.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : `${boot.trim()}/${fields[18]}`;
  } catch {
    return undefined;
  }
}

function startedAt(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: 'C' } };
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], options, (error, stdout) => {
      resolve(error ? undefined : stdout.trim() || undefined);
    });
  });
}
