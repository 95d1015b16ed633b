// Worktrees of the user's repository for sessions: made and committed with the user's git.

import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { type Git, mustRunGit, runGit } from '../git/gitProcess';
import { discardWorktree } from './removeWorktree';
import type { Worktree } from './worktreeEntry';

/** Large checkouts and hooks take long; ms. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_NAME = 40;
const MAX_SAME = 1000;

export interface Head {
  readonly top: string;
  /** Path below `top`, with forward slashes; empty for the top level. */
  readonly prefix: string;
  readonly commit: string;
}

/** @throws ParleyError `no-repository`, `no-commit` */
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
  readonly folder: string;
  readonly storage: string;
  /** A number is added if the name is taken. */
  readonly name: string;
}

/**
 * Creates a worktree with its own branch, at the folder's commit.
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
    // Left behind by a failing hook, or an ended git.
    await discardWorktree(git, worktree).catch(() => undefined); // why it failed is said
    throw error;
  }
  return worktree;
}

/** @throws ParleyError `no-changes`, `git-failed` */
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

function slugOf(name: string): string {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  return [...plain].slice(0, MAX_NAME).join('').replace(/^-|-$/g, '') || 'session';
}

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

/**
 * Of two windows, only one creates the folder.
 * @returns false if it exists
 */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
