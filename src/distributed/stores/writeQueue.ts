// Keeps a chat going while its storage server is down: writes are stored in a folder first and
// sent in order once the server responds, also after a restart. Wraps any store.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { localizable } from '../../base/localizable';
import { type Log, silentLog } from '../../base/log';
import { retryBusy } from '../../base/retryBusy';
import { orAborted, pause } from '../model/deadline';
import type { ResourceStore, StoredResource, UrlOptions } from '../model/resources';
import { checkKey } from '../model/resources';
import { diskError, readFramed, writeFramed } from './framedFile';

export interface WriteQueueOptions {
  /** Of this queue alone: two windows have a folder each. */
  readonly folder: string;
  /** Bytes that wait at most; 50 MB unless told otherwise. */
  readonly maxBytes?: number;
  /** Objects that wait at most; 2 000 unless told otherwise. */
  readonly maxItems?: number;
  /** Milliseconds until the first try after a failure; doubled up to five minutes. */
  readonly retryMs?: number;
  /**
   * Milliseconds that a write waits for the server before it counts as queued; 1 000 unless told
   * otherwise.
   */
  readonly patienceMs?: number;
  /** Milliseconds since 1970. */
  now?(): number;
  readonly log?: Log;
}

/** How far a queue is. */
export interface QueueState {
  /** Objects that the server does not have yet. */
  readonly waiting: number;
  /** When the oldest of them began to wait in this run, in milliseconds since 1970. */
  readonly since?: number;
  /** Why they wait: what the server answered last, or that it did not. */
  readonly problem?: ParleyError;
}

interface Waiting {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The folder has it. */
  isKept: boolean;
  /** What the server said of this object alone: those behind it do not wait for it. */
  refusal?: ParleyError;
}

/** Errors of the object rather than of the server: those behind it must not wait for it. */
const OF_THE_OBJECT = /^(store-error|too-large|bad-key|torn)$/;
/**
 * The server answers the same until the settings, the keys, the clock or the bucket are changed.
 */
const OF_THE_SETTINGS = /^(store-denied|no-such-bucket|wrong-region|wrong-endpoint|clock-skew)$/;
const MAX_RETRY_MS = 5 * 60_000;
/** Between two tries while a caller waits for an object to be on the server, in milliseconds. */
const DELIVERY_TRIES_MS = 1000;

/** Returns whether a server will repeat this error until its configuration changes. */
export function isRefusal({ code }: ParleyError): boolean {
  return OF_THE_SETTINGS.test(code) || OF_THE_OBJECT.test(code);
}

