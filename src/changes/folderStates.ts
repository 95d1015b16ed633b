// Records the states of a session's folders.

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { Configured } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { localizable } from '../base/localizable';
import type { Log } from '../base/log';
import type { OpenFolder, StoredFolder } from './git/bareStore';
import { openGitFolder } from './git/gitFolder';
import { findGit, type Git } from './git/gitProcess';
import { hold, release, WINDOW } from './git/holds';
import { PlainFolder } from './git/plainFolder';
import { realFolder } from './git/repository';
import { gapOf, type ScanLimits } from './git/scan';
import type { FileChange, FileVersion, FolderStates, FolderTree, Snapshot, SnapshotGap } from './model/fileChange';

const MB = 1024 * 1024;
const LIMITS: ScanLimits = { timeoutMs: 60_000, maxFile: 20 * MB, maxHashed: 256 * MB, maxKept: 2048 * MB };
const MAX_WITHOUT_REPOSITORY = { files: 50_000, bytes: 2048 * MB };
const HOLDS_TO_COLLECT = 200;

interface FolderStatesOptions {
  readonly roots: readonly string[];
  readonly storage: string;
  readonly session: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

/** Nothing is read or written before the first call. */
export function openFolderStates(options: FolderStatesOptions): FolderStates {
  return new OpenFolderStates(options);
}

class OpenFolderStates extends Configured<FolderStatesOptions> implements FolderStates {
  readonly roots: readonly string[];
  readonly #folders = new Map<string, Promise<OpenFolder>>();
  #git: Promise<Git | undefined> | undefined;
  #holds = 0;
  #newestRead = 0;
  #isDisposed = false;

  constructor(options: FolderStatesOptions) {
    super(options);
    this.roots = [...new Set(options.roots)];
  }

  async take(signal?: AbortSignal): Promise<Snapshot> {
    const folders: FolderTree[] = [];
    const gaps: SnapshotGap[] = [];
    await Promise.all(
      this.roots.map(async (root) => {
        try {
          const folder = await this.#open(root);
          folders.push({ root, tree: await folder.take(signal) });
          this.#newestRead = Math.max(this.#newestRead, folder.newestRead);
          if (folder.isNamedOnly) gaps.push({ root, why: 'no-git' });
          if (folder.hasUnreadRepositories) gaps.push({ root, why: 'repositories' });
        } catch (error) {
          this.options.log.warn(`The state of ${root} couldn't be read: ${messageOf(error)}`);
          gaps.push({ root, why: gapOf(error) });
        }
      }),
    );
    return { folders: sortedByRoot(folders), gaps: sortedByRoot(gaps) };
  }

  get newestRead(): number {
    return this.#newestRead;
  }

  async changes(before: Snapshot, after: Snapshot, signal?: AbortSignal): Promise<readonly FileChange[]> {
    const found = await Promise.all(
      sortedByRoot(before.folders).map(async ({ root, tree }) => {
        const later = after.folders.find((one) => one.root === root);
        return later ? (await this.#open(root)).changes(root, tree, later.tree, signal) : [];
      }),
    );
    return found.flat();
  }

  async replaced(snapshot: Snapshot, other: Snapshot, files: readonly string[]): Promise<Snapshot> {
    const folders = await Promise.all(
      snapshot.folders.map(async ({ root, tree }) => {
        const from = other.folders.find((one) => one.root === root);
        const below = new Set(files.flatMap((file) => pathBelow(root, file) ?? []));
        if (!from || below.size === 0) return { root, tree };
        return { root, tree: await (await this.#open(root)).replaced(tree, from.tree, below) };
      }),
    );
    return { ...snapshot, folders };
  }

  async read(root: string, version: FileVersion): Promise<Buffer> {
    if (version.isHashOnly) {
      throw new ParleyError('version-not-kept', localizable('The file is too large: this version was not kept.'));
    }
    return (await this.#open(root)).read(version);
  }

  async write(root: string, content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    const folder = await this.#open(root);
    const version = await folder.write(content, mode);
    await hold(folder.store, this.options.session, `content ${version.oid}`, version.oid);
    return version;
  }

  name(path: string): void {
    for (const root of this.roots) {
      const below = pathBelow(root, path);
      if (below === undefined) continue;
      this.#open(root).then(
        (folder) => folder.name(below),
        () => undefined,
      );
    }
  }

  async hold(snapshot: Snapshot, name: string): Promise<void> {
    for (const { root, tree } of snapshot.folders) {
      await hold((await this.#open(root)).store, this.options.session, name, tree);
    }
    this.#holds += 1;
    if (this.#holds % HOLDS_TO_COLLECT === 0) void this.#collect();
  }

  async release(name?: string): Promise<void> {
    for (const root of this.roots) {
      await release((await this.#open(root)).store, this.options.session, name);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const opened of this.#folders.values()) {
      opened.then(
        (open) => open.dispose(),
        () => undefined,
      );
    }
    this.#folders.clear();
  }

  async #collect(): Promise<void> {
    for (const root of this.roots) {
      await this.#open(root)
        .then((folder) => folder.collect())
        .catch((error) => this.options.log.warn(`The states of ${root} couldn't be packed: ${messageOf(error)}`));
    }
  }

  async #open(root: string): Promise<StoredFolder> {
    if (this.#isDisposed) throw new ParleyError('states-closed', localizable('Canceled.'));
    const existing = this.#folders.get(root);
    if (existing) return (await existing).folder;
    const opened = this.#openFolder(root);
    this.#folders.set(root, opened);
    try {
      return (await opened).folder;
    } catch (error) {
      if (this.#folders.get(root) === opened) this.#folders.delete(root);
      throw error;
    }
  }

  async #openFolder(root: string): Promise<OpenFolder> {
    const { env, storage } = this.options;
    this.#git ??= findGit(env);
    const git = await this.#git;
    const folder = await realFolder(root);
    if (folder === undefined)
      throw new ParleyError('folder-missing', localizable("The folder {0} doesn't exist.", root));
    await mkdir(storage, { recursive: true, mode: 0o700 });
    const store = join(storage, createHash('sha256').update(folder).digest('hex').slice(0, 32));
    if (!git) {
      return { folder: await PlainFolder.open(folder, `${store}-plain`, LIMITS.maxFile), dispose: () => undefined };
    }
    if (await isRootOrHome(folder, env.HOME ?? homedir()))
      throw new ParleyError('folder-too-large', localizable('The folder is too large.'));
    return openGitFolder({
      git,
      env,
      folder,
      store,
      window: WINDOW,
      limits: LIMITS,
      maxWithoutRepository: MAX_WITHOUT_REPOSITORY,
    });
  }
}

async function isRootOrHome(folder: string, home: string): Promise<boolean> {
  return folder === dirname(folder) || folder === (await realFolder(home));
}

function sortedByRoot<T extends { readonly root: string }>(all: readonly T[]): readonly T[] {
  return [...all].sort((a, b) => (a.root < b.root ? -1 : 1));
}

function pathBelow(root: string, file: string): string | undefined {
  const path = relative(root, file);
  if (path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return undefined;
  return path.split(sep).join('/');
}
