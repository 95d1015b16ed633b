// Determines what removing a worktree would lose, so that the user is asked. Git alone doesn't
// tell: it disregards ignored files, nested repositories and commits without a branch.
import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors';
import { type Git, mustRunGit, runGit } from '../git/gitProcess';
import { splitRecords } from '../git/records';
import { findEntry, isLinkedTo, type Worktree, type WorktreeEntry } from './worktreeEntry';

const TIMEOUT_MS = 10 * 60_000;
/** Ignored folders with more files are not compared. */
const MAX_COMPARED = 1000;

/** Files of an entry without an operation in progress. */
const PLAIN_ENTRY =
  /^(?:HEAD|ORIG_HEAD|FETCH_HEAD|AUTO_MERGE|MERGE_RR|\w+_EDITMSG|commondir|gitdir|locked|config\.worktree|index|sharedindex\.\w+|info|logs|refs|fsmonitor--daemon.*)$/;

export type LossKind =
  | 'changes'
  /** Ignored files without an identical copy in the user's folder. */
  | 'ignored'
  | 'repositories'
  /** Commits on no branch, by id and subject. */
  | 'commits'
  | 'unborn'
  /** A merge, rebase etc., by git's files for it. */
  | 'operation'
  | 'locked'
  | 'unknown';

export interface Loss {
  readonly kind: LossKind;
  /** Paths below the worktree unless the kind says otherwise. */
  readonly names: readonly string[];
}

/** Anything that can't be determined counts as lost. */
export async function lossesOf(git: Git, worktree: Worktree, signal?: AbortSignal): Promise<readonly Loss[]> {
  try {
    const found = await determineLosses(git, worktree, signal);
    return found.filter(({ kind, names }) => names.length > 0 || kind === 'unborn' || kind === 'unknown');
  } catch (error) {
    if (signal?.aborted) throw error;
    return [{ kind: 'unknown', names: [messageOf(error)] }];
  }
}

async function determineLosses(
  git: Git,
  worktree: Worktree,
  signal: AbortSignal | undefined,
): Promise<readonly Loss[]> {
  const { place } = worktree;
  const [entry, stats] = [await findEntry(worktree), await lstat(place).catch(codeOf)];
  if (stats === 'ENOENT') {
    // Without the folder of all worktrees, its disk may be missing.
    if ((await lstat(dirname(place)).catch(codeOf)) === 'ENOENT') return [{ kind: 'unknown', names: [] }];
    if (!entry) return [];
    const entryRun = { cwd: entry.commonDir, env: { GIT_DIR: entry.gitDir }, signal, timeoutMs: TIMEOUT_MS };
    return [...(await entryLosses(git, worktree, entry, entryRun)), await stagedChanges(git, entryRun)];
  }
  if (typeof stats === 'string' || !stats.isDirectory() || !entry || !(await isLinkedTo(worktree, entry)))
    return [{ kind: 'unknown', names: [] }];
  // Explicit, because the worktree's configuration could redirect git.
  const env = { GIT_DIR: entry.gitDir, GIT_WORK_TREE: place, GIT_OPTIONAL_LOCKS: '0' };
  const run = { cwd: place, env, signal, timeoutMs: TIMEOUT_MS };
  return [...(await fileLosses(git, worktree, run)), ...(await entryLosses(git, worktree, entry, run))];
}

type Run = Omit<Parameters<typeof mustRunGit>[1], 'args'>;