export class WriteQueue implements ResourceStore, Disposable {
  readonly id: string;
  readonly isLocal: boolean;
  readonly #store: ResourceStore;
  readonly #options: WriteQueueOptions;
  readonly #log: Log;
  readonly #didChange = new Emitter<void>();
  /** In the order in which they were written. */
  readonly #items: Waiting[] = [];
  readonly #ended = new AbortController();
  /** Objects that are being written to the folder. */
  readonly #keeping = new Set<Promise<unknown>>();
  #sequence = 0;
  #bytes = 0;
  #flushing: Promise<void> | undefined;
  #sending: { readonly item: Waiting; readonly answer: Promise<unknown> } | undefined;
  #problem: ParleyError | undefined;
  #failures = 0;
  /** The server did not answer in time: who writes does not wait for it again until it does. */
  #isSlow = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(store: ResourceStore, options: WriteQueueOptions) {
    this.#store = store;
    this.id = store.id;
    this.isLocal = store.isLocal;
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /**
   * Opens a queue with what an earlier run left in its folder, and begins to send it.
   * @throws ParleyError `store-error`
   */
  static async open(store: ResourceStore, options: WriteQueueOptions): Promise<WriteQueue> {
    const queue = new WriteQueue(store, options);
    await queue.#load();
    if (queue.#items.length > 0) queue.#retryIn(0);
    return queue;
  }

  /** The {@link state} is another one. */
  get onDidChange(): Event<void> {
    return this.#didChange.event;
  }

  get state(): QueueState {
    const [first] = this.#items;
    if (first === undefined) return { waiting: 0 };
    const problem = this.#problem ?? this.#items.find(({ refusal }) => refusal)?.refusal;
    return { waiting: this.#items.length, since: first.since, problem };
  }

  /**
   * Returns whether an object is here and not on the server yet: links to it lead nowhere until
   * then.
   */
  isWaiting(key: string): boolean {
    return this.#items.some((item) => item.key === key);
  }

  isUnreadable(key: string): boolean {
    return this.isWaiting(key) || (this.#problem !== undefined && OF_THE_SETTINGS.test(this.#problem.code));
  }

  /**
   * Keeps the object, then sends it after all that wait.
   * @throws ParleyError `queue-full`, `disk-full`, `cancelled` after the end
   */
  async put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource> {
    signal.throwIfAborted();
    checkKey(key);
    if (this.#ended.signal.aborted) throw new ParleyError('cancelled', localizable('The storage server has changed.'));
    const full =
      this.#bytes + bytes.length > (this.#options.maxBytes ?? 50 * 1024 * 1024) ||
      this.#items.length >= (this.#options.maxItems ?? 2000);
    if (full) {
      throw new ParleyError(
        'queue-full',
        localizable("Too many messages are waiting for the storage server. This message isn't stored."),
        {
          hint: localizable('Check the storage server in the settings. The chat itself continues.'),
        },
      );
    }
    const path = join(this.#options.folder, nameOf(this.#sequence++));
    const item: Waiting = { key, path, bytes: bytes.length, since: this.#now(), isKept: false };
    // Its place in the order is taken before the disk has it.
    this.#items.push(item);
    this.#bytes += bytes.length;
    const keeping = writeFramed(path, bytes, { key, contentType }, { durable: true });
    this.#keeping.add(keeping);
    try {
      const sha256 = await keeping;
      item.isKept = true;
      this.#didChange.fire();
      if (this.#failures > 0) return { key, sha256, bytes: bytes.length };
      if (this.#isSlow) void this.#sendQuietly();
      else await this.#sendPatiently();
      return { key, sha256, bytes: bytes.length };
    } catch (error) {
      this.#forget(item);
      throw error;
    } finally {
      this.#keeping.delete(keeping);
    }
  }

  /**
   * Sends all that waits, in order, also what the server refused before.
   * @throws ParleyError why something could not be sent; it stays, and is tried again later
   */
  async flush(signal: AbortSignal): Promise<void> {
    for (const item of this.#items) delete item.refusal;
    await this.#send(signal);
    const refusal = this.#items.find((item) => item.refusal)?.refusal;
    if (refusal) throw refusal;
  }

  async delivered(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const wanted = new Set(keys);
    const isDone = (): boolean => {
      if (signal.aborted || this.#ended.signal.aborted) return true;
      if (this.#problem !== undefined && isRefusal(this.#problem)) return true;
      return !this.#items.some(({ key, refusal }) => refusal === undefined && wanted.has(key));
    };
    while (!isDone()) {
      const failures = this.#failures;
      await orAborted(this.#sendQuietly(), signal).catch(() => {});
      // A request for links while the server is down must not delay the next automatic retry.
      if (failures > 0) this.#failures = Math.min(this.#failures, failures);
      if (!isDone()) await pause(DELIVERY_TRIES_MS, signal).catch(() => {});
    }
  }

  async get(key: string, signal: AbortSignal): Promise<Uint8Array> {
    const item = this.#items.find((one) => one.key === key);
    if (item === undefined) return this.#store.get(key, signal);
    // It may be sent and gone from the folder just now.
    return readFramed(item.path).then(
      ({ bytes }) => bytes,
      () => this.#store.get(key, signal),
    );
  }

  urlFor(key: string, options: UrlOptions): Promise<string> {
    return this.#store.urlFor(key, options);
  }

  keyOf(url: string): Promise<string | undefined> {
    return this.#store.keyOf(url);
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    for (const item of this.#items.filter((one) => one.key === key)) await this.#done(item);
    // What is on its way would arrive after it was removed.
    if (this.#sending?.item.key === key) await this.#sending.answer;
    await this.#store.remove(key, signal);
  }

  dispose(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    this.#didChange.dispose();
  }

  /**
   * Ends the queue. When it resolves, all that waits is in the folder, for another queue to open.
   */
  async close(): Promise<void> {
    this.dispose();
    await Promise.allSettled([...this.#keeping, this.#flushing]);
  }

  /** A server that hangs must not hold up the chat: the message is safe, so the answer can wait. */
  async #sendPatiently(): Promise<void> {
    const patience = new Deferred<void>();
    const timer = setTimeout(() => patience.resolve(), this.#options.patienceMs ?? 1000);
    const answered = this.#sendQuietly().then(() => true);
    this.#isSlow = (await Promise.race([answered, patience.promise])) !== true;
    clearTimeout(timer);
  }

  /** Why it could not be sent is in the {@link state}. */
  #sendQuietly(): Promise<void> {
    return this.#send(this.#ended.signal).catch((error) => {
      this.#log.debug(`resource queue: ${this.#items.length} wait: ${messageOf(error)}`);
    });
  }

  async #send(signal: AbortSignal): Promise<void> {
    const gone = new Deferred<void>();
    signal.addEventListener('abort', () => gone.resolve(), { once: true });
    while (this.#flushing !== undefined) {
      await Promise.race([this.#flushing.catch(() => {}), gone.promise]);
      if (signal.aborted) throw new ParleyError('cancelled', localizable('The request was canceled.'));
    }
    if (this.#ended.signal.aborted) return;
    this.#flushing = this.#sendAll(signal);
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  async #sendAll(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    const next = (): Waiting | undefined => this.#items.find(({ refusal }) => refusal === undefined);
    for (let item = next(); item !== undefined && !this.#ended.signal.aborted; item = next()) {
      // The call that writes this one sends again when the folder has it.
      if (!item.isKept) return;
      let failure = await this.#sendOne(item, signal);
      // One connection that breaks says nothing about the next, and a second write changes nothing.
      if (failure?.code === 'store-down' && this.#failures === 0) failure = await this.#sendOne(item, signal);
      if (failure === undefined) {
        this.#failures = 0;
        this.#isSlow = false;
        this.#problem = undefined;
        await this.#done(item);
      } else if (OF_THE_OBJECT.test(failure.code)) {
        item.refusal = failure;
        this.#log.warn(`resource queue: ${item.key} was refused: ${failure.message}`);
        this.#didChange.fire();
      } else {
        this.#stopFor(failure);
        throw failure;
      }
    }
  }

  /** The server accepts nothing now. One that is down is tried again automatically. */
  #stopFor(failure: ParleyError): void {
    if (this.#ended.signal.aborted) return;
    // A caller that gives up says nothing about the server.
    if (failure.code !== 'cancelled') this.#problem = failure;
    if (!OF_THE_SETTINGS.test(failure.code)) this.#retryIn(this.#delay());
    this.#didChange.fire();
  }

  async #sendOne(item: Waiting, signal: AbortSignal): Promise<ParleyError | undefined> {
    const kept = await readFramed(item.path).catch((error: unknown) => asParleyError(error));
    if (kept instanceof ParleyError) {
      // A window on another machine took it: it sends what it takes.
      return kept.code === 'not-found'
        ? undefined
        : new ParleyError('torn', localizable('The waiting file is damaged.'));
    }
    const contentType = kept.meta.contentType ?? 'application/octet-stream';
    const answer = this.#store.put(item.key, kept.bytes, contentType, signal).then(() => undefined, asParleyError);
    this.#sending = { item, answer };
    const failure = await answer;
    this.#sending = undefined;
    return failure;
  }

  #delay(): number {
    return Math.min(MAX_RETRY_MS, (this.#options.retryMs ?? 2000) * 2 ** Math.min(this.#failures++, 12));
  }

  #retryIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#sendQuietly(), ms);
    this.#timer.unref();
  }

  async #done(item: Waiting): Promise<void> {
    this.#forget(item);
    await rm(item.path, { force: true }).catch((error) => this.#log.warn(`resource queue: ${messageOf(error)}`));
  }

  #forget(item: Waiting): void {
    const index = this.#items.indexOf(item);
    if (index === -1) return;
    this.#items.splice(index, 1);
    this.#bytes -= item.bytes;
    if (this.#items.length === 0) this.#problem = undefined;
    this.#didChange.fire();
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  async #load(): Promise<void> {
    const since = this.#now();
    for (const name of await waitingFiles(this.#options.folder)) {
      const path = join(this.#options.folder, name);
      this.#sequence = sequenceOf(name) + 1;
      try {
        const { bytes, meta } = await readFramed(path);
        this.#items.push({ key: checkKey(meta.key ?? ''), path, bytes: bytes.length, since, isKept: true });
        this.#bytes += bytes.length;
      } catch (error) {
        // It cannot be sent; the file stays for inspection.
        this.#log.warn(`resource queue: ${name} is damaged: ${messageOf(error)}`);
      }
    }
  }
}

/**
 * Moves what waits in the folder of a queue that has ended behind what waits in another folder,
 * before that is opened.
 * @throws ParleyError `store-error`
 */
export async function takeOver(from: string, to: string): Promise<void> {
  const names = await waitingFiles(from);
  if (names.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  let next = sequenceOf((await waitingFiles(to)).at(-1)) + 1;
  for (const name of names) {
    const taken = join(to, nameOf(next++));
    await retryBusy(() => rename(join(from, name), taken)).catch((error: NodeJS.ErrnoException) => {
      // Another window was faster.
      if (error.code !== 'ENOENT') throw diskError(error);
    });
  }
}

/** Names of the files that wait in a folder, in their order. */
async function waitingFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new ParleyError('store-error', localizable("The folder with the waiting messages can't be read."), {
      cause: error,
    });
  });
  return names.filter((one) => /^\d{12}\.wait$/.test(one)).sort();
}

function nameOf(sequence: number): string {
  return `${String(sequence).padStart(12, '0')}.wait`;
}

/** -1 where there is no file. */
function sequenceOf(name: string | undefined): number {
  return name === undefined ? -1 : Number(name.slice(0, 12));
}

function asParleyError(error: unknown): ParleyError {
  return error instanceof ParleyError ? error : new ParleyError('store-error', messageOf(error));
}
