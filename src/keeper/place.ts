// Where a keeper listens: a folder that only its user can read, with a socket in it. A path too long
// for a socket is replaced by one in a folder of its own. On Windows it is a named pipe.
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The longest path of a socket that every system takes, in bytes. */
const MAX_SOCKET_PATH = 100;
const IS_WINDOWS = process.platform === 'win32';

export interface Place {
  readonly folder: string;
  readonly socket: string;
  readonly socketFolder?: string | undefined;
}

/** Makes the folder of a keeper. */
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

/** Makes a folder for this user only. @throws Error if it belongs to another user */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (IS_WINDOWS) return;
  if ((await stat(folder)).uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
  await chmod(folder, 0o700);
}
