// Retries uploads of messages that wait on this machine for the storage server, with backoff, and
// reports how many wait and why.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { framed, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { isOfObject, isOfSettings, type ResourceStore, readFramed, type S3Store } from '../ports/resources';

export class UnreadableLinks extends ParleyError {
  readonly reason: ParleyError;
  readonly onlyLater: boolean;

  constructor(waiting: number, all: number, reason: ParleyError) {
    const what =
      waiting > 0
        ? localizable(
            "The storage server doesn't have all messages of this session yet: {0} of {1} are waiting.",
            waiting,
            all,
          )
        : localizable("The links to the messages of this session can't be read.");
    super('links-unreadable', framed('{0} {1}', what, reason.texts.message), {
      hint: reason.texts.hint,
      cause: reason,
    });
    this.reason = reason;
    this.onlyLater = waiting > 0 && !isOfSettings(reason) && !isOfObject(reason);
  }
}

/** Reads the newest link as others would. @throws ParleyError `links-unreadable`, `cancelled` */
export async function ensureReadable(
  urls: readonly string[],
  store: Pick<S3Store, 'keyOf' | 'probeLink'>,
  signal: AbortSignal,
): Promise<void> {
  const keys = (await Promise.all(urls.map((url) => store.keyOf(url)))).filter((key) => key !== undefined);
  const newest = keys.at(-1);
  if (newest === undefined) return;
  try {
    await store.probeLink(newest, signal);
  } catch (error) {
    if (signal.aborted) throw new ParleyError('cancelled', localizable("The session wasn't shared."));
    throw error instanceof ParleyError ? new UnreadableLinks(0, keys.length, error) : error;
  }
}

export interface UploadState {
  readonly waiting: number;
  readonly problem?: ParleyError;
}

export interface UploadsOptions {
  readonly show: (state: UploadState | undefined) => void;
  readonly notify: (problem: ParleyError, waiting: number) => void;
  readonly log: Log;
  /** Before the first retry; doubled up to five minutes. */
  readonly retryMs?: number;
  /** Before a server that can't be reached is reported. */
  readonly lateMs?: number;
}

interface Waiting {
  readonly count: number;
  readonly send: (signal: AbortSignal) => Promise<void>;
}

const RETRY_MS = 2000;
const MAX_RETRY_MS = 5 * 60_000;
const LATE_MS = 60_000;

export class Uploads implements Disposable {
  readonly #options: UploadsOptions;
  readonly #waitingStores = new Map<string, Waiting>();
  readonly #ended = new AbortController();
  readonly #reported = new Set<string>();
  #problem: ParleyError | undefined;
  #failures = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lateTimer: NodeJS.Timeout | undefined;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return [...this.#waitingStores.values()].reduce((sum, { count }) => sum + count, 0);
  }

  set(name: string, count: number, send: Waiting['send'], problem?: ParleyError): void {
    if (this.#ended.signal.aborted) return;
    if (count > 0) this.#waitingStores.set(name, { count, send });
    else this.#waitingStores.delete(name);
    if (problem) this.#problem = problem;
    this.#update();
    if (count > 0) this.#retryLater();
  }

  /** @throws ParleyError the first failure */
  async send(signal: AbortSignal): Promise<void> {
    await this.#sending?.catch(() => {});
    this.#sending ??= this.#sendAll(AbortSignal.any([signal, this.#ended.signal])).finally(() => {
      this.#sending = undefined;
      if (this.#waitingStores.size > 0) this.#retryLater();
    });
    await this.#sending;
  }

  restart(): void {
    this.#failures = 0;
    this.#problem = undefined;
    this.#reported.clear();
    clearTimeout(this.#timer);
    clearTimeout(this.#lateTimer);
    this.#timer = undefined;
    this.#lateTimer = undefined;
    if (this.#waitingStores.size > 0) void this.#sendQuietly();
  }

  report(problem: ParleyError): void {
    if (this.#reported.has(problem.code)) return;
    this.#reported.add(problem.code);
    this.#options.notify(problem, this.waiting);
  }

  dispose(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#lateTimer);
    this.#options.show(undefined);
  }

  async #sendAll(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let first: unknown;
    for (const [name, entry] of [...this.#waitingStores]) {
      try {
        await entry.send(signal);
        if (this.#waitingStores.get(name) === entry) this.#waitingStores.delete(name);
      } catch (error) {
        first ??= error;
        // Other sessions would fail too, unless this concerns one object.
        if (!isOfObject(error)) break;
      }
    }
    if (first === undefined) {
      this.#failures = 0;
      this.#problem = undefined;
      this.#update();
      return;
    }
    if (!signal.aborted) {
      this.#failures++;
      if (first instanceof ParleyError) this.#problem = first;
      this.#update();
    }
    throw first;
  }

  #retryLater(): void {
    if (this.#timer || this.#sending || this.#ended.signal.aborted) return;
    if (this.#problem && isOfSettings(this.#problem)) return;
    const ms = Math.min(MAX_RETRY_MS, (this.#options.retryMs ?? RETRY_MS) * 2 ** Math.min(this.#failures, 12));
    this.#timer = setTimeout(() => void this.#sendQuietly(), ms);
    this.#timer.unref();
  }

  async #sendQuietly(): Promise<void> {
    this.#timer = undefined;
    await this.send(this.#ended.signal).catch((error) => {
      this.#options.log.debug(`${this.waiting} uploads wait: ${messageOf(error)}`);
    });
  }

  #update(): void {
    const { show, lateMs = LATE_MS } = this.#options;
    const { waiting } = this;
    if (waiting === 0) {
      clearTimeout(this.#lateTimer);
      this.#lateTimer = undefined;
      this.#problem = undefined;
      this.#reported.clear();
      show(undefined);
      return;
    }
    show({ waiting, problem: this.#problem });
    if (this.#problem && (isOfSettings(this.#problem) || isOfObject(this.#problem))) this.report(this.#problem);
    else if (!this.#lateTimer) {
      this.#lateTimer = setTimeout(() => this.report(this.#problem ?? silence()), lateMs);
      this.#lateTimer.unref();
    }
  }
}

function silence(): ParleyError {
  return new ParleyError('store-down', localizable("The storage server isn't responding."), {
    hint: localizable('Messages are kept on this machine and uploaded when the server is back.'),
  });
}

export async function earlierFiles(root: string): Promise<readonly string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => []);
  return names
    .filter((name) => /(^|[\\/])\d{12}\.wait$/.test(name))
    .sort()
    .map((name) => join(root, name));
}

/** Can be repeated. Damaged files stay. @throws ParleyError of the store */
export async function sendEarlierFiles(
  root: string,
  store: Pick<ResourceStore, 'put'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (const path of await earlierFiles(root)) {
    try {
      const { bytes, meta } = await readFramed(path);
      await store.put(meta.key ?? '', bytes, meta.contentType ?? 'application/octet-stream', signal);
      await rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof ParleyError) || !/^(torn|not-found|bad-key)$/.test(error.code)) throw error;
      log.warn(`${path} can't be uploaded: ${messageOf(error)}`);
    }
  }
}
