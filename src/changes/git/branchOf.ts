// Reads which branch a folder is on, without running git.
import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { findRepository } from './repository';

/** Bytes of a `HEAD`; longer ones name no branch. */
const MAX_HEAD = 1024;

/**
 * Returns the name of the branch, without `refs/heads/`.
 * @param folder absolute
 * @returns undefined where there is no repository, or no branch is checked out
 */
export async function branchOf(folder: string): Promise<string | undefined> {
  try {
    const found = await findRepository(await realpath(folder));
    if (!found) return undefined;
    const file = await open(join(found.gitDir, 'HEAD'));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD), 0, MAX_HEAD, 0);
      return /^ref: refs\/heads\/([^\r\n]+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
