// The files of a folder that git does not ignore: those that it tracks, and new ones.
import { findGit, type Git, runGit } from '../changes/git/gitProcess';
import { findRepository, realFolder } from '../changes/git/repository';

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Nothing of the repository's own configuration is run. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

let git: Promise<Git | undefined> | undefined;

/**
 * Lists the files of a folder, relative to it, with `/`.
 * @param folder absolute
 * @returns undefined where it belongs to no repository, or git cannot tell
 */
export async function gitFiles(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const real = await realFolder(folder);
  if (real === undefined || !(await findRepository(real))) return undefined;
  git ??= findGit(process.env);
  const program = await git;
  if (!program) return undefined;
  const args = [...SAFE, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  try {
    const { code, stdout } = await runGit(program, {
      args,
      cwd: real,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxOutput: MAX_OUTPUT,
    });
    return code === 0 ? stdout.toString('utf8').split('\0').filter(Boolean) : undefined;
  } catch {
    return undefined;
  }
}
