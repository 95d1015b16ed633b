// What was fetched once, on disk: entries of a history never change, so the second opening of a session needs no network. Bounded; a damaged file is a miss.
import { createHash } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors';
import { type Log, silentLog } from '../base/log';
import { type FramedContent, readFramed, writeFramed } from './framedFile';

export interface ResourceCacheOptions {
  readonly folder: string;
  /** 200 MB unless told otherwise. */
  readonly maxBytes?: number;
  /** 20 000 unless told otherwise. */
  readonly maxFiles?: number;
  readonly log?: Log;
}

/** Files of which the age is renewed by reading only when they are older than this, so that reading does not write. */
const STALE_MS = 24 * 3600_000;

export class ResourceCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #log: Log;
  #writing: Promise<void> = Promise.resolve();
  /** What was written since the folder was last looked through; at first it is not known. */
  #bytesSince = Number.POSITIVE_INFINITY;
  #filesSince = Number.POSITIVE_INFINITY;

  constructor(options: ResourceCacheOptions) {
    this.#folder = options.folder;
    this.#maxBytes = options.maxBytes ?? 200 * 1024 * 1024;
    this.#maxFiles = options.maxFiles ?? 20_000;
    this.#log = options.log ?? silentLog;
  }

  /** What is known under a name, or undefined. Names are hashed: the folder tells nobody what was read. */
  async get(name: string): Promise<FramedContent | undefined> {
    return await readFramed(this.#pathOf(name)).catch(() => undefined);
  }

  /** Keeps a content; writing happens behind the caller's back, and a failure is only logged. */
  put(name: string, bytes: Uint8Array, meta: Readonly<Record<string, string>> = {}): void {
    if (bytes.length > this.#maxBytes / 4) return;
    this.#writing = this.#writing.then(async () => {
      try {
        await writeFramed(this.#pathOf(name), bytes, meta, { durable: false });
        this.#bytesSince += bytes.length;
        this.#filesSince += 1;
        if (this.#bytesSince > this.#maxBytes / 10 || this.#filesSince > this.#maxFiles / 10) await this.#sweep();
      } catch (error) {
        this.#log.warn(`resource cache: ${messageOf(error)}`);
      }
    });
  }

  /** Renews the age of what is still read. */
  touch(name: string): void {
    this.#writing = this.#writing.then(async () => {
      const path = this.#pathOf(name);
      const found = await stat(path).catch(() => undefined);
      const now = Date.now();
      if (found !== undefined && now - found.mtimeMs > STALE_MS)
        await utimes(path, now / 1000, now / 1000).catch(() => {});
    });
  }

  /** When everything that was put so far is on disk. */
  settled(): Promise<void> {
    return this.#writing;
  }

  /** Removes the oldest until the rest is well within the bounds, and what a crash left half written. */
  async #sweep(): Promise<void> {
    const files: { path: string; bytes: number; at: number }[] = [];
    for (const entry of await readdir(this.#folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) continue;
      const isLeftover = entry.name.endsWith('.tmp') && Date.now() - found.mtimeMs > STALE_MS;
      if (isLeftover) await rm(path, { force: true });
      else files.push({ path, bytes: found.size, at: found.mtimeMs });
    }
    files.sort((a, b) => b.at - a.at);
    let bytes = 0;
    for (const [index, file] of files.entries()) {
      bytes += file.bytes;
      if (bytes > this.#maxBytes * 0.8 || index >= this.#maxFiles * 0.8) await rm(file.path, { force: true });
    }
    this.#bytesSince = 0;
    this.#filesSince = 0;
  }

  #pathOf(name: string): string {
    const hash = createHash('sha256').update(name).digest('hex');
    return join(this.#folder, hash.slice(0, 2), `${hash.slice(2)}.entry`);
  }
}