async function fileLosses(git: Git, { top, place }: Worktree, run: Run): Promise<readonly Loss[]> {
  // Git's optimizations may hide files.
  const exact = ['core.fsmonitor=false', 'core.untrackedCache=false', 'core.trustctime=true', 'core.checkStat=default'];
  const options = ['--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignored=matching'];
  const args = [...exact.flatMap((one) => ['-c', one]), 'status', ...options, '--ignore-submodules=none'];
  const [status, index] = await Promise.all([
    mustRunGit(git, { ...run, args }).then(splitRecords),
    mustRunGit(git, { ...run, args: ['ls-files', '-v', '-s', '-z'] }).then(splitRecords),
  ]);
  const changes: string[] = [];
  const ignored: string[] = [];
  const repositories = new Set<string>();
  const seen = new Set<string>();
  for (const record of status) {
    const [code, path] = [record.toString('utf8', 0, 2), record.toString('utf8', 3)];
    if (path.endsWith('/')) seen.add(path.slice(0, -1));
    if (code === '??' && path.endsWith('/')) repositories.add(path);
    else if (code !== '!!') changes.push(path);
    else if (!(await hasCopyInTop(top, place, path))) ignored.push(path);
  }
  const { hidden, links } = await unusualEntries(git, place, index, run);
  for (const path of await findNestedRepositories(place, seen, run.signal)) repositories.add(path);
  for (const path of links) repositories.add(`${path}/`);
  return [
    { kind: 'changes', names: [...new Set([...changes, ...hidden])] },
    { kind: 'ignored', names: ignored },
    { kind: 'repositories', names: [...repositories] },
  ];
}

async function hasCopyInTop(top: string, place: string, path: string): Promise<boolean> {
  let left = MAX_COMPARED;
  const compare = async (relativePath: string): Promise<boolean> => {
    const stats = await lstat(join(place, relativePath));
    if (!stats.isDirectory()) return left-- > 0 && isSamePlainFile(join(top, relativePath), join(place, relativePath));
    for (const name of await readdir(join(place, relativePath)))
      if (isGit(name) || !(await compare(join(relativePath, name)))) return false;
    return true;
  };
  // Names that are not UTF-8 are not found.
  return compare(path).catch(() => false);
}

/** Finds changes hidden from git, and links to repositories. */
async function unusualEntries(
  git: Git,
  place: string,
  index: readonly Buffer[],
  run: Run,
): Promise<{ readonly hidden: readonly string[]; readonly links: readonly string[] }> {
  const [hidden, links]: [string[], string[]] = [[], []];
  const skipped: { readonly path: string; readonly id: string }[] = [];
  for (const record of index) {
    const [, flag, mode, id = '', path = ''] = /^(.) (\d+) (\w+) \d\t(.*)$/s.exec(record.toString('utf8')) ?? [];
    if (flag === undefined) throw new Error(`ls-files: ${record}`);
    if (mode === '160000') {
      const found = await readdir(join(place, path)).catch(codeOf);
      if (typeof found === 'string' ? found !== 'ENOENT' : found.length > 0) links.push(path);
    } else if (flag === 'S' || flag !== flag.toUpperCase()) {
      const stats = await lstat(join(place, path)).catch(codeOf);
      if (stats === 'ENOENT') continue;
      if (typeof stats !== 'string' && stats.isFile() && !/[\r\n"\ufffd]/.test(path)) skipped.push({ path, id });
      else hidden.push(path);
    }
  }
  if (skipped.length > 0) {
    const input = Buffer.from(skipped.map(({ path }) => `${path}\n`).join(''));
    const hashed = await mustRunGit(git, { ...run, args: ['hash-object', '--stdin-paths'], input });
    const ids = hashed.toString('utf8').trim().split('\n');
    for (const [at, { path, id }] of skipped.entries()) if (ids[at] !== id) hidden.push(path);
  }
  return { hidden, links };
}

/** Also in folders with tracked files. `seen`: folders that git reports as a whole. */
async function findNestedRepositories(
  place: string,
  seen: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal?.throwIfAborted();
    const entries: Dirent[] = await readdir(join(place, folder), { withFileTypes: true });
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isGit(entry.name)) {
        if (folder !== '') found.push(`${folder}/`);
      } else if (entry.isDirectory() && !seen.has(path)) folders.push(path);
    }
  }
  return found;
}

