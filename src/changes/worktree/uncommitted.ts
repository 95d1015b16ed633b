// Lists a folder's uncommitted files and copies them into a worktree.
import type { Stats } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { type Git, mustRunGit, runGit } from '../git/gitProcess';
import { pathText, splitRecords } from '../git/records';
import { isSafePath } from '../review/reviewFile';
import type { Worktree } from './worktreeEntry';

const TIMEOUT_MS = 120_000;
/** In bytes; a larger diff is reduced to the list of files. */
const MAX_DIFF = 8 * 1024 * 1024;
const MAX_COMMITS = 10;

/** Without ignored files and nested repositories. Paths below `top`, with forward slashes. */
export async function uncommittedFiles(git: Git, top: string, signal?: AbortSignal): Promise<readonly string[]> {
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all'];
  const records = await splitRecords(await mustRunGit(git, { args, cwd: top, signal, timeoutMs: TIMEOUT_MS }));
  return pathsOf(records.map((record) => record.subarray(3)));
}

export async function filesChangedSince(git: Git, folder: string, commit: string): Promise<readonly string[]> {
  const run = { cwd: folder, timeoutMs: TIMEOUT_MS };
  const diff = ['diff', '--name-only', '-z', '--no-renames', '--relative', '--no-ext-diff', commit, '--', '.'];
  const untracked = ['ls-files', '-z', '--others', '--exclude-standard'];
  const found = await Promise.all(
    [diff, untracked].map(async (args) => splitRecords(await mustRunGit(git, { ...run, args }))),
  );
  return [...new Set(pathsOf(found.flat()))].sort();
}

/** What committing everything would change. Throws ParleyError `git-failed`, `git-aborted`. */
export async function uncommittedDiff(
  git: Git,
  { place }: Pick<Worktree, 'place'>,
  signal?: AbortSignal,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-index-'));
  const run = { cwd: place, env: { GIT_INDEX_FILE: join(folder, 'index') }, signal, timeoutMs: TIMEOUT_MS };
  const diff = (...args: readonly string[]): Promise<Buffer> =>
    mustRunGit(git, {
      ...run,
      args: ['diff', '--cached', '--no-color', '--no-ext-diff', '--no-textconv', ...args, 'HEAD'],
      maxOutput: MAX_DIFF,
    });
  try {
    await mustRunGit(git, { ...run, args: ['read-tree', 'HEAD'] });
    await mustRunGit(git, { ...run, args: ['add', '--all'] });
    const text = await diff().catch((error) => {
      if (!(error instanceof ParleyError) || error.code !== 'git-output') throw error;
      return diff('--stat');
    });
    return text.toString('utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function lastSubjects(git: Git, { place }: Pick<Worktree, 'place'>): Promise<readonly string[]> {
  const args = ['log', `--max-count=${MAX_COMMITS}`, '--no-show-signature', '--format=%s'];
  const { code, stdout } = await runGit(git, { args, cwd: place, timeoutMs: TIMEOUT_MS });
  return code === 0 ? stdout.toString('utf8').trim().split('\n') : [];
}

export async function bringAlong(
  { top, place }: Pick<Worktree, 'top' | 'place'>,
  files: readonly string[],
): Promise<void> {
  // Deletions first: files and folders may swap places.
  for (const path of files) {
    if (!(await isSafePath(place, path))) continue;
    const [from, to] = [await statsOf(join(top, path)), await statsOf(join(place, path))];
    if (to && !(from?.isDirectory() && to.isDirectory())) await rm(join(place, path), { recursive: true });
  }
  for (const path of files) {
    const [from, to] = [join(top, path), join(place, path)];
    const stats = await statsOf(from);
    if (!stats || stats.isDirectory() || !(await isSafePath(place, path))) continue;
    await mkdir(dirname(to), { recursive: true });
    if (stats.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (stats.isFile()) await copyFile(from, to);
  }
}

function pathsOf(records: readonly Buffer[]): readonly string[] {
  return records.flatMap((record) => pathText(record) ?? []).filter((path) => !path.endsWith('/'));
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}
