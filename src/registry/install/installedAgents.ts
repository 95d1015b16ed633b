// The folder of installed agents: `<id>/<version>/`, each with a receipt. Folders without one are
// incomplete; names with a leading dot are in progress.
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { retryBusy } from '../../base/retryBusy';

const RECEIPT = 'receipt.json';
const ID = /^[a-z][a-z0-9-]{0,99}$/;
const VERSION = /^[0-9][0-9A-Za-z.+-]{0,99}$/;
/** Age at which partial downloads are deleted, ms. */
const ABANDONED_MS = 7 * 24 * 60 * 60_000;

const text = z.string();
const receipt = z.object({
  id: text,
  name: text,
  version: text,
  /** Relative to the version's folder. */
  program: text,
  args: z.array(text),
  env: z.record(text, text),
  /** Ms since 1970. */
  installedAt: z.number(),
  /** In bytes. */
  size: z.number(),
  sha256: z.optional(text),
  isPreview: z.optional(z.literal(true)),
});

export type Receipt = z.infer<typeof receipt>;

export interface InstalledAgent extends Receipt {
  readonly folder: string;
  readonly command: string;
}

export class InstalledAgents {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Versions of one agent are sorted, latest installation first. */
  async list(): Promise<readonly InstalledAgent[]> {
    const ids = (await entriesOf(this.root)).filter((name) => ID.test(name));
    const versions = await Promise.all(ids.map((id) => this.versions(id)));
    return versions.flat();
  }

  async versions(id: string): Promise<readonly InstalledAgent[]> {
    if (!ID.test(id)) return [];
    const names = (await entriesOf(join(this.root, id))).filter((name) => VERSION.test(name));
    const found = await Promise.all(names.map((version) => readReceipt(join(this.root, id, version))));
    return found.filter((one) => one !== undefined).sort((a, b) => b.installedAt - a.installedAt);
  }

  lockFile(id: string): string {
    return join(this.root, '.locks', `${id}.db`);
  }

  get downloads(): string {
    return join(this.root, '.downloads');
  }

  /** Creates a staging folder and deletes leftovers of earlier installations and downloads. */
  async stage(id: string): Promise<string> {
    const home = join(this.root, id);
    for (const name of await entriesOf(this.downloads)) {
      const path = join(this.downloads, name);
      const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > ABANDONED_MS) await remove(path);
    }
    for (const name of await entriesOf(home))
      if (name.startsWith('.stage-') || name.startsWith('.gone-')) await remove(join(home, name));
    const folder = join(home, `.stage-${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    return folder;
  }

  async commit(staged: string, facts: Omit<Receipt, 'size'>): Promise<InstalledAgent> {
    const size = await sizeOf(staged);
    await writeFile(join(staged, RECEIPT), JSON.stringify({ ...facts, size }, undefined, 2));
    const folder = join(this.root, facts.id, facts.version);
    await this.#delete(folder);
    await retryBusy(() => rename(staged, folder));
    return { ...facts, size, folder, command: join(folder, facts.program) };
  }

  /** Files in use are deleted by a later installation. */
  async remove({ id, version }: Pick<InstalledAgent, 'id' | 'version'>): Promise<void> {
    if (!ID.test(id) || !VERSION.test(version)) return;
    await this.#delete(join(this.root, id, version));
  }

  /** Renamed first, so that it leaves the list even if deletion takes long or the window closes. */
  async #delete(folder: string): Promise<void> {
    const trash = join(folder, '..', `.gone-${randomUUID()}`);
    try {
      await retryBusy(() => rename(folder, trash));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    await remove(trash).catch(() => {}); // retried by the next installation
  }
}

export async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function readReceipt(folder: string): Promise<InstalledAgent | undefined> {
  try {
    const read = receipt.parse(JSON.parse(await readFile(join(folder, RECEIPT), 'utf8')));
    return { ...read, folder, command: join(folder, read.program) };
  } catch {
    return undefined;
  }
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

/** In bytes, without links; hard links count once. */
async function sizeOf(folder: string): Promise<number> {
  const counted = new Set<string>();
  let size = 0n;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = await lstat(join(entry.parentPath, entry.name), { bigint: true });
    const id = `${file.dev}:${file.ino}`;
    if (file.nlink > 1n && counted.has(id)) continue;
    counted.add(id);
    size += file.size;
  }
  return Number(size);
}
