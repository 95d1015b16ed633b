// Caches fetched resources on disk: entries of a history never change, so opening a session again
// needs no network. Bounded; a damaged file is a miss. Writes wait until fetching pauses: showing
// messages comes first, and files cost more than fetching them.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { sha256Of } from '../model/resources';
import { type FramedContent, readFramed, writeFramed } from '../stores/framedFile';

export interface ResourceCacheOptions {
  readonly folder: string;
  /** 200 MB by default. */
  readonly maxBytes?: number;
  /** 20 000 by default. */
  readonly maxFiles?: number;
  /** Between the last fetch and the writing, in milliseconds (1,000). */
  readonly restMs?: number;
  readonly log?: Log;
}

/** Reading renews the age of older files only, so that it seldom writes. */
const STALE_MS = 24 * 3600_000;
/** Bytes that wait in memory for being written; with more, writing begins. */
const MAX_WAITING = 8 * 1024 * 1024;

interface Waiting {
  readonly bytes: Uint8Array;
  readonly meta: Readonly<Record<string, string>>;
}

export class ResourceCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #restMs: number;
  readonly #log: Log;
  readonly #waiting = new Map<string, Waiting>();
  #waitingBytes = 0;
  readonly #read = new Set<string>();
  #rest: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** What was written since the folder was last looked through; at first it is not known. */
  #bytesSince = Number.POSITIVE_INFINITY;
  #filesSince = Number.POSITIVE_INFINITY;

  constructor(options: ResourceCacheOptions) {
    this.#folder = options.folder;
    this.#maxBytes = options.maxBytes ?? 200 * 1024 * 1024;
    this.#maxFiles = options.maxFiles ?? 20_000;
    this.#restMs = options.restMs ?? 1000;
    this.#log = options.log ?? silentLog;
  }

  /** Names are hashed, so that the folder does not reveal what was read. */
  async get(name: string): Promise<FramedContent | undefined> {
    const waiting = this.#waiting.get(name);
    if (waiting) return { ...waiting, sha256: sha256Of(waiting.bytes) };
    const path = this.#pathOf(name);
    // Most of what is asked for is not there, and a file that cannot be opened costs many times
    // what this look does.
    if (!existsSync(path)) return undefined;
    return await readFramed(path).catch(() => undefined);
  }

  /** Keeps a content; writing happens behind the caller's back, and a failure is only logged. */
  put(name: string, bytes: Uint8Array, meta: Readonly<Record<string, string>> = {}): void {
    if (bytes.length > this.#maxBytes / 4) return;
    this.#waitingBytes += bytes.length;
    this.#waiting.set(name, { bytes, meta });
    if (this.#waitingBytes > MAX_WAITING) this.#write();
    else this.#writeLater();
  }

  touch(name: string): void {
    this.#read.add(name);
    this.#writeLater();
  }

  settled(): Promise<void> {
    this.#write();
    return this.#writing;
  }

  #writeLater(): void {
    if (this.#rest) this.#rest.refresh();
    else this.#rest = setTimeout(() => this.#write(), this.#restMs).unref();
  }

  #write(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    const contents = [...this.#waiting];
    const names = [...this.#read];
    this.#waitingBytes = 0;
    this.#read.clear();
    if (contents.length === 0 && names.length === 0) return;
    this.#writing = this.#writing.then(async () => {
      for (const [name, content] of contents) {
        // Put again in the meantime: it is written with what was put then.
        if (this.#waiting.get(name) !== content) continue;
        await this.#writeOne(name, content);
        if (this.#waiting.get(name) === content) this.#waiting.delete(name);
      }
      for (const name of names) await this.#renew(name);
    });
  }

  async #writeOne(name: string, { bytes, meta }: Waiting): Promise<void> {
    try {
      await writeFramed(this.#pathOf(name), bytes, meta, { durable: false });
      this.#bytesSince += bytes.length;
      this.#filesSince += 1;
      if (this.#bytesSince > this.#maxBytes / 10 || this.#filesSince > this.#maxFiles / 10) await this.#sweep();
    } catch (error) {
      this.#log.warn(`resource cache: ${messageOf(error)}`);
    }
  }

  async #renew(name: string): Promise<void> {
    const path = this.#pathOf(name);
    const found = await stat(path).catch(() => undefined);
    const now = Date.now();
    if (found !== undefined && now - found.mtimeMs > STALE_MS)
      await utimes(path, now / 1000, now / 1000).catch(() => {});
  }

  /** Removes the oldest until the rest is well within bounds, and leftovers of crashes. */
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
