// A resource server that is down does not stop a chat: what is to be written is kept in a folder first and sent in order as soon as the server answers, also by
// the next start. Wraps any store.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Deferred } from '../base/deferred';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { Emitter, type Event } from '../base/event';
import { type Log, silentLog } from '../base/log';
import { readFramed, writeFramed } from './framedFile';
import type { ResourceStore, StoredResource, UrlOptions } from './resources';
import { checkKey } from './resources';

export interface WriteQueueOptions {
  /** Of this queue alone: two windows have a folder each. */
  readonly folder: string;
  /** Bytes that wait at most; 50 MB unless told otherwise. */
  readonly maxBytes?: number;
  /** Objects that wait at most; 2 000 unless told otherwise. */
  readonly maxItems?: number;
  /** Milliseconds until the first try after a failure; doubled up to five minutes. */
  readonly retryMs?: number;
  /** Milliseconds that a write waits for the server before it counts as queued; 1 000 unless told otherwise. */
  readonly patienceMs?: number;
  readonly log?: Log;
}

interface Waiting {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
  /** The folder has it. */
  isKept: boolean;
}

/** Errors of the object rather than of the server: trying again cannot help, and those behind it must not wait for it. */
const HOPELESS = /^(store-error|too-large|bad-key|torn)$/;
const MAX_RETRY_MS = 5 * 60_000;

