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
/** Repositories below the folder; the states say if there are more. */
const MAX_NESTED = 200;
/** In the store: object folders of the user's repositories. */
const ALTERNATES = 'alternates.json';

interface GitFolderOptions {
  readonly git: Git;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly store: string;
  readonly window: string;
  readonly limits: ScanLimits;
  /** Limits of one scan without a repository. */
  readonly maxWithoutRepository: NonNullable<ScanLimits['maxNew']>;
}

/** Open folders by store: one index and one run at a time for all. */
const openFolders = new Map<string, { readonly folder: Promise<GitFolder>; users: number }>();

/** All callers in this process share one folder. @throws Error if the store can't be written */
export async function openGitFolder(options: GitFolderOptions): Promise<OpenFolder> {
  const key = [options.store, options.git.program, options.window].join('\n');
  const shared = openFolders.get(key) ?? { folder: GitFolder.open(options), users: 0 };
  openFolders.set(key, shared);
  shared.users += 1;
  const leave = (): void => {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (openFolders.get(key) === shared) openFolders.delete(key);
    shared.folder.then(
      (folder) => folder.dispose(),
      () => undefined,
    );
  };
  try {
    return { folder: await shared.folder, ...toDisposable(leave) };
  } catch (error) {
    leave();
    throw error;
  }
}

class GitFolder implements StoredFolder {
  readonly #options: GitFolderOptions;
  readonly #store: Store;
  readonly #contents: Contents;
  readonly #configs: FileConfigs;
  readonly #queue = new KeyedQueue<'store'>();
  readonly #take: SharedRun<string>;
  readonly #borrowed = new Map<string, Borrowed>();
  readonly #scanned = new Map<string, Scanned>();
  #last: { readonly key: string; readonly state: string; readonly at: number } | undefined;
  #newestRead = 0;
  #unreadRepositories = 0;
  /** When the user's index was looked at last, by our index: what it was changed at. */
  readonly #warmed = new Map<string, number>();

  private constructor(options: GitFolderOptions, store: Store, configs: FileConfigs) {
    this.#options = options;
    this.#store = store;
    this.#contents = new Contents(store);
    this.#configs = configs;
    this.#take = new SharedRun(this.#queue, (signal) => this.#read(signal));
  }

  static async open(options: GitFolderOptions): Promise<GitFolder> {
    const repository = await findRepository(options.folder);
    const configs = new FileConfigs(options.git, options.env);
    const { format } = await configs.of(repository, options.folder);
    const folder = `${options.store}-${format}`;
    const indexes = join(folder, 'indexes', options.window);
    await makeBareStore(folder, format);
    await mkdir(indexes, { recursive: true, mode: 0o700 });
    const store = { git: options.git, folder, format, indexes, alternates: await knownAlternates(folder) };
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
    return this.#take.run(signal);
  }

  changes(root: string, before: string, after: string, signal?: AbortSignal): Promise<readonly FileChange[]> {
    return this.#queue.run('store', () => difference(this.#store, root, before, after, signal));
  }

  replaced(state: string, other: string, files: ReadonlySet<string>): Promise<string> {
    return this.#queue.run('store', () => replaced(this.#store, state, other, files));
  }

  /** All files are looked at. */
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

