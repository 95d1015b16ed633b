// Finds the repository that a folder belongs to, without running anything of it.
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** A `.git` file names a path; larger ones are something else. */
const MAX_LINK = 4096;

export interface Repository {
  /** The folder that its paths are relative to; absolute. */
  readonly top: string;
  /** Of this work tree: has its index. */
  readonly gitDir: string;
  /** Of all work trees: has objects and configuration. */
  readonly commonDir: string;
}

/**
 * The repository of a folder: the nearest `.git` at or above it. Who owns it does not matter, as
 * nothing of its configuration is ever run.
 * @param folder absolute, without symbolic links
 * @returns undefined where there is none, or the nearest is broken
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  for (let top = folder; ; top = dirname(top)) {
    const git = await stat(join(top, '.git')).catch(() => undefined);
    if (git?.isFile()) {
      const gitDir = await linked(join(top, '.git'));
      return gitDir === undefined ? undefined : open(top, gitDir);
    }
    if (git?.isDirectory()) {
      const found = await open(top, join(top, '.git'));
      if (found) return found;
    }
    if (dirname(top) === top) return undefined;
  }
}

async function linked(file: string): Promise<string | undefined> {
  if ((await stat(file)).size > MAX_LINK) return undefined;
  const target = /^gitdir: (.+?)[\r\n]*$/s.exec(await readFile(file, 'utf8'))?.[1];
  return target === undefined ? undefined : resolve(dirname(file), target);
}

async function open(top: string, gitDir: string): Promise<Repository | undefined> {
  const isFile = (path: string): Promise<boolean> =>
    stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
  const isFolder = (path: string): Promise<boolean> =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
  const common = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => '');
  const commonDir = resolve(gitDir, common.trim());
  if (!(await isFile(join(gitDir, 'HEAD'))) || !(await isFolder(join(commonDir, 'objects')))) return undefined;
  return { top, gitDir, commonDir };
}

/**
 * Where a folder is in its repository, as git writes it.
 * @returns empty for the top level; otherwise with a slash at its end
 */
export function prefixIn(top: string, folder: string): string {
  const path = relative(top, folder);
  return path === '' ? '' : `${path.split(sep).join('/')}/`;
}

/** The path without symbolic links; undefined where it does not lead to a folder. */
export async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
