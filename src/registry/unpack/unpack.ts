// Unpacks a downloaded archive according to its file extension.

import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import * as l10n from '@vscode/l10n';
import { extract, type Header } from 'tar-stream';
import bunzip2 from 'unbzip2-stream';
import { type Entry, open, type ZipFile } from 'yauzl';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine } from '../../base/text';

/** `program`: a single executable. */
export type ArchiveKind = 'zip' | 'program' | `tar-${TarCompression}`;

const KINDS: readonly (readonly [name: RegExp, kind: ArchiveKind])[] = [
  [/\.zip$/i, 'zip'],
  [/\.(?:tar\.gz|tgz)$/i, 'tar-gzip'],
  [/\.(?:tar\.bz2|tbz2?)$/i, 'tar-bzip2'],
  [/\.tar$/i, 'tar-none'],
];
const UNSUPPORTED = /\.(?:dmg|pkg|deb|rpm|msi|msix|appimage|xz|txz|zst|7z|rar)$/i;

export function archiveKind(url: string): ArchiveKind {
  const { pathname } = new URL(url);
  const match = KINDS.find(([name]) => name.test(pathname));
  if (match) return match[1];
  const other = UNSUPPORTED.exec(pathname)?.[0];
  if (other === undefined) return 'program';
  throw new ParleyError('unsupported-archive', localizable("Files of the type {0} can't be installed.", other));
}

/** `program` is the path in the archive. Throws `evil-archive`, `bad-archive`; disk errors. */
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
    // Only disk errors have a system call; others are about the contents.
    if (error instanceof ParleyError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new ParleyError('bad-archive', localizable('The archive is damaged.'), { cause: error });
  }
}

export type TarCompression = 'none' | 'gzip' | 'bzip2';

export async function unpackTar(
  path: string,
  compression: TarCompression,
  target: UnpackTarget,
  signal: AbortSignal,
): Promise<void> {
  const entries = extract();
  let refused: unknown;
  entries.on('entry', (header, stream, next) => {
    // tar-stream's streams are not Node's.
    const content = Readable.from(stream as AsyncIterable<Uint8Array>);
    takeTarEntry(header, content, target, signal).then(
      () => next(),
      (error: unknown) => {
        refused = error;
        entries.destroy(error instanceof Error ? error : new Error('refused'));
      },
    );
  });
  try {
    await pipeline(createReadStream(path), decoder(compression), entries as unknown as NodeJS.WritableStream, {
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw refused ?? error;
  }
}

async function takeTarEntry(
  header: Header,
  content: Readable,
  target: UnpackTarget,
  signal: AbortSignal,
): Promise<void> {
  const { name, type, mode } = header;
  if (type === 'file' || type === 'contiguous-file') return target.file(name, (mode & 0o111) !== 0, content, signal);
  if (type !== 'directory')
    throw evil(l10n.t('“{0}” in it is neither a file nor a folder ({1})', oneLine(name, 100), type));
  await target.folder(name);
  content.resume();
}

function decoder(compression: TarCompression): Transform {
  if (compression === 'gzip') return createGunzip();
  if (compression === 'bzip2') return bunzip2() as unknown as Transform;
  return new PassThrough();
}

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** Follows the central directory and verifies sizes and checksums. */
export async function unpackZip(path: string, target: UnpackTarget, signal: AbortSignal): Promise<void> {
  const zip = await opened(path);
  try {
    for (;;) {
      signal.throwIfAborted();
      const entry = await nextEntry(zip);
      if (entry === undefined) return;
      await takeZipEntry(zip, entry, target, signal);
    }
  } finally {
    zip.close();
  }
}

async function takeZipEntry(zip: ZipFile, entry: Entry, target: UnpackTarget, signal: AbortSignal): Promise<void> {
  const { fileName: name } = entry;
  // 0 if made on another system.
  const mode = entry.versionMadeBy >>> 8 === 3 ? entry.externalFileAttributes >>> 16 : 0;
  const type = mode & FILE_TYPE;
  if (entry.isEncrypted()) throw evil(l10n.t('“{0}” in it is encrypted', oneLine(name, 100)));
  if (type !== 0 && type !== REGULAR && type !== FOLDER)
    throw evil(l10n.t('“{0}” in it is neither a file nor a folder ({1})', oneLine(name, 100), type.toString(8)));
  if (/[/\\]$/.test(name) || type === FOLDER) return target.folder(name);
  const content = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream))),
  );
  let sum = 0;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum = crc32(chunk, sum);
      done(null, chunk);
    },
    flush: (done) => done(sum === entry.crc32 ? null : new Error('wrong checksum')),
  });
  content.on('error', (error) => checked.destroy(error));
  // A small file may fail before the target reads it.
  checked.on('error', () => {});
  await target.file(name, (mode & 0o111) !== 0, content.pipe(checked), signal);
}

