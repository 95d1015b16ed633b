// The states of one folder in a bare repository of our own.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { Deferred } from '../../base/deferred';
import { toDisposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import { localizable } from '../../base/localizable';
import type { FileChange, FileVersion } from '../model/fileChange';
import type { OpenFolder, StoredFolder } from './bareStore';
import { makeBareStore, put } from './bareStore';
import { Borrowed } from './borrowed';
import { collect } from './collect';
import { difference, replaced } from './difference';
import type { Git } from './gitProcess';
import { joinOutside, type Outside, outsideOf, removeNotes } from './outside';
import { findRepository, prefixIn, type Repository } from './repository';
import { type ScanLimits, type Scanned, scan } from './scan';
import { run, type Store, storeEnvironment, tryRun, writeState } from './storeRuns';
import { FileConfigs } from './userConfig';
import { warmIndex } from './warmIndex';

const RUN_MS = 30_000;
/** Nested repositories. States record whether there are more. */
const MAX_NESTED = 200;
/** Lists object folders of the user's repositories, in the store. */
const ALTERNATES = 'alternates.json';

interface GitFolderOptions {
  readonly git: Git;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly store: string;
  readonly window: string;
  readonly limits: ScanLimits;
  readonly maxWithoutRepository: NonNullable<ScanLimits['maxNew']>;
}

/** Shared by store: one index, and one run at a time. */
const openFolders = new Map<string, { readonly folder: Promise<GitFolder>; users: number }>();

/** All callers in this process share one folder. Throws Error if the store can't be written. */
export async function openGitFolder(options: GitFolderOptions): Promise<OpenFolder> {
  const key = [options.store, options.git.program, options.window].join('\n');
  const shared = openFolders.get(key) ?? { folder: GitFolder.open(options), users: 0 };
  openFolders.set(key, shared);
  shared.users += 1;
  const release = (): void => {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (openFolders.get(key) === shared) openFolders.delete(key);
    shared.folder.then(
      (folder) => folder.dispose(),
      () => undefined,
    );
  };
  try {
    return { folder: await shared.folder, ...toDisposable(release) };
  } catch (error) {
    release();
    throw error;
  }
}

class GitFolder implements StoredFolder {
  readonly #options: GitFolderOptions;
  readonly #store: Store;
  readonly #contents: Contents;
  readonly #configs: FileConfigs;
  readonly #queue = new KeyedQueue<'store'>();
  readonly #sharedRead: SharedRun<string>;
  readonly #borrowed = new Map<string, Borrowed>();
  readonly #scanned = new Map<string, Scanned>();
  #lastState: { readonly key: string; readonly state: string; readonly at: number } | undefined;
  #newestRead = 0;
  #unreadRepositories = 0;
  /** Modification time of the user's index when last read, by our index. */
  readonly #userIndexTimes = new Map<string, number>();

  private constructor(options: GitFolderOptions, store: Store, configs: FileConfigs) {
    this.#options = options;
    this.#store = store;
    this.#contents = new Contents(store);
    this.#configs = configs;
    this.#sharedRead = new SharedRun(this.#queue, (signal) => this.#read(signal));
  }

  static async open(options: GitFolderOptions): Promise<GitFolder> {
    const repository = await findRepository(options.folder);
    const configs = new FileConfigs(options.git, options.env);
    const { format } = await configs.of(repository, options.folder);
    const folder = `${options.store}-${format}`;
    const indexes = join(folder, 'indexes', options.window);
    await makeBareStore(folder, format);
    await mkdir(indexes, { recursive: true, mode: 0o700 });
    const store = { git: options.git, folder, format, indexes, alternates: await readAlternates(folder) };
    return new GitFolder(options, store, configs);
  }

  readonly isNamedOnly = false;

  get newestRead(): number {
    return this.#newestRead;
  }

  get hasUnreadRepositories(): boolean {
    return this.#unreadRepositories > 0;
  }

  get store(): string {
    return this.#store.folder;
  }

  take(signal?: AbortSignal): Promise<string> {
    return this.#sharedRead.run(signal);
  }

  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]> {
    return this.#queue.run('store', () => difference(this.#store, root, before, after, signal));
  }

  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string> {
    return this.#queue.run('store', () => replaced(this.#store, state, other, files));
  }

  /** All files are scanned. */
  name(): void {}

  async read({ oid }: FileVersion): Promise<Buffer> {
    const content = await this.#contents.read(oid);
    if (content) return content;
    throw new ParleyError('state-gone', localizable('This version of the file is no longer kept.'));
  }

  write(content: Buffer, mode: FileVersion['mode']): Promise<FileVersion> {
    return this.#queue.run('store', async () => {
      const args = ['hash-object', '-w', '--stdin', '--no-filters'];
      const output = await run(this.#store, { args, input: content, timeoutMs: RUN_MS });
      return { oid: output.toString('latin1').trim(), mode, size: content.length };
    });
  }

  /** Not queued: it may take long, and other windows do it at any time too. */
  async collect(signal?: AbortSignal): Promise<void> {
    await collect(this.#store, signal);
  }

  dispose(): void {
    this.#contents.dispose();
  }

  /** The repository whose rules decide which files count; undefined if it ignores the folder. */
  async #repository(): Promise<Repository | undefined> {
    const { folder } = this.#options;
    const repository = await findRepository(folder);
    if (!repository || repository.top === folder) return repository;
    const { options, excludeFiles } = await this.#configs.of(repository, folder);
    const path = `./${prefixIn(repository.top, folder)}`;
    for (const file of ['', ...excludeFiles]) {
      const args = [...options, '-c', `core.excludesFile=${file}`, 'check-ignore', '-q', '--no-index', '--', path];
      const where = { cwd: repository.top, workTree: repository.top, timeoutMs: RUN_MS };
      // check-ignore takes paths literally and rejects literal pathspecs.
      if ((await tryRun(this.#store, { args, ...where, magic: true })).code === 0) return undefined;
    }
    return repository;
  }

  async #read(signal: AbortSignal): Promise<string> {
    const { folder } = this.#options;
    const self = await this.#scan(folder, await this.#repository(), '', signal);
    const nested = new Map<string, string>();
    const written: number[] = [];
    const outside: Outside[] = [self.outside];
    const pending = [...self.nested];
    for (
      let path = pending.shift();
      path !== undefined;
      path = nested.size < MAX_NESTED ? pending.shift() : undefined
    ) {
      const below = join(folder, path);
      const found = await this.#scan(below, await findRepository(below), path, signal);
      nested.set(path, found.tree);
      written.push(found.writtenAt);
      outside.push(outsideOf(found.outside, path));
      pending.push(...found.nested.map((one) => `${path}/${one}`));
    }
    this.#unreadRepositories = pending.length;
    outside.push({ unread: pending.map((path) => `${path}/`), arrived: [] });
    const outsideInfo = joinOutside(outside);
    const key = JSON.stringify([self.tree, ...nested, outsideInfo]);
    // The oldest time: a tree that may be collected is written again, and so is the state.
    const at = Math.min(self.writtenAt, ...written);
    if (this.#lastState?.key === key && this.#lastState.at === at) return this.#lastState.state;
    const state = await writeState(this.#store, self.tree, nested, outsideInfo);
    this.#lastState = { key, state, at };
    return state;
  }

  async #scan(folder: string, repository: Repository | undefined, path: string, signal: AbortSignal): Promise<Scanned> {
    const { limits, maxWithoutRepository } = this.#options;
    if (repository) await this.#borrowFrom(join(repository.commonDir, 'objects'));
    const top = repository?.top ?? folder;
    const prefix = prefixIn(top, folder);
    const name = createHash('sha256').update(`${path}\n${prefix}`).digest('hex').slice(0, 16);
    const index = join(this.#store.indexes, name);
    const config = await this.#configs.of(repository, folder);
    const warm = async (timeoutMs: number): Promise<boolean> => {
      const changedAt = repository ? await modified(join(repository.gitDir, 'index')) : 0;
      if (this.#userIndexTimes.get(name) === changedAt) return false;
      try {
        await warmIndex(this.#store, { repository, config, top, prefix, index, signal, timeoutMs });
      } catch (error) {
        // Without a warm index, more files are read.
        if (!(error instanceof ParleyError) || error.code !== 'git-failed') throw error;
        await removeIndex(index);
      }
      this.#userIndexTimes.set(name, changedAt);
      return true;
    };
    const tree = { top, prefix, index, config };
    const scanLimits = { ...limits, ...(!repository && { maxNew: maxWithoutRepository }) };
    const last = this.#scanned.get(name);
    // A failed scan may have changed the index, which invalidates earlier results.
    this.#scanned.delete(name);
    const read = (known?: Scanned): Promise<Scanned> => scan(this.#store, tree, scanLimits, warm, known, signal);
    const found = await read(last).catch(async (error) => {
      if (!(error instanceof ParleyError) || error.code !== 'git-failed') throw error;
      await removeIndex(index);
      this.#userIndexTimes.delete(name);
      return read();
    });
    this.#scanned.set(name, found);
    this.#newestRead = Math.max(this.#newestRead, found.newest);
    const inFolder = (paths: readonly string[]): readonly string[] =>
      paths.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
    const { unread, arrived } = found.outside;
    return {
      ...found,
      nested: inFolder(found.nested),
      outside: { unread: inFolder(unread), arrived: inFolder(arrived) },
    };
  }

  /** Records where contents may be, also for later windows, and preserves them. */
  async #borrowFrom(objects: string): Promise<void> {
    const { alternates, folder } = this.#store;
    const borrowed = this.#borrowed.get(objects) ?? new Borrowed(folder, objects);
    this.#borrowed.set(objects, borrowed);
    await borrowed.update();
    if (alternates.has(objects) && alternates.has(borrowed.folder)) return;
    alternates.add(objects).add(borrowed.folder);
    // The process knows only the alternates that existed when it started.
    this.#contents.dispose();
    await put(join(folder, ALTERNATES), Buffer.from(JSON.stringify([...alternates])));
  }
}

async function removeIndex(index: string): Promise<void> {
  await removeNotes(index);
  await rm(index, { force: true });
}

async function modified(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function readAlternates(store: string): Promise<Set<string>> {
  try {
    const paths: unknown = JSON.parse(await readFile(join(store, ALTERNATES), 'utf8'));
    return new Set(Array.isArray(paths) ? paths.filter((path) => typeof path === 'string' && isAbsolute(path)) : []);
  } catch {
    return new Set();
  }
}

interface PendingRun<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  callers: number;
}

class SharedRun<T> {
  readonly #queue: KeyedQueue<'store'>;
  readonly #operation: (signal: AbortSignal) => Promise<T>;
  #pending: PendingRun<T> | undefined;

  constructor(queue: KeyedQueue<'store'>, operation: (signal: AbortSignal) => Promise<T>) {
    this.#queue = queue;
    this.#operation = operation;
  }

  /** A run that starts after this call. It is aborted once all of its callers are. */
  run(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#pending ??= this.#start();
    const pendingRun = this.#pending;
    pendingRun.callers += 1;
    if (!signal) return pendingRun.promise;
    const left = new Deferred<T>();
    const release = (): void => {
      left.reject(signal.reason);
      pendingRun.callers -= 1;
      if (pendingRun.callers === 0) {
        pendingRun.abort.abort();
        if (this.#pending === pendingRun) this.#pending = undefined;
      }
    };
    signal.addEventListener('abort', release, { once: true });
    return Promise.race([pendingRun.promise, left.promise]).finally(() => signal.removeEventListener('abort', release));
  }

  #start(): PendingRun<T> {
    const abort = new AbortController();
    const promise = this.#queue.run('store', () => {
      if (this.#pending === pendingRun) this.#pending = undefined;
      return this.#operation(abort.signal);
    });
    promise.catch(() => undefined);
    const pendingRun: PendingRun<T> = { promise, abort, callers: 0 };
    return pendingRun;
  }
}

const IDLE_MS = 10_000;
/** In ms without an answer; then the process is killed. */
const ANSWER_TIMEOUT_MS = 30_000;
const MAX_HEADER = 200;

interface Request {
  readonly oid: string;
  readonly content: Deferred<Buffer | undefined>;
}

export class Contents {
  readonly #store: Store;
  #process: ChildProcessWithoutNullStreams | undefined;
  #requests: Request[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  /** Length of the current answer, with its header and line end. */
  #needed: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  read(oid: string): Promise<Buffer | undefined> {
    const content = new Deferred<Buffer | undefined>();
    this.#process ??= this.#start();
    this.#requests.push({ oid, content });
    this.#process.stdin.write(`${oid}\n`);
    this.#restartTimer(ANSWER_TIMEOUT_MS);
    return content.promise;
  }

  dispose(): void {
    this.#end(new Error('closed'));
  }

  #start(): ChildProcessWithoutNullStreams {
    const { git, folder } = this.#store;
    const child = spawn(git.program, ['cat-file', '--batch'], {
      cwd: folder,
      env: { ...git.env, ...storeEnvironment(this.#store, { borrow: true }) },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const fail = (error: Error): void => {
      if (this.#process === child) this.#end(error);
    };
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#process === child) this.#receive(chunk);
    });
    child.stderr.resume();
    child.stdin.on('error', fail);
    child.on('error', fail);
    child.on('close', (code) => fail(new Error(`git cat-file ended with ${code}`)));
    return child;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#requests.length > 0 && this.#answer()) {}
    this.#restartTimer(this.#requests.length === 0 ? IDLE_MS : ANSWER_TIMEOUT_MS);
  }

  #answer(): boolean {
    if (this.#length === 0 || (this.#needed !== undefined && this.#length < this.#needed)) return false;
    const received = Buffer.concat(this.#chunks);
    this.#chunks = [received];
    const line = received.indexOf(0x0a);
    if (line < 0) {
      if (received.length > MAX_HEADER) this.#end(new Error('git cat-file printed no header'));
      return false;
    }
    const [, type, size = ''] = received.toString('latin1', 0, line).split(' ');
    const isBlob = type === 'blob' && /^\d+$/.test(size);
    const hasContent = /^\d+$/.test(size);
    this.#needed = hasContent ? line + 1 + Number(size) + 1 : line + 1;
    if (received.length < this.#needed) return false;
    const request = this.#requests.shift();
    request?.content.resolve(isBlob ? received.subarray(line + 1, this.#needed - 1) : undefined);
    const rest = received.subarray(this.#needed);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#needed = undefined;
    return true;
  }

  #restartTimer(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(new Error('git cat-file does not answer')), ms);
    this.#timer.unref();
  }

  #end(error: Error): void {
    clearTimeout(this.#timer);
    const [child, requests] = [this.#process, this.#requests];
    this.#process = undefined;
    this.#requests = [];
    this.#chunks = [];
    this.#length = 0;
    this.#needed = undefined;
    child?.stdin.end();
    child?.kill();
    for (const { content } of requests) content.reject(error);
  }
}
