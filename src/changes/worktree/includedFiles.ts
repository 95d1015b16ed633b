// Ignored files that a new worktree gets nevertheless, such as `.env`: those that the user names in
// `.worktreeinclude` or VS Code's setting `git.worktreeIncludeFiles`.
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { type Git, mustRunGit, runGit } from '../git/gitProcess';
import { joinRecords, pathText, splitRecords } from '../git/records';
import { isSafePath } from '../review/reviewFile';
import type { Worktree } from './worktreeEntry';

/** In ms; they may include installed packages. */
const TIMEOUT_MS = 10 * 60_000;
/** As in Claude Code, with the syntax of `.gitignore`. */
const FILE = '.worktreeinclude';
const MAX_EXPANDED = 1000;

/**
 * Returns sorted paths below `top`, with forward slashes. Throws ParleyError `git-failed`,
 * `git-aborted`.
 * @param globs of VS Code, relative to `top`; a folder includes its contents
 */
export async function includedFiles(
  git: Git,
  top: string,
  globs: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const file = join(top, FILE);
  const hasFile = await lstat(file).then(
    (stats) => stats.isFile(),
    () => false,
  );
  const found = new Map<string, Buffer>();
  const collect = async (patterns: string): Promise<void> => {
    const args = ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${patterns}`];
    const records = await splitRecords(await mustRunGit(git, { args, cwd: top, signal, timeoutMs: TIMEOUT_MS }));
    // Git lists a nested repository as a folder.
    for (const record of records) if (record.at(-1) !== 47) found.set(record.toString('latin1'), record);
  };
  if (hasFile) await collect(file);
  if (globs.length > 0) {
    const folder = await mkdtemp(join(tmpdir(), 'parley-include-'));
    try {
      await writeFile(join(folder, 'patterns'), globs.flatMap(patternsOf).join('\n'));
      await collect(join(folder, 'patterns'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  if (found.size === 0) return [];
  // Keeps names from being patterns, because check-ignore ignores GIT_LITERAL_PATHSPECS.
  const here = Buffer.from('./');
  const input = joinRecords([...found.values()].map((record) => Buffer.concat([here, record])));
  const env = { GIT_LITERAL_PATHSPECS: undefined };
  const check = { args: ['check-ignore', '-z', '--stdin'], cwd: top, env, signal, timeoutMs: TIMEOUT_MS, input };
  const { code, stdout, stderr } = await runGit(git, check);
  // 1 means no matches.
  if (code > 1) throw new ParleyError('git-failed', localizable('Git failed: {0}', `check-ignore: ${stderr.trim()}`));
  return (await splitRecords(stdout)).flatMap((record) => pathText(record)?.slice(here.length) ?? []).sort();
}

/** Skips links, paths through links, and existing files. Returns the failures. */
export async function copyIncluded(
  { top, place }: Pick<Worktree, 'top' | 'place'>,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const path of files) {
    signal?.throwIfAborted();
    const [from, to] = [join(top, path), join(place, path)];
    try {
      if (!(await isSafePath(top, path)) || !(await isSafePath(place, path))) continue;
      if (!(await lstat(from)).isFile()) continue;
      await mkdir(dirname(to), { recursive: true });
      await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') failed.push(path);
    }
  }
  return failed;
}

/** `.gitignore` has no braces and is not anchored. */
export function patternsOf(glob: string): readonly string[] {
  return withoutBraces(glob.replace(/^(?:\.?\/)+/, ''))
    .filter((one) => one !== '' && !/[\r\n]/.test(one))
    .map((one) => `/${one.replace(/(?<=\[)\^/g, '!').replace(/ +$/, (blanks) => '\\ '.repeat(blanks.length))}`);
}

function withoutBraces(glob: string): readonly string[] {
  const done: string[] = [];
  const open = [glob];
  for (let one = open.pop(); one !== undefined && done.length < MAX_EXPANDED; one = open.pop()) {
    const [whole, choices] = /\{([^{}]*)\}/.exec(one) ?? [];
    if (whole === undefined || choices === undefined) done.push(one);
    else for (const choice of choices.split(',').reverse()) open.push(one.replace(whole, () => choice));
  }
  return done;
}
