// Worktrees of the user's repository for sessions: made and committed with the user's git.

import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { type Git, mustRunGit, runGit } from '../git/gitProcess';
import { discardWorktree } from './removeWorktree';
import type { Worktree } from './worktreeEntry';

/** A checkout of a large repository, and hooks of the user, take long; milliseconds. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_NAME = 40;
/** Worktrees of the same name. */
const MAX_SAME = 1000;

/** The commit that a folder is at. */
export interface Head {
  /** The top level of the repository; absolute. */
  readonly top: string;
  /** The path of the folder below `top`, with forward slashes; empty for the top level. */
  readonly prefix: string;
  readonly commit: string;
}

/**
 * Returns the commit that a folder is at.
 * @throws ParleyError `no-repository`, `no-commit`
 */
export async function headOf(git: Git, folder: string): Promise<Head> {
  const found = await runGit(git, {
    args: ['rev-parse', '--show-toplevel', '--show-prefix'],
    cwd: folder,
    timeoutMs: TIMEOUT_MS,
  });
  const [top, prefix] = found.stdout.toString('utf8').split('\n');
  if (found.code !== 0 || !top)
    throw new ParleyError('no-repository', localizable("{0} isn't in a Git repository.", folder));
  const head = await runGit(git, {
    args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'],
    cwd: folder,
    timeoutMs: TIMEOUT_MS,
  });
  if (head.code !== 0) throw new ParleyError('no-commit', localizable('The repository has no commit yet.'));
  return { top, prefix: (prefix ?? '').replace(/\/$/, ''), commit: head.stdout.toString('utf8').trim() };
}

export interface NewWorktree {
  /** The folder that it stands for; absolute. */
  readonly folder: string;
  /** Absolute path of the folder with all worktrees. */
  readonly storage: string;
  /** What it is called; a number is added where there is one of that name. */
  readonly name: string;
}

/**
 * Makes a worktree with a branch of its own, at the commit of the folder.
 * @throws ParleyError `no-repository`, `no-commit`, `git-failed`, `git-aborted`
 */
export async function addWorktree(
  git: Git,
  { folder, storage, name }: NewWorktree,
  signal?: AbortSignal,
): Promise<Worktree> {
  const { top, prefix, commit } = await headOf(git, folder);
  await mkdir(storage, { recursive: true, mode: 0o700 });
  const { branch, place } = await freeName(git, top, storage, slugOf(name));
  const worktree = { folder, top, place, cwd: join(place, prefix), branch, commit };
  try {
    await mustRunGit(git, {
      args: ['worktree', 'add', '--no-track', '-b', branch, place, commit],
      cwd: top,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
    // Git has no folders without files.
    await mkdir(worktree.cwd, { recursive: true });
  } catch (error) {
    // A hook that fails, and git if it is ended, leave both behind.
    await discardWorktree(git, worktree).catch(() => undefined); // why it failed is said
    throw error;
  }
  return worktree;
}

/** Commits all that is in a worktree to its branch. @throws ParleyError `no-changes`, `git-failed` */
export async function commitWorktree(
  git: Git,
  { place }: Pick<Worktree, 'place'>,
  message: string,
  signal?: AbortSignal,
): Promise<void> {
  const run = { cwd: place, signal, timeoutMs: TIMEOUT_MS };
  await mustRunGit(git, { ...run, args: ['add', '--all'] });
  const { code } = await runGit(git, { ...run, args: ['diff', '--cached', '--quiet'] });
  if (code === 0) throw new ParleyError('no-changes', localizable('There is nothing to commit.'));
  const args = ['commit', '--quiet', '--cleanup=whitespace', '--file=-'];
  await mustRunGit(git, { ...run, args, input: Buffer.from(message) });
}

/** A name for branches and folders. */
function slugOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  return [...plain].slice(0, MAX_NAME).join('').replace(/^-|-$/g, '') || 'session';
}

/** Returns a name that is free, and makes its folder. */
async function freeName(
  git: Git,
  top: string,
  storage: string,
  slug: string,
): Promise<Pick<Worktree, 'branch' | 'place'>> {
  for (let number = 1; number <= MAX_SAME; number++) {
    const name = number === 1 ? slug : `${slug}-${number}`;
    const branch = `parley/${name}`;
    const place = join(storage, `${basename(top)}-${name}`);
    const args = ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`];
    const { code } = await runGit(git, { args, cwd: top, timeoutMs: TIMEOUT_MS });
    if (code !== 0 && (await isMade(place))) return { branch, place };
  }
  throw new ParleyError('no-name', localizable('There are too many worktrees with this name.'));
}

/** Makes a folder: of two windows that want the same one, one gets it. @returns false if it is there */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
