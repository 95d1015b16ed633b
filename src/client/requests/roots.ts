// Checks whether an agent's path is inside its session's folders, with all links resolved.
import { readlink, realpath, stat } from 'node:fs/promises';
import * as nodePath from 'node:path';
import { pathOfFileAddress } from '../../acp/protocol/fileAddress';
import { isWindowsFilePath } from '../../base/pathNames';

const MAX_LINKS = 40;

/**
 * Resolves all links, also dangling ones (writing would create the target). What doesn't exist
 * stays as written.
 * @throws the file system's error (EACCES, ELOOP, ENOTDIR)
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

export async function realTargets(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.filter(nodePath.isAbsolute).map((folder) => realpath(folder).catch(() => '')),
  );
  return found.filter((folder) => folder !== '');
}

/** Compares spellings; both absolute and normalized. */
export function isBelow(root: string, path: string, flavour: nodePath.PlatformPath = nodePath): boolean {
  const relativePath = flavour.relative(root, path);
  return (
    relativePath === '' ||
    (relativePath !== '..' && !relativePath.startsWith(`..${flavour.sep}`) && !flavour.isAbsolute(relativePath))
  );
}

/** Even a lookup on a Windows server signs the user in. */
export function isForeignShare(
  path: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): boolean {
  if (flavour.sep !== '\\' || !/^[\\/]{2}/.test(path)) return false;
  return !roots.some((root) => isBelow(root, path, flavour));
}

/**
 * Returns whether a resolved path is inside one of the roots. Falls back to comparing folders by
 * identity: ignored case and second mounts give one folder several spellings.
 * @param target from {@link realTarget}
 * @param roots missing ones are skipped
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

/** Bigint, since Windows' numbers exceed a double. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return ino === 0n ? undefined : `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/**
 * As written, else below each root; none if it must not be looked up. `file:` URLs are accepted.
 */
export function candidatePathsOf(
  path: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): readonly string[] {
  const plain = pathOfFileAddress(path, flavour.sep === '\\');
  if (plain === '') return [];
  const places = flavour.isAbsolute(plain) ? [plain] : roots.map((root) => flavour.join(root, plain));
  return places.map((place) => flavour.resolve(place)).filter((place) => isSafeToLookUp(place, roots, flavour));
}

/** Refuses devices and foreign Windows servers, where even a lookup would sign the user in. */
export function isSafeToLookUp(
  path: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): boolean {
  if (path.includes('\0')) return false;
  return flavour.sep !== '\\' || (isWindowsFilePath(path) && !isForeignShare(path, roots, flavour));
}
