// Queries git about a folder: files that are not ignored, and changes since the last commit.
import { join } from 'node:path';
import { findGit, type Git, type GitResult, type GitRun, runGit } from '../changes/git/gitProcess';
import { findRepository, realFolder } from '../changes/git/repository';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 128 * 1024 * 1024;
export const MAX_PATCH = 256 * 1024;
const MAX_UNTRACKED = 200;
const MAX_NESTED = 100;
const NEW_TAG = '?';
const GITLINK = '160000 ';
const NEW = ['--others', '--exclude-standard'];
/** Runs no program of the repository. */
export const PATCH = ['--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];
/** Ignores programs in the repository's configuration. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

let git: Promise<Git | undefined> | undefined;

/**
 * Returns relative paths with `/` of the files on disk that git does not ignore, including
 * submodules and nested repositories; undefined if git fails.
 */
export async function gitFiles(
  folder: string,
  signal: AbortSignal,
  budget = { repositories: MAX_NESTED },
): Promise<readonly string[] | undefined> {
  const lines = pathsIn(
    await printed(folder, ['ls-files', '-zts', '--cached', '--deleted', ...NEW], MAX_OUTPUT, signal),
  );
  if (!lines) return undefined;
  const files = new Set<string>();
  const nested: string[] = [];
  const deleted: string[] = [];
  for (const line of lines) {
    const tag = line[0];
    // Format: `H 100644 hash 0\tpath`, without a stage `? path`.
    const path = tag === NEW_TAG ? line.slice(2) : line.slice(line.indexOf('\t') + 1);
    if (tag === 'R' || tag === 'S') deleted.push(path);
    else if (path.endsWith('/')) nested.push(path.slice(0, -1));
    else if (line.startsWith(GITLINK, 2)) nested.push(path);
    else files.add(path);
  }
  for (const path of deleted) files.delete(path);
  const real = (await realFolder(folder)) ?? folder;
  for (const path of nested) {
    const top = join(real, path);
    // A link may lead out of the folder, and a submodule may not be checked out.
    if ((await realFolder(top)) !== top || (await findRepository(top))?.top !== top) continue;
    if (budget.repositories-- <= 0) break;
    for (const below of (await gitFiles(top, signal, budget)) ?? []) files.add(`${path}/${below}`);
  }
  return [...files];
}

export async function isInRepository(folder: string): Promise<boolean> {
  const real = await realFolder(folder);
  return real !== undefined && (await findRepository(real)) !== undefined;
}

export interface GitChanges {
  readonly patch: string;
  readonly untracked: readonly string[];
}

/**
 * Returns the changes since the last commit; undefined if git fails or the patch is too large.
 * @param folder trusted: filters of the repository may run
 */
export async function gitChanges(folder: string, signal: AbortSignal): Promise<GitChanges | undefined> {
  const diff = ['diff', ...PATCH, 'HEAD', '--', '.'];
  const [patch, others] = await Promise.all([
    printed(folder, diff, MAX_PATCH, signal),
    printed(folder, ['ls-files', '-z', ...NEW], MAX_PATCH, signal),
  ]);
  return patch === undefined ? undefined : { patch, untracked: pathsIn(others) ?? [] };
}

export function changesText({ patch, untracked }: GitChanges): string {
  const left = untracked.length - MAX_UNTRACKED;
  const names = untracked.slice(0, MAX_UNTRACKED).map((name) => `?? ${name}`);
  return [patch, ...names, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n').trim();
}

function pathsIn(output: string | undefined): readonly string[] | undefined {
  return output?.split('\0').filter(Boolean);
}

async function printed(
  folder: string,
  args: readonly string[],
  maxOutput: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const result = await runIn(folder, args, { maxOutput, signal, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  return result?.code === 0 ? result.stdout.toString('utf8') : undefined;
}

/**
 * Ignores programs in the repository's configuration.
 * @returns undefined without a repository or git
 * @throws as {@link runGit}
 */
export async function runIn(
  folder: string,
  args: readonly string[],
  options: Pick<GitRun, 'signal' | 'timeoutMs' | 'maxOutput' | 'cuts'>,
): Promise<GitResult | undefined> {
  const cwd = await realFolder(folder);
  if (cwd === undefined || !(await findRepository(cwd))) return undefined;
  git ??= findGit(process.env);
  const program = await git;
  return program && runGit(program, { args: [...SAFE, ...args], cwd, ...options });
}