async function entryLosses(git: Git, worktree: Worktree, entry: WorktreeEntry, run: Run): Promise<readonly Loss[]> {
  const names = await readdir(entry.gitDir);
  const modules = names.includes('modules') ? await readdir(join(entry.gitDir, 'modules')) : [];
  const lock = names.includes('locked') ? (await readFile(join(entry.gitDir, 'locked'), 'utf8')).trim() : undefined;
  const head = await runGit(git, { ...run, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'] });
  return [
    ...(head.code === 0 ? [] : [{ kind: 'unborn', names: [] } as const]),
    { kind: 'repositories', names: modules },
    { kind: 'operation', names: names.filter((name) => name !== 'modules' && !PLAIN_ENTRY.test(name)) },
    { kind: 'locked', names: lock === undefined ? [] : [lock] },
    await looseCommits(git, worktree, run),
  ];
}

async function stagedChanges(git: Git, run: Run): Promise<Loss> {
  const args = ['diff-index', '--cached', '--name-only', '--no-renames', '-z', 'HEAD', '--'];
  const names = await splitRecords(await mustRunGit(git, { ...run, args }));
  return { kind: 'changes', names: names.map((name) => name.toString('utf8')) };
}

/** Commits reachable only by the worktree's `HEAD`, reflog and own refs. */
async function looseCommits(git: Git, { branch }: Worktree, run: Run): Promise<Loss> {
  const lines = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout } = await runGit(git, { ...run, args });
    return code === 0 ? stdout.toString('utf8').split('\n').filter(Boolean) : [];
  };
  const [tip, history, own] = await Promise.all([
    lines('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
    lines('rev-list', '--walk-reflogs', '--ignore-missing', 'HEAD', '--'),
    lines('for-each-ref', '--format=%(objectname)', 'refs/worktree', 'refs/bisect', 'refs/rewritten'),
  ]);
  const logged = async (kept: readonly string[]): Promise<readonly string[]> => {
    const input = [...new Set([...tip, ...history, ...own]), ...kept.map((id) => `^${id}`), ''].join('\n');
    const format = ['-z', '--no-show-signature', '--no-color', '--format=%h %s'];
    const elsewhere = ['--not', '--branches', '--remotes', '--tags', '--glob=refs/stash*'];
    const args = ['log', '--stdin', '--ignore-missing', ...format, ...elsewhere, '--'];
    const found = await splitRecords(await mustRunGit(git, { ...run, args, input: Buffer.from(input) }));
    return found.map((one) => one.toString('utf8'));
  };
  if ((await logged([])).length === 0) return { kind: 'commits', names: [] };
  // A remaining branch keeps its reflog: an amended commit is as safe as in the user's folder.
  const excluded = (await hasUniqueCommits(git, branch, run)) ? [] : [`--exclude=${branch}`];
  const kept = await lines('rev-list', '--walk-reflogs', '--ignore-missing', ...excluded, '--branches', '--');
  return { kind: 'commits', names: await logged(kept) };
}

/** Whether no other branch or tag has its commits, including amended ones. */
export async function hasUniqueCommits(git: Git, branch: string, run: Run): Promise<boolean> {
  const ref = `refs/heads/${branch}`;
  const there = await runGit(git, { ...run, args: ['show-ref', '--verify', '--quiet', ref] });
  if (there.code !== 0) return false;
  const past = await mustRunGit(git, {
    ...run,
    args: ['rev-list', '--walk-reflogs', '--ignore-missing', ref, '--'],
  });
  const others = ['--not', `--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const args = ['rev-list', '--max-count=1', '--stdin', '--ignore-missing', ref, ...others, '--'];
  return (await mustRunGit(git, { ...run, args, input: past })).length > 0;
}

function isGit(name: string): boolean {
  return name.toLowerCase() === '.git';
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? 'EIO';
}

/** In bytes; larger files count as different. */
const MAX_SIZE = 64 * 1024 * 1024;

/** False for one file by two paths, because a parent folder may be a link. */
export async function isSamePlainFile(one: string, other: string): Promise<boolean> {
  const [stats, others] = [await lstat(one, { bigint: true }), await lstat(other, { bigint: true })];
  if (!stats.isFile() || !others.isFile() || stats.size !== others.size || stats.size > MAX_SIZE) return false;
  if (stats.dev === others.dev && stats.ino === others.ino) return false;
  return (await readFile(one)).equals(await readFile(other));
}
