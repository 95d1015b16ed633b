// The sessions of our server on disk, shared by all windows of this installation: a folder per
// session, a file per version. The first writer of a version wins; others read it and retry.
import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ParleyError } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { diskError, readFramed, writeFramed } from '../stores/framedFile';

export interface KeptSession {
  readonly text: string;
  readonly revision: number;
}

export interface SessionFilesOptions {
  readonly folder: string;
  readonly maxBytes?: number;
  readonly maxTotalBytes?: number;
  readonly maxSessions?: number;
  readonly log?: Log;
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;
const MAX_SESSIONS = 5000;
const PRUNED_FRACTION = 0.1;
const VERSION = /^(\d{10})\.json$/;

export class SessionFiles {
  readonly #options: SessionFilesOptions;
  readonly #log: Log;
  /** Of all records, as far as this window knows; undefined before counting. */
  #total: { sessions: number; bytes: number } | undefined;

  constructor(options: SessionFilesOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** @throws ParleyError `store-error` */
  async read(id: string): Promise<KeptSession | undefined> {
    const folder = this.#folderOf(id);
    for (;;) {
      const revisions = await versionsIn(folder);
      let isGone = false;
      for (const revision of revisions) {
        try {
          const { bytes } = await readFramed(fileOf(folder, revision));
          return { text: Buffer.from(bytes).toString('utf8'), revision: revisions[0] ?? revision };
        } catch (error) {
          if (!(error instanceof ParleyError) || error.code === 'store-error') throw error;
          // Another window wrote the next version, or a crash left only the previous one intact.
          isGone ||= error.code === 'not-found';
          if (error.code === 'torn') this.#log.warn(`A version of the served session ${id} is damaged.`);
        }
      }
      if (!isGone) return undefined;
    }
  }

  /** False if another writer was first. Throws `disk-full`, `store-error`, `session-too-large`. */
  async write(id: string, text: string, revision: number): Promise<boolean> {
    const bytes = Buffer.from(text);
    if (bytes.length > (this.#options.maxBytes ?? MAX_BYTES)) {
      throw new ParleyError('session-too-large', 'The session has more messages than the server can keep.');
    }
    const folder = this.#folderOf(id);
    try {
      await writeFramed(fileOf(folder, revision + 1), bytes, {}, { durable: true, exclusive: true });
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'exists') return false;
      throw error;
    }
    await this.#removeBefore(folder, revision + 1);
    await this.#keepWithin(revision === 0, bytes.length);
    return true;
  }

  async #removeBefore(folder: string, revision: number): Promise<void> {
    const old = (await versionsIn(folder)).filter((one) => one < revision - 1);
    for (const one of old)
      await rm(fileOf(folder, one), { force: true }).catch((error) => this.#log.warn(messageOf(error)));
  }

  async #keepWithin(isNew: boolean, bytes: number): Promise<void> {
    const { folder, maxTotalBytes = MAX_TOTAL_BYTES, maxSessions = MAX_SESSIONS } = this.#options;
    if (this.#total) {
      if (isNew) this.#total.sessions++;
      this.#total.bytes += bytes;
      if (this.#total.sessions <= maxSessions && this.#total.bytes <= maxTotalBytes) return;
    }
    // Versions of one session were counted repeatedly above, so the disk is counted.
    const all = await Promise.all((await readdir(folder)).map((name) => sizeOf(join(folder, name))));
    all.sort((a, b) => a.changed - b.changed);
    const total = { sessions: all.length, bytes: all.reduce((sum, one) => sum + one.bytes, 0) };
    this.#total = total;
    if (total.sessions <= maxSessions && total.bytes <= maxTotalBytes) return;
    for (const one of all.slice(0, -1)) {
      if (total.sessions <= maxSessions * (1 - PRUNED_FRACTION) && total.bytes <= maxTotalBytes * (1 - PRUNED_FRACTION))
        return;
      await rm(one.path, { recursive: true, force: true }).catch((error) => this.#log.warn(messageOf(error)));
      total.sessions--;
      total.bytes -= one.bytes;
    }
  }

  #folderOf(id: string): string {
    return join(this.#options.folder, createHash('sha256').update(id).digest('hex').slice(0, 40));
  }
}

function fileOf(folder: string, revision: number): string {
  return join(folder, `${String(revision).padStart(10, '0')}.json`);
}

async function versionsIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw diskError(error);
  });
  return names
    .flatMap((name) => VERSION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

async function sizeOf(path: string): Promise<{ path: string; changed: number; bytes: number }> {
  let [changed, bytes] = [0, 0];
  for (const revision of await versionsIn(path)) {
    // Another window may have removed it.
    const found = await stat(fileOf(path, revision)).catch(() => undefined);
    changed = Math.max(changed, found?.mtimeMs ?? 0);
    bytes += found?.size ?? 0;
  }
  return { path, changed, bytes };
}
