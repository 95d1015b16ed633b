// Preserves objects of the user's repositories that states refer to, even if the repository is
// deleted or prunes them: the store gets hard links to them, which take no space while the
// repository has them too.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { put } from './bareStore';

const ROOT = 'borrowed';
const SOURCE = 'source';
/** Bytes copied from one repository if hard links are impossible (another disk). */
const MAX_COPIED = 256 * 1024 * 1024;
/** Changes within this time may not be visible in the folder's time, ms. */
const UNSETTLED_MS = 100;

export class Borrowed {
  readonly folder: string;
  readonly #objects: string;
  readonly #foldersReadAt = new Map<string, number>();
  #copied = 0;

  constructor(store: string, objects: string) {
    this.#objects = objects;
    this.folder = join(store, ROOT, createHash('sha256').update(objects).digest('hex').slice(0, 16));
  }

  /** Links new objects; skips those that can't be linked. Throws the file system's error. */
  async update(): Promise<void> {
    const names = (await readdir(this.#objects).catch(() => [])).filter(isObjectFolder);
    await Promise.all(names.map((name) => this.#updateFolder(name)));
  }

  async #updateFolder(name: string): Promise<void> {
    const from = join(this.#objects, name);
    const changedAt = (await stat(from).catch(() => undefined))?.mtimeMs;
    if (changedAt === undefined || this.#foldersReadAt.get(name) === changedAt) return;
    if (this.#foldersReadAt.size === 0) await this.#writeSource();
    const to = join(this.folder, name);
    const isUnsettled = Date.now() - changedAt < UNSETTLED_MS;
    await mkdir(to, { recursive: true, mode: 0o700 });
    const present = new Set(await readdir(to));
    const files = (await readdir(from).catch(() => [])).filter((file) => isObject(name, file) && !present.has(file));
    // A pack's index comes last: without it, git ignores the pack.
    for (const file of files.sort((one, two) => Number(one.endsWith('.idx')) - Number(two.endsWith('.idx'))))
      await this.#linkOrCopy(join(from, file), join(to, file));
    if (!isUnsettled) this.#foldersReadAt.set(name, changedAt);
  }

  async #writeSource(): Promise<void> {
    await mkdir(join(this.folder, 'info'), { recursive: true, mode: 0o700 });
    await put(join(this.folder, SOURCE), Buffer.from(this.#objects));
    const others = await readFile(join(this.#objects, 'info/alternates'), 'utf8').catch(() => '');
    const absolute = others.split('\n').map((path) => (path === '' ? '' : resolve(this.#objects, path)));
    await put(join(this.folder, 'info/alternates'), Buffer.from(absolute.join('\n')));
  }

  async #linkOrCopy(from: string, to: string): Promise<void> {
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
  readonly orphans: readonly string[];
}

/** @param oldest ms since 1970; orphans that changed later are skipped */
export async function listBorrowed(store: string, oldest: number): Promise<Borrowings> {
  const found = { folders: [] as string[], sources: [] as string[], orphans: [] as string[] };
  for (const name of await readdir(join(store, ROOT)).catch(() => [])) {
    const folder = join(store, ROOT, name);
    const source = await readFile(join(folder, SOURCE), 'utf8').catch(() => undefined);
    if (source === undefined) continue;
    found.folders.push(folder);
    found.sources.push(source);
    for (const below of (await readdir(folder)).filter(isObjectFolder)) {
      const inSource = new Set(await readdir(join(source, below)).catch(() => []));
      for (const file of await readdir(join(folder, below))) {
        const path = join(folder, below, file);
        // Removing the other link updates the change time.
        if (!inSource.has(file) && ((await stat(path).catch(() => undefined))?.ctimeMs ?? Infinity) < oldest)
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
