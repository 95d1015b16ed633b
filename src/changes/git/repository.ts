// Finds the repository of a folder without running git.
import { open, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

const MAX_LINK = 4096;

export interface Repository {
  readonly top: string;
  /** Of this work tree; contains its index. */
  readonly gitDir: string;
  /** Of all work trees; contains objects and configuration. */
  readonly commonDir: string;
}

/**
 * Finds the nearest `.git` at or above a folder; undefined if it is broken. Its owner doesn't
 * matter, because nothing in its configuration is run.
 * @param folder absolute, without symbolic links
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  for (let top = folder; ; top = dirname(top)) {
    const git = await stat(join(top, '.git')).catch(() => undefined);
    if (git?.isFile()) {
      const gitDir = await readGitFile(join(top, '.git'));
      return gitDir === undefined ? undefined : openRepository(top, gitDir);
    }
    if (git?.isDirectory()) {
      const found = await openRepository(top, join(top, '.git'));
      if (found) return found;
    }
    if (dirname(top) === top) return undefined;
  }
}

async function readGitFile(file: string): Promise<string | undefined> {
  if ((await stat(file)).size > MAX_LINK) return undefined;
  const target = /^gitdir: (.+?)[\r\n]*$/s.exec(await readFile(file, 'utf8'))?.[1];
  return target === undefined ? undefined : resolve(dirname(file), target);
}

async function openRepository(top: string, gitDir: string): Promise<Repository | undefined> {
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

/** @returns empty for the top level; otherwise with a trailing slash */
export function prefixIn(top: string, folder: string): string {
  const path = relative(top, folder);
  return path === '' ? '' : `${path.split(sep).join('/')}/`;
}

export async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

const MAX_HEAD = 1024;

/** @returns the branch without `refs/heads/`; undefined without repository or branch */
export async function branchOf(folder: string): Promise<string | undefined> {
  try {
    const found = await findRepository(await realpath(folder));
    if (!found) return undefined;
    const file = await open(join(found.gitDir, 'HEAD'));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD), 0, MAX_HEAD, 0);
      return /^ref: refs\/heads\/([^\r\n]+)/.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
