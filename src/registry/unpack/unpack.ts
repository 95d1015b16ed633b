// Unpacks a downloaded archive according to its file extension.

import { copyFile, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { type TarCompression, unpackTar } from './unpackTar';
import { limitsFor, pathParts, type UnpackLimits, UnpackTarget } from './unpackTarget';
import { unpackZip } from './unpackZip';

/** Kind of a download; `program` is a single executable file. */
export type ArchiveKind = 'zip' | 'program' | `tar-${TarCompression}`;

const KINDS: readonly (readonly [name: RegExp, kind: ArchiveKind])[] = [
  [/\.zip$/i, 'zip'],
  [/\.(?:tar\.gz|tgz)$/i, 'tar-gzip'],
  [/\.(?:tar\.bz2|tbz2?)$/i, 'tar-bzip2'],
  [/\.tar$/i, 'tar-none'],
];
/** Extensions of unsupported installers and archives. */
const OTHERS = /\.(?:dmg|pkg|deb|rpm|msi|msix|appimage|xz|txz|zst|7z|rar)$/i;

/** Returns the kind of download at an address. @throws ParleyError `unsupported-archive` */
export function archiveKind(url: string): ArchiveKind {
  const { pathname } = new URL(url);
  const known = KINDS.find(([name]) => name.test(pathname));
  if (known) return known[1];
  const other = OTHERS.exec(pathname)?.[0];
  if (other === undefined) return 'program';
  throw new ParleyError('unsupported-archive', localizable("Files of the type {0} can't be installed.", other));
}

/**
 * Unpacks a file into an empty folder.
 * @param program path in the archive of the program to run, as stated by the registry
 * @throws ParleyError `evil-archive`, `bad-archive`; what the disk reports; the reason of `signal`
 */
export async function unpack(
  file: { readonly path: string; readonly kind: ArchiveKind; readonly program: string },
  folder: string,
  signal: AbortSignal,
  limits?: UnpackLimits,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { path, kind, program } = file;
  const target = new UnpackTarget(folder, limits ?? limitsFor((await stat(path)).size));
  try {
    if (kind === 'program') await copyFile(path, join(folder, ...(pathParts(program) ?? ['program']).slice(-1)));
    else if (kind === 'zip') await unpackZip(path, target, signal);
    else await unpackTar(path, kind.slice('tar-'.length) as TarCompression, target, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Errors of the disk have a system call; all others are about the contents.
    if (error instanceof ParleyError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new ParleyError('bad-archive', localizable('The archive is damaged.'), { cause: error });
  }
}