  /** Nothing waits for it: it may take long, and other windows do it at any time too. */
  async collect(signal?: AbortSignal): Promise<void> {
    await collect(this.#store, signal);
  }

  dispose(): void {
    this.#contents.dispose();
  }

  /**
   * The repository that says which files count: none where the folder is ignored by the one around
   * it.
   */
  async #repository(): Promise<Repository | undefined> {
    const { folder } = this.#options;
    const repository = await findRepository(folder);
    if (!repository || repository.top === folder) return repository;
    const { options, excludeFiles } = await this.#configs.of(repository, folder);
    const path = `./${prefixIn(repository.top, folder)}`;
    for (const file of ['', ...excludeFiles]) {
      const args = [...options, '-c', `core.excludesFile=${file}`, 'check-ignore', '-q', '--no-index', '--', path];
      const where = { cwd: repository.top, workTree: repository.top, timeoutMs: RUN_MS };
      // It takes paths literally, and refuses to be told so.
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
    const about = joinOutside(outside);
    const key = JSON.stringify([self.tree, ...nested, about]);
    // The oldest: a tree that may be collected is written again, and so is the state.
    const at = Math.min(self.writtenAt, ...written);
    if (this.#last?.key === key && this.#last.at === at) return this.#last.state;
    const state = await writeState(this.#store, self.tree, nested, about);
    this.#last = { key, state, at };
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
      if (this.#warmed.get(name) === changedAt) return false;
      try {
        await warmIndex(this.#store, { repository, config, top, prefix, index, signal, timeoutMs });
      } catch (error) {
        // Without it, more files are read.
        if (!(error instanceof ParleyError) || error.code !== 'git-failed') throw error;
        await removeIndex(index);
      }
      this.#warmed.set(name, changedAt);
      return true;
    };
    const tree = { top, prefix, index, config };
    const scanLimits = { ...limits, ...(!repository && { maxNew: maxWithoutRepository }) };
    const last = this.#scanned.get(name);
    // A scan that fails may have changed the index: what it gave before is not what it has then.
    this.#scanned.delete(name);
    const read = (known?: Scanned): Promise<Scanned> => scan(this.#store, tree, scanLimits, warm, known, signal);
    const found = await read(last).catch(async (error) => {
      if (!(error instanceof ParleyError) || error.code !== 'git-failed') throw error;
      // The index may be broken: once more without it.
      await removeIndex(index);
      this.#warmed.delete(name);
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

  /**
   * Remembers where contents may lie, also for later windows, and keeps them from going with the
   * repository.
   */
  async #borrowFrom(objects: string): Promise<void> {
    const { alternates, folder } = this.#store;
    const borrowed = this.#borrowed.get(objects) ?? new Borrowed(folder, objects);
    this.#borrowed.set(objects, borrowed);
    await borrowed.update();
    if (alternates.has(objects) && alternates.has(borrowed.folder)) return;
    alternates.add(objects).add(borrowed.folder);
    // It knows only those that there were when it started.
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

async function knownAlternates(store: string): Promise<Set<string>> {
  try {
    const paths: unknown = JSON.parse(await readFile(join(store, ALTERNATES), 'utf8'));
    return new Set(Array.isArray(paths) ? paths.filter((path) => typeof path === 'string' && isAbsolute(path)) : []);
  } catch {
    return new Set();
  }
}

interface Waiting<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  callers: number;
}

/** Serialises one operation, and shares a run that has not begun. */
class SharedRun<T> {
  readonly #queue: KeyedQueue<'store'>;
  readonly #operation: (signal: AbortSignal) => Promise<T>;
  #waiting: Waiting<T> | undefined;

  constructor(queue: KeyedQueue<'store'>, operation: (signal: AbortSignal) => Promise<T>) {
    this.#queue = queue;
    this.#operation = operation;
  }

  /**
   * The result of a run that begins after this call. It is aborted when all that wait for it are.
   * @throws what the operation throws; the reason of `signal`
   */
  run(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.#waiting ??= this.#start();
    const waiting = this.#waiting;
    waiting.callers += 1;
    if (!signal) return waiting.promise;
    const left = new Deferred<T>();
    const leave = (): void => {
      left.reject(signal.reason);
      waiting.callers -= 1;
      if (waiting.callers === 0) {
        waiting.abort.abort();
        if (this.#waiting === waiting) this.#waiting = undefined;
      }
    };
    signal.addEventListener('abort', leave, { once: true });
    return Promise.race([waiting.promise, left.promise]).finally(() => signal.removeEventListener('abort', leave));
  }

  #start(): Waiting<T> {
    const abort = new AbortController();
    const promise = this.#queue.run('store', () => {
      if (this.#waiting === waiting) this.#waiting = undefined;
      return this.#operation(abort.signal);
    });
    promise.catch(() => undefined);
    const waiting: Waiting<T> = { promise, abort, callers: 0 };
    return waiting;
  }
}

const IDLE_MS = 10_000;
/** The process is ended after this time without an answer, ms. */
const STUCK_MS = 30_000;
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
  /** Bytes of the arriving answer, with its header and line end. */
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
    this.#wait(STUCK_MS);
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
    this.#wait(this.#requests.length === 0 ? IDLE_MS : STUCK_MS);
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
    const isFound = /^\d+$/.test(size);
    this.#needed = isFound ? line + 1 + Number(size) + 1 : line + 1;
    if (received.length < this.#needed) return false;
    const request = this.#requests.shift();
    request?.content.resolve(isBlob ? received.subarray(line + 1, this.#needed - 1) : undefined);
    const rest = received.subarray(this.#needed);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#needed = undefined;
    return true;
  }

  #wait(ms: number): void {
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
