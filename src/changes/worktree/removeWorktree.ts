// Removes worktrees: the only way in which the folder of one is deleted.
import { lstat, rm } from 'node:fs/promises';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { type Git, runGit } from '../git/gitProcess';
import { hasOwnCommits, type Loss, lossesOf } from './losses';
import { commonDirOf, findEntry, type Worktree } from './worktreeEntry';

/** Milliseconds. */
const TIMEOUT_MS = 10 * 60_000;

/** Removed, or what would have been lost. */
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
  const commonDir = await commonDirOf(worktree);
  if (commonDir === undefined) return { hasBranch: false };
  const { branch } = worktree;
  const run = { cwd: commonDir, env: { GIT_DIR: commonDir }, timeoutMs: TIMEOUT_MS };
  if (await hasOwnCommits(git, branch, run)) return { hasBranch: true };
  await runGit(git, { ...run, args: ['branch', '--quiet', '-D', branch] });
  return { hasBranch: false };
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
