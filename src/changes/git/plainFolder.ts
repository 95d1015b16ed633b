// The states of one folder without git: only files that tools name, stored as plain contents.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import { localizable } from '../../base/localizable';
import { countOf, hunks } from '../lines/hunks';
import type { FileChange, FileVersion } from '../model/fileChange';
import type { StoredFolder } from './bareStore';
import { put } from './bareStore';
import { heldStates } from './holds';

const MAX_FILES = 5000;
const MISSING: readonly unknown[] = ['ENOENT', 'ENOTDIR'];
const GRACE_MS = 24 * 60 * 60 * 1000;

const version = z.object({
  oid: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  mode: z.enum(['100644', '100755', '120000']),
  size: z.int().check(z.nonnegative()),
  isHashOnly: z.optional(z.literal(true)),
});
/** A file now, and when it was named; null: missing. */
const stateFile = z.object({ now: z.nullable(version), named: z.nullable(version) });
const storedState = z.record(z.string(), stateFile);
type State = z.infer<typeof storedState>;
type Version = z.infer<typeof version>;
const UNREAD: Version = { oid: '0'.repeat(64), mode: '100644', size: 0, isHashOnly: true };

export class PlainFolder implements StoredFolder {
  readonly isNamedOnly = true;
  readonly hasUnreadRepositories = false;
  readonly newestRead = 0;
  readonly store: string;
  readonly #folder: string;
  readonly #maxFile: number;
  readonly #queue = new KeyedQueue<'store'>();
  readonly #named = new Map<string, Promise<Version | null>>();

  private constructor(folder: string, store: string, maxFile: number) {
    this.#folder = folder;
    this.store = store;
    this.#maxFile = maxFile;
  }

  static async open(folder: string, store: string, maxFile: number): Promise<PlainFolder> {
    for (const name of ['contents', 'states']) await mkdir(join(store, name), { recursive: true, mode: 0o700 });
    return new PlainFolder(folder, store, maxFile);
  }

  name(path: string): void {
    if (this.#named.has(path) || this.#named.size >= MAX_FILES) return;
    const present = this.#queue.run('store', () => this.#present(path));
    present.catch(() => undefined);
    this.#named.set(path, present);
  }

  take(signal?: AbortSignal): Promise<string> {
    const paths = [...this.#named.keys()].sort();
    return this.#queue.run('store', async () => {
      const state: State = {};
      for (const path of paths) {
        signal?.throwIfAborted();
        const named = await this.#named.get(path);
        const now = await this.#present(path);
        state[path] = { now, named: named ?? null };
      }
      return this.#writeState(state);
    });
  }

  async changes(root: string, before: string, after: string): Promise<readonly FileChange[]> {
    const [old, present] = [await this.#readState(before), await this.#readState(after)];
    const changes: FileChange[] = [];
    for (const [path, { now, named }] of Object.entries(present)) {
      const previous = old[path] ? old[path].now : named;
      if (previous?.oid === now?.oid && previous?.mode === now?.mode) continue;
      const lines = await this.#lines(previous, now);
      changes.push({
        root,
        path,
        before: previous ? plain(previous) : undefined,
        after: now ? plain(now) : undefined,
        added: lines?.added ?? 0,
        removed: lines?.removed ?? 0,
        isBinary: !lines || undefined,
      });
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string> {
    const [mixed, from] = [{ ...(await this.#readState(state)) }, await this.#readState(other)];
    for (const path of files) {
      const present = mixed[path];
      if (present) mixed[path] = { ...present, now: from[path] ? from[path].now : present.named };
    }
    return this.#writeState(mixed);
  }

  async read({ oid }: FileVersion): Promise<Buffer> {
    try {
      return await readFile(join(this.store, 'contents', oid));
    } catch (cause) {
      throw new ParleyError('state-gone', localizable('This version of the file is no longer kept.'), { cause });
    }
  }

  async write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    const oid = createHash('sha256').update(content).digest('hex');
    await put(join(this.store, 'contents', oid), content);
    return { oid, mode, size: content.length };
  }

  async collect(): Promise<void> {
    await collectPlain(this.store);
  }

  async #present(path: string): Promise<Version | null> {
    const file = join(this.#folder, path);
    try {
      const stats = await lstat(file);
      if (stats.isSymbolicLink()) return versionOf(await this.write(Buffer.from(await readlink(file)), '120000'));
      if (stats.isDirectory()) return null;
      if (!stats.isFile()) return UNREAD;
      // Neither blocks on a pipe nor follows a link that replaced the file.
      const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
      await using handle = await open(file, flags);
      const mode = stats.mode & 0o100 ? '100755' : '100644';
      const { size } = await handle.stat();
      if (size <= this.#maxFile) return versionOf(await this.write(await handle.readFile(), mode));
      const hash = createHash('sha256');
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
      return { oid: hash.digest('hex'), mode, size, isHashOnly: true };
    } catch (error) {
      return MISSING.includes((error as NodeJS.ErrnoException).code) ? null : UNREAD;
    }
  }

  async #lines(
    previous: Version | null,
    now: Version | null,
  ): Promise<{ readonly added: number; readonly removed: number } | undefined> {
    const isText = (one: Version | null): boolean => one === null || (!one.isHashOnly && one.mode !== '120000');
    if (!isText(previous) || !isText(now)) return undefined;
    const content = (one: Version | null): Promise<Buffer> | Buffer => (one ? this.read(plain(one)) : Buffer.alloc(0));
    const found = await hunks(await content(previous), await content(now));
    return found && countOf(found);
  }

  async #writeState(state: State): Promise<string> {
    const text = JSON.stringify(state);
    const name = createHash('sha256').update(text).digest('hex');
    await put(join(this.store, 'states', name), Buffer.from(text));
    return name;
  }

  #readState(name: string): Promise<State> {
    return readState(this.store, name);
  }
}

async function readState(store: string, name: string): Promise<State> {
  try {
    return storedState.parse(JSON.parse(await readFile(join(store, 'states', name), 'utf8')));
  } catch (cause) {
    throw new ParleyError('state-gone', localizable('This state of the files is no longer kept.'), { cause });
  }
}

/** Removes old contents and states that no session holds. Returns the bytes held. */
export async function collectPlain(store: string): Promise<number> {
  const held = await heldStates(store);
  const needed = new Set(held);
  for (const state of held) {
    for (const { now, named } of Object.values(await readState(store, state).catch(() => ({}) as State))) {
      for (const one of [now, named]) if (one) needed.add(one.oid);
    }
  }
  let bytes = 0;
  for (const kind of ['states', 'contents']) {
    for (const name of await readdir(join(store, kind))) {
      const path = join(store, kind, name);
      const { mtimeMs = 0, size = 0 } = (await stat(path).catch(() => undefined)) ?? {};
      if (needed.has(name)) bytes += size;
      else if (Date.now() - mtimeMs > GRACE_MS) await rm(path, { force: true });
    }
  }
  return bytes;
}

function plain({ oid, mode, size, isHashOnly }: Version): FileVersion {
  return { oid, mode, size, isHashOnly };
}

function versionOf({ oid, mode, size }: FileVersion): Version {
  return { oid, mode, size };
}
