// Finds what a repository has on record of a worktree, without running git.
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { findRepository } from '../git/repository';

/** A worktree of the user's repository. All paths are absolute. */
export interface Worktree {
  /** The folder of the user that it stands for. */
  readonly folder: string;
  readonly top: string;
  readonly place: string;
  /** The folder in the worktree that is `folder` in the repository. */
  readonly cwd: string;
  /** Such as `parley/fix-tests`. */
  readonly branch: string;
  readonly commit: string;
}

export interface WorktreeEntry {
  /** The folder of the entry: has the worktree's `HEAD`, index and reflog. */
  readonly gitDir: string;
  /** Of the repository: has objects and branches. */
  readonly commonDir: string;
}

export async function commonDirOf({ top }: Pick<Worktree, 'top'>): Promise<string | undefined> {
  return (await realpath(top).then(findRepository, () => undefined))?.commonDir;
}

/**
 * Returns the entry of a worktree, also if its folder is missing.
 * @returns undefined if the repository has none, or is missing itself
 */
export async function findEntry(worktree: Pick<Worktree, 'top' | 'place'>): Promise<WorktreeEntry | undefined> {
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return undefined;
  const all = join(commonDir, 'worktrees');
  const wanted = await linkOf(worktree.place);
  for (const name of await readdir(all).catch(() => [])) {
    const gitDir = join(all, name);
    const target = await readFile(join(gitDir, 'gitdir'), 'utf8').catch(() => undefined);
    // Relative to the entry with `worktree.useRelativePaths`.
    if (target !== undefined && (await linkOf(dirname(resolve(gitDir, target.trim())))) === wanted)
      return { gitDir, commonDir };
  }
  return undefined;
}

export async function leadsTo({ place }: Pick<Worktree, 'place'>, { gitDir }: WorktreeEntry): Promise<boolean> {
  const real = await realpath(place);
  const found = await findRepository(real);
  return found?.top === real && (await realpath(found.gitDir)) === (await realpath(gitDir));
}

/** Returns the `.git` file of a worktree, with the links on the way to its folder followed. */
async function linkOf(place: string): Promise<string> {
  const folder = await realpath(dirname(place)).catch(() => dirname(place));
  return join(folder, basename(place), '.git');
}
