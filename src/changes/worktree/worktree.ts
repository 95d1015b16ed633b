// Creates, commits and removes worktrees for sessions, with the user's git.

import { lstat, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { findGit, type Git, mustRunGit, runGit } from '../git/gitProcess';
import { hasUniqueCommits, type Loss, lossesOf } from './losses';
import { commonDirOf, findEntry, type Worktree } from './worktreeEntry';

/** In ms; large checkouts and hooks take long. */
const TIMEOUT_MS = 10 * 60_000;
const MAX_NAME = 40;
const MAX_NUMBER = 1000;

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

/** Throws ParleyError `no-repository`, `no-commit`, `git-failed`, `git-aborted`. */
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
    // Git has no empty folders.
    await mkdir(worktree.cwd, { recursive: true });
  } catch (error) {
    await discardWorktree(git, worktree).catch(() => undefined); // the cause is thrown
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
  for (let number = 1; number <= MAX_NUMBER; number++) {
    const name = number === 1 ? slug : `${slug}-${number}`;
    const branch = `parley/${name}`;
    const place = join(storage, `${basename(top)}-${name}`);
    const args = ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`];
    const { code } = await runGit(git, { args, cwd: top, timeoutMs: TIMEOUT_MS });
    if (code !== 0 && (await createFolder(place))) return { branch, place };
  }
  throw new ParleyError('no-name', localizable('There are too many worktrees with this name.'));
}

/** Atomic between windows. Returns false if the folder exists. */
async function createFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Would redirect git to another repository (`git rev-parse --local-env-vars`). */
const REPOSITORY_VARIABLES = new Set([
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
    if (value !== undefined && !REPOSITORY_VARIABLES.has(name)) own[name] = value;
  return { program: found.program, env: { ...own, GIT_TERMINAL_PROMPT: '0', GIT_LITERAL_PATHSPECS: '1' } };
}

export type Removal = { readonly hasBranch: boolean } | { readonly losses: readonly Loss[] };

/**
 * Returns losses unless `agreed` covers them. A branch with unique commits stays. Throws
 * ParleyError `git-failed`, `git-aborted`.
 */
export async function removeWorktree(
  git: Git,
  worktree: Worktree,
  agreed: readonly Loss[] | 'all' = [],
  signal?: AbortSignal,
): Promise<Removal> {
  const losses = agreed === 'all' ? undefined : await lossesOf(git, worktree, signal);
  if (losses && !areAgreed(losses, agreed)) return { losses };
  await removeFolder(git, worktree, losses?.length === 0);
  if (await keepsBranch(git, worktree)) return { hasBranch: true };
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return { hasBranch: false };
  const run = { cwd: commonDir, env: { GIT_DIR: commonDir }, timeoutMs: TIMEOUT_MS };
  await runGit(git, { ...run, args: ['branch', '--quiet', '-D', worktree.branch] });
  return { hasBranch: false };
}

/** True if the branch has unique commits. */
export async function keepsBranch(git: Git, worktree: Worktree): Promise<boolean> {
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return false;
  return hasUniqueCommits(git, worktree.branch, {
    cwd: commonDir,
    env: { GIT_DIR: commonDir },
    timeoutMs: TIMEOUT_MS,
  });
}

export function areAgreed(losses: readonly Loss[], agreed: readonly Loss[] | 'all'): boolean {
  if (agreed === 'all') return true;
  return losses.every(({ kind, names }) => {
    const agreedLoss = agreed.find((one) => one.kind === kind);
    return agreedLoss !== undefined && names.every((name) => agreedLoss.names.includes(name));
  });
}

/** Removes an incomplete worktree, and its branch if new. Throws ParleyError `git-failed`. */
export async function discardWorktree(git: Git, worktree: Worktree): Promise<void> {
  const { top, branch, commit } = worktree;
  await removeFolder(git, worktree, false);
  const args = ['update-ref', '-d', `refs/heads/${branch}`, commit];
  await runGit(git, { args, cwd: top, timeoutMs: TIMEOUT_MS });
}

/** Removes only the folder and its entry; `git worktree prune` would remove others too. */
async function removeFolder(git: Git, worktree: Worktree, isLossless: boolean): Promise<void> {
  const { place } = worktree;
  const entry = await findEntry(worktree);
  const isLink = await lstat(place).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (entry && !isLink) {
    const run = { cwd: entry.commonDir, env: { GIT_DIR: entry.commonDir }, timeoutMs: TIMEOUT_MS };
    // A single --force keeps a locked one.
    const force = isLossless ? [] : ['--force', '--force'];
    const { code, stderr } = await runGit(git, { ...run, args: ['worktree', 'remove', ...force, place] });
    if (code === 0) return;
    if (isLossless)
      throw new ParleyError('git-failed', localizable('Git failed: {0}', `worktree: ${stderr.trim() || code}`));
  }
  if (isLossless) return;
  // Git leaves a folder that is no longer a worktree. Links are removed, not their targets.
  await rm(place, { recursive: true, force: true });
  if (entry) await rm(entry.gitDir, { recursive: true, force: true });
}