export class WriteQueue implements ResourceStore, Disposable {
  readonly id: string;
  readonly isLocal: boolean;
  readonly #store: ResourceStore;
  readonly #options: WriteQueueOptions;
  readonly #log: Log;
  readonly #didFlush = new Emitter<void>();
  readonly #didRefuse = new Emitter<{ readonly key: string; readonly error: ParleyError }>();
  readonly #waiting: Waiting[] = [];
  /** Refused for good by the server, yet still ours to read. */
  readonly #refused: Waiting[] = [];
  readonly #ended = new AbortController();
  #sequence = 0;
  #bytes = 0;
  #flushing: Promise<void> | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(store: ResourceStore, options: WriteQueueOptions) {
    this.#store = store;
    this.id = store.id;
    this.isLocal = store.isLocal;
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** Opens a queue with what an earlier run left in its folder, and begins to send it. @throws ParleyError `store-error` */
  static async open(store: ResourceStore, options: WriteQueueOptions): Promise<WriteQueue> {
    const queue = new WriteQueue(store, options);
    await queue.#load();
    if (queue.#waiting.length > 0) queue.#retryIn(0);
    return queue;
  }

  /** Everything that waited has been sent. */
  get onDidFlush(): Event<void> {
    return this.#didFlush.event;
  }

  /** The server refused an object for good; it stays in the folder, can be read here, and is tried again by the next start. */
  get onDidRefuse(): Event<{ readonly key: string; readonly error: ParleyError }> {
    return this.#didRefuse.event;
  }

  /** Objects that wait. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Keeps the object, then sends it after all that wait. `queued`: it will be sent later. @throws ParleyError `queue-full`, `disk-full` */
  async put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource> {
    signal.throwIfAborted();
    checkKey(key);
    const full =
      this.#bytes + bytes.length > (this.#options.maxBytes ?? 50 * 1024 * 1024) ||
      this.#waiting.length >= (this.#options.maxItems ?? 2000);
    if (full) {
      throw new ParleyError('queue-full', 'Too much waits for the resource server: this message is not stored.', {
        hint: 'Check the resource server in the settings. The chat itself goes on.',
      });
    }
    const path = join(this.#options.folder, `${String(this.#sequence++).padStart(12, '0')}.wait`);
    const item: Waiting = { key, path, bytes: bytes.length, isKept: false };
    // Its place in the order is taken before the disk has it.
    this.#waiting.push(item);
    this.#bytes += bytes.length;
    let sha256: string;
    try {
      sha256 = await writeFramed(path, bytes, { key, contentType }, { durable: true });
      item.isKept = true;
    } catch (error) {
      this.#forget(item);
      throw error;
    }
    if (this.#failures === 0) await this.#flushPatiently();
    return { key, sha256, bytes: bytes.length, state: this.#keeps(item) ? 'queued' : 'stored' };
  }

  /** Sends what waits, in order. @throws ParleyError why the first of them could not be sent; the rest stays, and a later try follows by itself */
  async flush(signal: AbortSignal): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing.catch(() => {});
    if (this.#waiting.length === 0 || this.#ended.signal.aborted) return;
    this.#flushing = this.#sendAll(signal);
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  async get(key: string, signal: AbortSignal): Promise<Uint8Array> {
    const item = [...this.#waiting, ...this.#refused].find((one) => one.key === key);
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
    for (const item of [...this.#waiting, ...this.#refused].filter((one) => one.key === key)) await this.#done(item);
    await this.#store.remove(key, signal);
  }

  dispose(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    this.#didFlush.dispose();
    this.#didRefuse.dispose();
  }

  /** A server that hangs must not hold up the chat: the message is safe, so the answer can wait. */
  async #flushPatiently(): Promise<void> {
    const patience = new Deferred<void>();
    const timer = setTimeout(() => patience.resolve(), this.#options.patienceMs ?? 1000);
    const flushed = this.flush(this.#ended.signal).catch((error) => {
      this.#log.debug(`resource queue: ${this.#waiting.length} wait: ${messageOf(error)}`);
    });
    await Promise.race([flushed, patience.promise]);
    clearTimeout(timer);
  }

  async #sendAll(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    for (let item = this.#waiting[0]; item !== undefined && !this.#ended.signal.aborted; item = this.#waiting[0]) {
      // The call that writes this one flushes again when the folder has it.
      if (!item.isKept) return;
      const failure = await this.#sendOne(item, signal);
      if (failure === undefined) {
        this.#failures = 0;
        await this.#done(item);
      } else if (HOPELESS.test(failure.code)) {
        this.#waiting.shift();
        this.#refused.push(item);
        this.#log.warn(`resource queue: ${item.key} was refused for good: ${failure.message}`);
        this.#didRefuse.fire({ key: item.key, error: failure });
      } else {
        if (!this.#ended.signal.aborted) this.#retryIn(this.#delay());
        throw failure;
      }
    }
    if (this.#waiting.length === 0) this.#didFlush.fire();
  }

  async #sendOne(item: Waiting, signal: AbortSignal): Promise<ParleyError | undefined> {
    const kept = await readFramed(item.path).catch(() => undefined);
    if (kept === undefined) return new ParleyError('torn', 'The waiting file is damaged or gone.');
    const contentType = kept.meta.contentType ?? 'application/octet-stream';
    return this.#store.put(item.key, kept.bytes, contentType, signal).then(
      () => undefined,
      (error) => (error instanceof ParleyError ? error : new ParleyError('store-error', messageOf(error))),
    );
  }

  #delay(): number {
    return Math.min(MAX_RETRY_MS, (this.#options.retryMs ?? 2000) * 2 ** Math.min(this.#failures++, 12));
  }

  #retryIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.flush(this.#ended.signal).catch((error) => {
        this.#log.debug(`resource queue: ${this.#waiting.length} wait: ${messageOf(error)}`);
      });
    }, ms);
    this.#timer.unref();
  }

  async #done(item: Waiting): Promise<void> {
    this.#forget(item);
    await rm(item.path, { force: true }).catch((error) => this.#log.warn(`resource queue: ${messageOf(error)}`));
  }

  #keeps(item: Waiting): boolean {
    return this.#waiting.includes(item) || this.#refused.includes(item);
  }

  #forget(item: Waiting): void {
    for (const list of [this.#waiting, this.#refused]) {
      const index = list.indexOf(item);
      if (index === -1) continue;
      list.splice(index, 1);
      this.#bytes -= item.bytes;
    }
  }

  async #load(): Promise<void> {
    const names = await readdir(this.#options.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new ParleyError('store-error', 'The folder of the waiting messages cannot be read.', { cause: error });
    });
    for (const name of names.filter((one) => /^\d{12}\.wait$/.test(one)).sort()) {
      const path = join(this.#options.folder, name);
      this.#sequence = Number(name.slice(0, 12)) + 1;
      try {
        const { bytes, meta } = await readFramed(path);
        this.#waiting.push({ key: checkKey(meta.key ?? ''), path, bytes: bytes.length, isKept: true });
        this.#bytes += bytes.length;
      } catch (error) {
        // Nothing that can be sent; it stays where it is, for whoever wants to look.
        this.#log.warn(`resource queue: ${name} is damaged: ${messageOf(error)}`);
      }
    }
  }
}
