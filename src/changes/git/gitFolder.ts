// The states of one folder in a bare repository of our own.
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { FileChange, FileVersion } from '../model/fileChange';
import { makeBareStore } from './bareStore';
import { difference, replaced } from './difference';
import type { Git } from './gitProcess';
import { findRepository, prefixIn, type Repository } from './repository';
import { type ScanLimits, scan } from './scan';
import { SharedRun } from './sharedRun';
import { writeState } from './stateTree';
import { run, type Store, tryRun } from './storeRuns';
import { fileConfig } from './userConfig';

/** Milliseconds. */
const RUN_MS = 30_000;
/** Repositories below the folder; deeper or further ones are left out. */
const MAX_NESTED = 200;
/** Of this process: no other uses its index. */
const WINDOW = `${process.pid}-${randomUUID()}`;

export interface GitFolderOptions {
  readonly git: Git;
  /** Of the user. */
  readonly env: NodeJS.ProcessEnv;
  /** Absolute, without symbolic links. */
  readonly folder: string;
  /** Absolute; the folder of the store. */
  readonly store: string;
  readonly limits: ScanLimits;
}

/** A folder whose states are kept by git. */
export class GitFolder {
  readonly #options: GitFolderOptions;
  readonly #store: Store;
  readonly #queue = new KeyedQueue<'store'>();
  readonly #take: SharedRun<string>;

  private constructor(options: GitFolderOptions, store: Store) {
    this.#options = options;
    this.#store = store;
    this.#take = new SharedRun(this.#queue, (signal) => this.#read(signal));
  }

  /**
   * Opens the store of a folder, which is made where there is none.
   * @throws Error where it cannot be written
   */
  static async open(options: GitFolderOptions): Promise<GitFolder> {
    const repository = await findRepository(options.folder);
    const { format } = await fileConfig(options.git, options.env, repository);
    const folder = `${options.store}-${format}`;
    await makeBareStore(folder, format);
    return new GitFolder(options, { git: options.git, folder, alternates: new Set() });
  }

  /**
   * Reads the present state.
   * @returns its name
   * @throws ParleyError `folder-too-large`, `git-…`
   */
  take(signal?: AbortSignal): Promise<string> {
    return this.#take.run(signal);
  }

  /** See {@link difference}. `root`: as the changes say it. */
  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]> {
    return this.#queue.run('store', () => difference(this.#store, root, before, after, signal));
  }

  /** See {@link replaced}. */
  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string> {
    return this.#queue.run('store', () => replaced(this.#store, state, other, files));
  }

  /** @throws ParleyError `state-gone` */
  async read(version: FileVersion): Promise<Buffer> {
    const args = ['cat-file', 'blob', version.oid];
    const { code, stdout } = await tryRun(this.#store, { args, borrow: true, timeoutMs: RUN_MS });
    if (code === 0) return stdout;
    throw new ParleyError('state-gone', l10n.t('This version of the file is no longer kept.'));
  }

  /** Keeps a content. */
  async write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    const args = ['hash-object', '-w', '--stdin', '--no-filters'];
    const output = await run(this.#store, { args, input: content, timeoutMs: RUN_MS });
    return { oid: output.toString('latin1').trim(), mode, size: content.length };
  }

  /** Holds a state under a ref. */
  async hold(state: string, ref: string): Promise<void> {
    await this.#queue.run('store', () => run(this.#store, { args: ['update-ref', ref, state], timeoutMs: RUN_MS }));
  }

  async #read(signal: AbortSignal): Promise<string> {
    const { folder } = this.#options;
    const repository = await findRepository(folder);
    const self = await this.#scan(folder, repository, '', signal);
    const nested = new Map<string, string>();
    const pending = self.nested.map((path) => path);
    for (let path = pending.shift(); path !== undefined && nested.size < MAX_NESTED; path = pending.shift()) {
      const below = join(folder, path);
      const found = await this.#scan(below, await findRepository(below), path, signal);
      nested.set(path, found.tree);
      pending.push(...found.nested.map((one) => `${path}/${one}`));
    }
    return writeState(this.#store, self.tree, nested, signal);
  }

  /** @param path of the folder below the root, empty for the root itself */
  async #scan(
    folder: string,
    repository: Repository | undefined,
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly tree: string; readonly nested: readonly string[] }> {
    const { git, env, limits } = this.#options;
    if (repository) this.#store.alternates.add(join(repository.commonDir, 'objects'));
    const top = repository?.top ?? folder;
    const prefix = prefixIn(top, folder);
    const name = path === '' ? 'root' : createHash('sha256').update(path).digest('hex').slice(0, 16);
    const index = join(this.#store.folder, 'indexes', WINDOW, name);
    const config = await fileConfig(git, env, repository);
    const found = await scan(this.#store, { top, prefix, index, config }, limits, signal);
    return { tree: found.tree, nested: found.nested.map((one) => one.slice(prefix.length)) };
  }
}
