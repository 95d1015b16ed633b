// A file of an npm package that Parley does not bring along: downloaded once, at exactly one
// version, and kept. Its checksum is part of Parley, so that it may come from any mirror.
import { createHash } from 'node:crypto';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { retryBusy } from '../../base/retryBusy';
import { unpack } from '../unpack/unpack';
import { download, wrongChecksum } from './download';
import { remove } from './installedAgents';
import { withLock } from './installLock';
import { diskError } from './installTools';

export interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  /** Of the file, lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface KeptFileOptions {
  readonly file: PackageFile;
  readonly folder: string;
}

const LOCK = 'lock.db';
/** How long to wait for another window's download, ms. */
const WAIT_MS = 60_000;
/** Limits for a wrong archive. */
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

  address(registry: string): string {
    const { name, version } = this.#file;
    return `${registry.replace(/\/+$/, '')}/${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
  }

  /** Null: damaged; undefined: missing. */
  read(): Promise<string | null | undefined> {
    return this.#checked(this.#path);
  }

  /**
   * Waits for another window's download.
   * @throws ParleyError of `download` and the disk; the reason of `signal`
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
          // Damaged or refused; other errors are of the disk.
          if (error instanceof ParleyError) return false;
          throw error;
        });
      const text = isArchive ? await this.#checked(join(unpacked, path)) : undefined;
      if (!text) throw wrongChecksum(url);
      await retryBusy(() => rename(join(unpacked, path), this.#path));
      // Earlier versions, and partial downloads.
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

/**
 * Mermaid draws diagrams; three times as large as Parley, so it is downloaded. Without mind maps,
 * architecture diagrams and formulas; no dependencies.
 */
export const MERMAID_FILE: PackageFile = {
  name: '@mermaid-js/tiny',
  version: '12.0.0',
  path: 'package/dist/mermaid.tiny.js',
  sha256: '9f2807e402479d2864bfd9a95052076fc69d0ff45a0b25148b84b70fc33425b9',
  bytes: 786_663,
};
