// Finds a repository's entry of a worktree, without running git.
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { findRepository } from '../git/repository';

/** Paths are absolute. */
export interface Worktree {
  /** The user's folder that it replaces. */
  readonly folder: string;
  readonly top: string;
  readonly place: string;
  /** The counterpart of `folder` in the worktree. */
  readonly cwd: string;
  /** Such as `parley/fix-tests`. */
  readonly branch: string;
  readonly commit: string;
}

export interface WorktreeEntry {
  readonly gitDir: string;
  readonly commonDir: string;
}

export async function commonDirOf({ top }: Pick<Worktree, 'top'>): Promise<string | undefined> {
  return (await realpath(top).then(findRepository, () => undefined))?.commonDir;
}

/** Also finds the entry if the folder is missing. Undefined without an entry or repository. */
export async function findEntry(worktree: Pick<Worktree, 'top' | 'place'>): Promise<WorktreeEntry | undefined> {
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return undefined;
  const entriesFolder = join(commonDir, 'worktrees');
  const wanted = await resolvedGitFile(worktree.place);
  for (const name of await readdir(entriesFolder).catch(() => [])) {
    const gitDir = join(entriesFolder, name);
    const target = await readFile(join(gitDir, 'gitdir'), 'utf8').catch(() => undefined);
    // Relative to the entry with `worktree.useRelativePaths`.
    if (target !== undefined && (await resolvedGitFile(dirname(resolve(gitDir, target.trim())))) === wanted)
      return { gitDir, commonDir };
  }
  return undefined;
}

export async function isLinkedTo({ place }: Pick<Worktree, 'place'>, { gitDir }: WorktreeEntry): Promise<boolean> {
  const real = await realpath(place);
  const found = await findRepository(real);
  return found?.top === real && (await realpath(found.gitDir)) === (await realpath(gitDir));
}

/** The `.git` file of a worktree, with links in its parent folder resolved. */
async function resolvedGitFile(place: string): Promise<string> {
  const folder = await realpath(dirname(place)).catch(() => dirname(place));
  return join(folder, basename(place), '.git');
}
