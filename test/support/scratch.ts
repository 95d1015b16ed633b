// Folders and small programs that live as long as one test.
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

export async function scratchFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-test-')));
  folders.push(folder);
  return folder;
}

/** A file in a folder, with permission to be executed unless told otherwise. @returns its path */
export async function scratchFile(folder: string, name: string, text: string, mode = 0o755): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode });
  return path;
}

export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

export async function removeScratch(): Promise<void> {
  for (const folder of folders.splice(0)) await removeFolder(folder);
}
