// Paths as agents write them: in requests, tool calls, changes and links. Each is read here, before
// anything is looked up on the disk.
import * as nodePath from 'node:path';
import { pathOfFileAddress } from '../../acp/protocol/fileAddress';
import { isWindowsFilePath } from '../../base/pathNames';
import { isForeignShare } from './roots';

/**
 * Returns the places where a path may lie, absolute and normal: where it says, else below each
 * root; none where it must not even be looked up.
 * @param path a path, or a `file:` address of this machine
 * @param roots the session's folders
 */
export function placesOf(
  path: string,
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): readonly string[] {
  const plain = pathOfFileAddress(path, flavour.sep === '\\');
  if (plain === '') return [];
  const places = flavour.isAbsolute(plain) ? [plain] : roots.map((root) => flavour.join(root, plain));
  return places.map((place) => flavour.resolve(place)).filter((place) => mayLookUp(place, roots, flavour));
}

/**
 * Returns whether a path, decoded, is one of a file: no device, and not on a server of Windows'
 * network that holds none of the roots, where even a look would sign the user in.
 * @param path absolute and normal
 */
export function mayLookUp(path: string, roots: readonly string[], flavour: nodePath.PlatformPath = nodePath): boolean {
  if (path.includes('\0')) return false;
  return flavour.sep !== '\\' || (isWindowsFilePath(path) && !isForeignShare(path, roots, flavour));
}
