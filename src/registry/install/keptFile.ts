// A file of an npm package that Parley does not bring along: downloaded once, at exactly one
// version, and kept. Its checksum is part of Parley, so that it may come from any mirror.

import { createHash } from 'node:crypto';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { retryBusy } from '../../base/retryBusy';
import { unpack } from '../unpack/unpack';
import { diskError } from './diskErrors';
import { download, wrongChecksum } from './download';
import { remove } from './installedAgents';
import { withLock } from './installLock';

export interface PackageFile {
  /** Of the package, such as `@scope/name`. */
  readonly name: string;
  readonly version: string;
  /** Where the file is in the archive. */
  readonly path: string;
  /** SHA-256 of the file, in lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Size of the archive, in bytes. */
  readonly bytes: number;
}

export interface KeptFileOptions {
  readonly file: PackageFile;
  /** A folder of its own, absolute. */
  readonly folder: string;
}

const LOCK = 'lock.db';
/** How long another window may take to download it, in ms. */
const WAIT_MS = 60_000;
/** What an archive that is another one may take before it is refused. */
const LIMITS = { maxBytes: 20_000_000, maxEntries: 100 };

export class KeptFile {
  readonly #file: PackageFile;
  readonly #folder: string;
  readonly #path: string;

  constructor({ file, folder }: KeptFileOptions) {
    this.#file = file;
    this.#folder = folder;
    this.#path = join(folder, file.version);
  }

  /** Returns the address of the archive. @param registry the address of an npm registry */
  address(registry: string): string {
    const { name, version } = this.#file;
    return `${registry.replace(/\/+$/, '')}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  }

  /** Returns the text; null where the file is damaged, undefined where there is none. */
  read(): Promise<string | null | undefined> {
    return this.#checked(this.#path);
  }

  /**
   * Downloads the file and returns its text. Another window's download is waited for.
   * @throws ParleyError those of `download` and of the disk; the reason of `signal`
   */
  async fetch(registry: string, onProgress: (received: number) => void, signal: AbortSignal): Promise<string> {
    try {
      return await withLock(
        join(this.#folder, LOCK),
        async () => (await this.read()) ?? (await this.#fetch(this.address(registry), onProgress, signal)),
        { waitMs: WAIT_MS },
      );
    } catch (error) {
      throw signal.aborted ? signal.reason : diskError(error);
    }
  }

  async #fetch(url: string, onProgress: (received: number) => void, signal: AbortSignal): Promise<string> {
    const { bytes, path } = this.#file;
    const options = { folder: this.#folder, maxBytes: 2 * bytes, trustedOrigin: new URL(url).origin, onProgress };
    const archive = await download({ ...options, url }, signal);
    const unpacked = join(this.#folder, 'unpacked');
    try {
      await remove(unpacked);
      const isArchive = await unpack({ path: archive.path, kind: 'tar-gzip', program: '' }, unpacked, signal, LIMITS)
        .then(() => true)
        .catch((error: unknown) => {
          // An archive that is damaged or refused; all others are errors of the disk.
          if (error instanceof ParleyError) return false;
          throw error;
        });
      const text = isArchive ? await this.#checked(join(unpacked, path)) : undefined;
      if (!text) throw wrongChecksum(url);
      await retryBusy(() => rename(join(unpacked, path), this.#path));
      // Earlier versions, and downloads that were not finished.
      for (const name of await readdir(this.#folder))
        if (name !== LOCK && name !== this.#file.version) await remove(join(this.#folder, name));
      return text;
    } finally {
      await Promise.all([remove(archive.path), remove(unpacked)]);
    }
  }

  async #checked(path: string): Promise<string | null | undefined> {
    const content = await readFile(path).catch(() => undefined);
    if (!content) return undefined;
    const isRight = createHash('sha256').update(content).digest('hex') === this.#file.sha256;
    return isRight ? content.toString('utf8') : null;
  }
}
