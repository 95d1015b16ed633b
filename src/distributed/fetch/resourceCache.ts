// Caches fetched resources on disk: history entries never change, so reopening a session needs no
// network. Bounded; a damaged file is a miss. Writes wait until fetching pauses, because files cost
// more than fetching.
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
  /** 20,000 by default. */
  readonly maxFiles?: number;
  /** Pause after the last fetch before writing, in milliseconds (1,000). */
  readonly restMs?: number;
  readonly log?: Log;
}

/** Reading renews only older files, which saves writes. */
const STALE_MS = 24 * 3600_000;
/** Bytes pending in memory before writing starts. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

interface PendingWrite {
  readonly bytes: Uint8Array;
  readonly meta: Readonly<Record<string, string>>;
}

export class ResourceCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxFiles: number;
  readonly #restMs: number;
  readonly #log: Log;
  readonly #pending = new Map<string, PendingWrite>();
  #pendingBytes = 0;
  readonly #touched = new Set<string>();
  #writeTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** Written since the last sweep; unknown at first. */
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
    const waiting = this.#pending.get(name);
    if (waiting) return { ...waiting, sha256: sha256Of(waiting.bytes) };
    const path = this.#pathOf(name);
    // Most names are misses, and a failed open costs many times more than this check.
    if (!existsSync(path)) return undefined;
    return await readFramed(path).catch(() => undefined);
  }

  /** Written in the background; failures are only logged. */
  put(name: string, bytes: Uint8Array, meta: Readonly<Record<string, string>> = {}): void {
    if (bytes.length > this.#maxBytes / 4) return;
    this.#pendingBytes += bytes.length;
    this.#pending.set(name, { bytes, meta });
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#write();
    else this.#writeLater();
  }

  touch(name: string): void {
    this.#touched.add(name);
    this.#writeLater();
  }

  settled(): Promise<void> {
    this.#write();
    return this.#writing;
  }

  #writeLater(): void {
    if (this.#writeTimer) this.#writeTimer.refresh();
    else this.#writeTimer = setTimeout(() => this.#write(), this.#restMs).unref();
  }

  #write(): void {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
    const contents = [...this.#pending];
    const names = [...this.#touched];
    this.#pendingBytes = 0;
    this.#touched.clear();
    if (contents.length === 0 && names.length === 0) return;
    this.#writing = this.#writing.then(async () => {
      for (const [name, content] of contents) {
        // Replaced by a later put, which writes it.
        if (this.#pending.get(name) !== content) continue;
        await this.#writeOne(name, content);
        if (this.#pending.get(name) === content) this.#pending.delete(name);
      }
      for (const name of names) await this.#renew(name);
    });
  }

  async #writeOne(name: string, { bytes, meta }: PendingWrite): Promise<void> {
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

  /** Deletes the oldest files down to 80 % of the limits, and leftovers of crashes. */
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