function opened(path: string): Promise<ZipFile> {
  // The target checks names, the same way for all archives.
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, decodeStrings: true } as const;
  return new Promise((resolve, reject) => open(path, options, (error, zip) => (error ? reject(error) : resolve(zip))));
}

function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (run: () => void): void => {
      zip.off('entry', onEntry).off('end', onEnd).off('error', onError);
      run();
    };
    const onEntry = (entry: Entry): void => settle(() => resolve(entry));
    const onEnd = (): void => settle(() => resolve(undefined));
    const onError = (error: Error): void => settle(() => reject(error));
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}

export interface UnpackLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** The largest known agents unpack to half a gigabyte. */
const MAX_BYTES = 4_000_000_000;
const MAX_ENTRIES = 200_000;
/** Programs have about 3; more suggests an attempt to fill the disk. */
const MAX_RATIO = 50;
/** Up to this size, the ratio doesn't matter. */
const HARMLESS_BYTES = 50_000_000;

export function limitsFor(size: number): UnpackLimits {
  return { maxBytes: Math.min(MAX_BYTES, HARMLESS_BYTES + MAX_RATIO * size), maxEntries: MAX_ENTRIES };
}

const MAX_NAME = 1_000;
/** Devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export class UnpackTarget {
  readonly #folder: string;
  readonly #limits: UnpackLimits;
  #bytes = 0;
  #entries = 0;

  /** Refuses archives with paths out of the folder, links, devices, duplicates, or over limits. */
  constructor(folder: string, limits: UnpackLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  async folder(name: string): Promise<void> {
    await mkdir(this.#resolveEntry(name), { recursive: true });
  }

  /** @throws ParleyError `evil-archive`; the reason of `signal` */
  async file(name: string, isExecutable: boolean, content: Readable, signal: AbortSignal): Promise<void> {
    const path = this.#resolveEntry(name);
    if (path === this.#folder) throw evil(l10n.t('it contains an invalid name (“{0}”)', oneLine(name, 100)));
    await mkdir(dirname(path), { recursive: true });
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#bytes += chunk.length;
        if (this.#bytes <= this.#limits.maxBytes) return done(null, chunk);
        return done(evil(l10n.t('it unpacks to more than {0} MB', Math.floor(this.#limits.maxBytes / 1e6))));
      },
    });
    const mode = isExecutable ? 0o755 : 0o644;
    try {
      await pipeline(content, counted, createWriteStream(path, { flags: 'wx', mode }), { signal });
    } catch (error) {
      signal.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw evil(l10n.t('it contains “{0}” twice', oneLine(name, 100)));
      throw error;
    }
  }

  #resolveEntry(name: string): string {
    this.#entries += 1;
    if (this.#entries > this.#limits.maxEntries)
      throw evil(l10n.t('it contains more than {0} files', this.#limits.maxEntries));
    const parts = pathParts(name);
    if (parts === undefined) throw evil(l10n.t('it contains an invalid name (“{0}”)', oneLine(name, 100)));
    return join(this.#folder, ...parts);
  }
}

/** Segments of a relative path, with either slash; undefined if it leaves its folder. */
export function pathParts(name: string): readonly string[] | undefined {
  if (name.length > MAX_NAME || /[\p{Cc}:]/u.test(name) || /^[/\\]/.test(name)) return undefined;
  const parts = name.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  return parts.some((part) => part === '..' || DEVICE.test(part) || /[. ]$/.test(part)) ? undefined : parts;
}

export function evil(why: string): ParleyError {
  return new ParleyError('evil-archive', localizable('The archive was refused: {0}.', why), {
    hint: localizable('Report this to the maker of the agent.'),
  });
}
