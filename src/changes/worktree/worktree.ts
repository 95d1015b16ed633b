// Worktrees of the user's repository for sessions: made and committed with the user's git.

import { lstat, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { findGit, type Git, mustRunGit, runGit } from '../git/gitProcess';
import { hasOwnCommits, type Loss, lossesOf } from './losses';
import { commonDirOf, findEntry, type Worktree } from './worktreeEntry';

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

interface NewWorktree {
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

/** Of two windows, only one creates the folder. @returns false if it exists */
async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Would lead git to another repository (`git rev-parse --local-env-vars`). */
const OF_A_REPOSITORY = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

export async function findUserGit(env: NodeJS.ProcessEnv): Promise<Git> {
  const found = await findGit(env);
  if (!found) throw new ParleyError('no-git', localizable("Git isn't installed, or isn't on the PATH."));
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !OF_A_REPOSITORY.has(name)) own[name] = value;
  return { program: found.program, env: { ...own, GIT_TERMINAL_PROMPT: '0', GIT_LITERAL_PATHSPECS: '1' } };
}

export type Removal = { readonly hasBranch: boolean } | { readonly losses: readonly Loss[] };

/**
 * Removes a worktree unless something would be lost that the user has not agreed to lose. Its
 * branch stays if only it has some commits.
 * @param agreed losses as returned before
 * @throws ParleyError `git-failed`, `git-aborted`
 */
export async function removeWorktree(
  git: Git,
  worktree: Worktree,
  agreed: readonly Loss[] | 'all' = [],
  signal?: AbortSignal,
): Promise<Removal> {
  const losses = agreed === 'all' ? undefined : await lossesOf(git, worktree, signal);
  if (losses && !areAgreed(losses, agreed)) return { losses };
  await takeAway(git, worktree, losses?.length === 0);
  if (await keepsBranch(git, worktree)) return { hasBranch: true };
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return { hasBranch: false };
  const run = { cwd: commonDir, env: { GIT_DIR: commonDir }, timeoutMs: TIMEOUT_MS };
  await runGit(git, { ...run, args: ['branch', '--quiet', '-D', worktree.branch] });
  return { hasBranch: false };
}

/** Returns whether removing the worktree leaves its branch: only it has some commits. */
export async function keepsBranch(git: Git, worktree: Worktree): Promise<boolean> {
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return false;
  return hasOwnCommits(git, worktree.branch, {
    cwd: commonDir,
    env: { GIT_DIR: commonDir },
    timeoutMs: TIMEOUT_MS,
  });
}

export function areAgreed(losses: readonly Loss[], agreed: readonly Loss[] | 'all'): boolean {
  if (agreed === 'all') return true;
  return losses.every(({ kind, names }) => {
    const known = agreed.find((one) => one.kind === kind);
    return known !== undefined && names.every((name) => known.names.includes(name));
  });
}

/**
 * Removes an incomplete, unused worktree, with its branch if that is new.
 * @throws ParleyError `git-failed` if its folder stays
 */
export async function discardWorktree(git: Git, worktree: Worktree): Promise<void> {
  const { top, branch, commit } = worktree;
  await takeAway(git, worktree, false);
  const args = ['update-ref', '-d', `refs/heads/${branch}`, commit];
  await runGit(git, { args, cwd: top, timeoutMs: TIMEOUT_MS });
}

/** Removes the folder and its entry only; `git worktree prune` would remove others too. */
async function takeAway(git: Git, worktree: Worktree, isLossless: boolean): Promise<void> {
  const { place } = worktree;
  const entry = await findEntry(worktree);
  const isLink = await lstat(place).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (entry && !isLink) {
    const run = { cwd: entry.commonDir, env: { GIT_DIR: entry.commonDir }, timeoutMs: TIMEOUT_MS };
    // Once leaves a locked one.
    const force = isLossless ? [] : ['--force', '--force'];
    const { code, stderr } = await runGit(git, { ...run, args: ['worktree', 'remove', ...force, place] });
    if (code === 0) return;
    if (isLossless)
      throw new ParleyError('git-failed', localizable('Git failed: {0}', `worktree: ${stderr.trim() || code}`));
  }
  if (isLossless) return;
  // Git leaves a folder that is no longer a worktree. Of a link, only the link is removed.
  await rm(place, { recursive: true, force: true });
  if (entry) await rm(entry.gitDir, { recursive: true, force: true });
}
