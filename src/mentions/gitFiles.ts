// What git knows of a folder: its files that are not ignored, and what has changed since the last
// commit.
import { findGit, type Git, type GitResult, type GitRun, runGit } from '../changes/git/gitProcess';
import { findRepository, realFolder } from '../changes/git/repository';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Bytes of a patch, which an agent is to read. */
export const MAX_PATCH = 256 * 1024;
/** Names of untracked files in one text. */
const MAX_UNTRACKED = 200;
/** Files that are neither tracked nor ignored. */
const NEW = ['--others', '--exclude-standard'];
/** A patch that no program of the repository writes. */
export const PATCH = ['--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];
/** Nothing of the repository's own configuration is run. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

let git: Promise<Git | undefined> | undefined;

/**
 * Lists the files of a folder, relative to it, with `/`.
 * @param folder absolute
 * @returns undefined where it belongs to no repository, or git cannot tell
 */
export async function gitFiles(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  return pathsIn(await printed(folder, ['ls-files', '-z', ...NEW, '--cached', '--deduplicate'], MAX_OUTPUT, signal));
}

/** Returns whether a folder belongs to a repository. */
export async function isInRepository(folder: string): Promise<boolean> {
  const real = await realFolder(folder);
  return real !== undefined && (await findRepository(real)) !== undefined;
}

/** Changes since the last commit. */
export interface GitChanges {
  /** A patch, as `git diff` prints it. */
  readonly patch: string;
  /** Files that git does not track, relative to the folder, with `/`. */
  readonly untracked: readonly string[];
}

/**
 * Returns what has changed in a folder since the last commit.
 * @param folder absolute, and trusted: filters of the repository may run
 * @returns undefined where it belongs to no repository, git cannot tell, or the patch is too large
 */
export async function gitChanges(folder: string, signal: AbortSignal): Promise<GitChanges | undefined> {
  const diff = ['diff', ...PATCH, 'HEAD', '--', '.'];
  const [patch, others] = await Promise.all([
    printed(folder, diff, MAX_PATCH, signal),
    printed(folder, ['ls-files', '-z', ...NEW], MAX_PATCH, signal),
  ]);
  return patch === undefined ? undefined : { patch, untracked: pathsIn(others) ?? [] };
}

/** Returns changes as an agent is to read them: untracked files stand below, as `git status` writes them. */
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
 * Runs git in a folder, without anything that the repository's configuration names.
 * @returns undefined where the folder belongs to no repository, or there is no git
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
