// Checks whether a path of an agent lies inside its session's folders, with every link followed.
import { readlink, realpath, stat } from 'node:fs/promises';
import * as nodePath from 'node:path';

/** Links followed by hand before it is called a loop (the kernel's own limit). */
const MAX_LINKS = 40;

/**
 * Where a path really leads: every link followed, also one that points to nothing yet (writing
 * through it would create its target); what does not exist is kept as it is written.
 * @param path absolute
 * @throws the file system's error where it cannot be looked up (EACCES, ELOOP, ENOTDIR)
 */
export async function realTarget(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const parent = nodePath.dirname(path);
  if (parent === path) return path;
  const folder = await realTarget(parent, links);
  const here = nodePath.join(folder, nodePath.basename(path));
  const link = await readlink(here).catch(() => undefined);
  if (link === undefined) return here;
  if (links >= MAX_LINKS) throw Object.assign(new Error(`Too many links: ${path}`), { code: 'ELOOP' });
  return realTarget(nodePath.resolve(folder, link), links + 1);
}

/** Where folders really lie; those that are not there are left out. */
export async function realTargets(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.filter(nodePath.isAbsolute).map((folder) => realpath(folder).catch(() => '')),
  );
  return found.filter((folder) => folder !== '');
}

/**
 * Returns whether `path` is `root` or below it, by their spelling. Both absolute and normal.
 * @param flavour the rules of the system: Windows ignores case and has drives
 */
export function isBelow(root: string, path: string, flavour: nodePath.PlatformPath = nodePath): boolean {
  const way = flavour.relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${flavour.sep}`) && !flavour.isAbsolute(way));
}

/**
 * Returns whether a path leads to a server of Windows' network that holds none of the roots. Even
 * looking there signs the user in to that server.
 * @param path absolute and normal
 */
export function isForeignShare(
  path: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): boolean {
  if (flavour.sep !== '\\' || !/^[\\/]{2}/.test(path)) return false;
  return !roots.some((root) => isBelow(root, path, flavour));
}

/**
 * Returns whether a real path lies inside one of the roots. Where the spelling says no, the folders
 * on the way are compared by their identity: on a file system that ignores case, or through a
 * second mount, the same folder has several spellings.
 * @param target as {@link realTarget} gives it;
 * @param roots absolute, links in them are followed; one that does not exist holds nothing
 */
export async function isInsideRoots(target: string, roots: readonly string[]): Promise<boolean> {
  const identities = new Set<string>();
  for (const root of roots) {
    if (!nodePath.isAbsolute(root)) continue;
    const real = await realpath(root).catch(() => undefined);
    if (real === undefined) continue;
    if (isBelow(real, target)) return true;
    const identity = await identityOf(real);
    if (identity !== undefined) identities.add(identity);
  }
  if (identities.size === 0) return false;
  for (let folder = target; ; folder = nodePath.dirname(folder)) {
    const identity = await identityOf(folder);
    if (identity !== undefined && identities.has(identity)) return true;
    if (nodePath.dirname(folder) === folder) return false;
  }
}

/** Device and number of a folder; numbers of Windows need more than a double holds. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    // Some network disks number nothing.
    return ino === 0n ? undefined : `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
