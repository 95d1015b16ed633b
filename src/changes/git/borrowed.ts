// Keeps what states take from repositories of the user although a repository goes, or forgets what
// nothing in it needs: its objects get a second name in the store. That takes no space as long as the
// repository has them too.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { put } from './bareStore';

const ROOT = 'borrowed';
const SOURCE = 'source';
/** Bytes of one repository that are copied where a hard link is impossible (another disk). */
const MAX_COPIED = 256 * 1024 * 1024;
/** Changes within this time may not show in the folder's time, ms. */
const UNSETTLED_MS = 100;

export class Borrowed {
  readonly folder: string;
  readonly #objects: string;
  readonly #read = new Map<string, number>();
  #copied = 0;

  constructor(store: string, objects: string) {
    this.#objects = objects;
    this.folder = join(store, ROOT, createHash('sha256').update(objects).digest('hex').slice(0, 16));
  }

  /** Links new objects; skips those that can't be linked. @throws the file system's error */
  async update(): Promise<void> {
    const names = (await readdir(this.#objects).catch(() => [])).filter(isObjectFolder);
    await Promise.all(names.map((name) => this.#updateFolder(name)));
  }

  async #updateFolder(name: string): Promise<void> {
    const from = join(this.#objects, name);
    const changedAt = (await stat(from).catch(() => undefined))?.mtimeMs;
    if (changedAt === undefined || this.#read.get(name) === changedAt) return;
    if (this.#read.size === 0) await this.#begin();
    const to = join(this.folder, name);
    const isUnsettled = Date.now() - changedAt < UNSETTLED_MS;
    await mkdir(to, { recursive: true, mode: 0o700 });
    const present = new Set(await readdir(to));
    const files = (await readdir(from).catch(() => [])).filter((file) => isObject(name, file) && !present.has(file));
    // The index of a pack last: without it, git ignores the pack.
    for (const file of files.sort((one, two) => Number(one.endsWith('.idx')) - Number(two.endsWith('.idx'))))
      await this.#take(join(from, file), join(to, file));
    if (!isUnsettled) this.#read.set(name, changedAt);
  }

  async #begin(): Promise<void> {
    await mkdir(join(this.folder, 'info'), { recursive: true, mode: 0o700 });
    await put(join(this.folder, SOURCE), Buffer.from(this.#objects));
    const others = await readFile(join(this.#objects, 'info/alternates'), 'utf8').catch(() => '');
    const absolute = others.split('\n').map((path) => (path === '' ? '' : resolve(this.#objects, path)));
    await put(join(this.folder, 'info/alternates'), Buffer.from(absolute.join('\n')));
  }

  async #take(from: string, to: string): Promise<void> {
    try {
      await link(from, to);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' || code === 'ENOENT') return;
      const size = (await stat(from).catch(() => undefined))?.size ?? 0;
      if (this.#copied + size > MAX_COPIED) return;
      this.#copied += size;
      await copyFile(from, to, constants.COPYFILE_FICLONE).catch(() => rm(to, { force: true }));
    }
  }
}

export interface Borrowings {
  readonly folders: readonly string[];
  readonly sources: readonly string[];
  /** Objects that the user's repositories no longer have. */
  readonly orphans: readonly string[];
}

/** @param oldest ms since 1970; orphans that changed later are left out */
export async function listBorrowed(store: string, oldest: number): Promise<Borrowings> {
  const found = { folders: [] as string[], sources: [] as string[], orphans: [] as string[] };
  for (const name of await readdir(join(store, ROOT)).catch(() => [])) {
    const folder = join(store, ROOT, name);
    const source = await readFile(join(folder, SOURCE), 'utf8').catch(() => undefined);
    if (source === undefined) continue;
    found.folders.push(folder);
    found.sources.push(source);
    for (const below of (await readdir(folder)).filter(isObjectFolder)) {
      const kept = new Set(await readdir(join(source, below)).catch(() => []));
      for (const file of await readdir(join(folder, below))) {
        const path = join(folder, below, file);
        // The change time is updated when the other name is removed.
        if (!kept.has(file) && ((await stat(path).catch(() => undefined))?.ctimeMs ?? Infinity) < oldest)
          found.orphans.push(path);
      }
    }
  }
  return found;
}

export async function removeBorrowed({ folders, orphans }: Borrowings): Promise<void> {
  for (const path of [...orphans].sort((one, two) => Number(two.endsWith('.idx')) - Number(one.endsWith('.idx'))))
    await rm(path, { force: true }).catch(() => undefined);
  for (const folder of folders) {
    for (const below of (await readdir(folder)).filter(isObjectFolder))
      await rmdir(join(folder, below)).catch(() => undefined);
    if (!(await readdir(folder)).some(isObjectFolder)) await rm(folder, { recursive: true, force: true });
  }
}

function isObjectFolder(name: string): boolean {
  return name === 'pack' || /^[0-9a-f]{2}$/.test(name);
}

function isObject(folder: string, name: string): boolean {
  return folder === 'pack' ? /^pack-[0-9a-f]+\.(pack|idx)$/.test(name) : /^[0-9a-f]{38,62}$/.test(name);
}
