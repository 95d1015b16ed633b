// Loads the bytes of a URL from our own store, the cache, or the guarded network.
import { messageOf, ParleyError } from '../../base/errors';
import { type Log, silentLog } from '../../base/log';
import { pause } from '../model/deadline';
import { ResourceFailure, reasonOfError, reasonOfStatus } from '../model/gap';
import { isMinted, type ResourceStore, sha256Of } from '../model/resources';
import { hashOf, originOf, redactUrl } from '../model/resourceUrl';
import { type Guard, guardedGet } from './guard';
import { BlockedAddress } from './guardedConnections';
import { type OriginHealth, OriginLimiter } from './originLimiter';
import type { ResourceCache } from './resourceCache';

/** Milliseconds before each retry; the link may expire in between. */
const BROKEN_PAUSES_MS = [0, 200, 1000];

export interface LoaderOptions {
  readonly guard: Guard;
  readonly cache?: ResourceCache;
  /** Our own stores, read without the network if possible. */
  readonly stores?: readonly ResourceStore[];
  /** Concurrent requests; 8 by default. */
  readonly maxParallel?: number;
  /** Concurrent requests per origin; 4 by default. */
  readonly maxPerOrigin?: number;
  /** For one URL with all redirects; 10 s by default. */
  readonly timeoutMs?: number;
  readonly log?: Log;
  now?(): number;
}

export interface Loaded {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly contentType?: string;
  readonly etag?: string;
  /** `revalidated`: cached, and the server confirmed it. */
  readonly source: 'own' | 'cache' | 'network' | 'revalidated';
}

export interface Target {
  readonly url: string;
  readonly own?: { readonly store: ResourceStore; readonly key: string };
  /** The key for our own, because their URLs are re-signed; otherwise the URL. */
  readonly cacheName: string;
  readonly sha256?: string;
}

export interface LoadOptions {
  /** An earlier result, reused if the server confirms it. */
  readonly known?: Loaded;
  readonly health?: OriginHealth;
  readonly asks?: boolean;
}

const PARALLEL_READS = 16;

export class ResourceLoader {
  readonly #options: LoaderOptions;
  readonly #limiter: OriginLimiter;
  readonly #reads = new OriginLimiter(PARALLEL_READS, PARALLEL_READS);
  readonly #log: Log;

  constructor(options: LoaderOptions) {
    this.#options = options;
    this.#limiter = new OriginLimiter(options.maxParallel ?? 8, options.maxPerOrigin ?? 4);
    this.#log = options.log ?? silentLog;
  }

  async target(url: string, sha256 = hashOf(url)): Promise<Target> {
    const hash = sha256 === undefined ? {} : { sha256 };
    for (const store of this.#options.stores ?? []) {
      const key = await store.keyOf(url);
      // A foreign session may name anything in the bucket; only minted ids are read with the user's
      // keys.
      if (key !== undefined && isMinted(key))
        return { url, own: { store, key }, cacheName: `own ${store.id} ${key}`, ...hash };
    }
    return { url, cacheName: `url ${url.split('#', 1)[0]}`, ...hash };
  }

  /** Loads from this machine. A cached copy with a different hash counts as absent. */
  loadHere(target: Target, signal: AbortSignal): Promise<Loaded | undefined> {
    return this.#reads.run('', async () => {
      if (signal.aborted) throw new ResourceFailure('cancelled');
      if (target.own?.store.isLocal === true) {
        const bytes = await target.own.store.get(target.own.key, signal);
        return this.#checked(target, { bytes, sha256: sha256Of(bytes), source: 'own' });
      }
      const known = await this.#options.cache?.get(target.cacheName);
      if (known === undefined || (target.sha256 !== undefined && known.sha256 !== target.sha256)) return undefined;
      this.#options.cache?.touch(target.cacheName);
      const { etag, contentType } = known.meta;
      return { bytes: known.bytes, sha256: known.sha256, source: 'cache', etag, contentType };
    });
  }

  /** @throws ResourceFailure; ParleyError of the guard or the store */
  async load(target: Target, maxBytes: number, more: LoadOptions, signal: AbortSignal): Promise<Loaded> {
    try {
      return await this.#loadLimited(target, maxBytes, more, signal);
    } catch (error) {
      // Asked outside of the limits: an open question must not block other servers.
      const { consent } = this.#options.guard;
      if (!(error instanceof BlockedAddress) || !(await consent.mayVisit(error, more.asks === true, signal)))
        throw error;
      return await this.#loadLimited(target, maxBytes, more, signal);
    }
  }

  /** One question for all servers. Never rejects. */
  async askTogether(urls: readonly string[], signal: AbortSignal): Promise<void> {
    const isNeeded = async (url: string): Promise<boolean> => {
      const target = await this.target(url);
      return target.own === undefined && (await this.loadHere(target, signal)) === undefined;
    };
    await this.#options.guard.consent
      .askTogether(urls, isNeeded, signal)
      .catch((error: unknown) => this.#log.warn(`no question about servers: ${messageOf(error)}`));
  }

  /** Local files of our own need no second copy. */
  keep(target: Target, loaded: Loaded): void {
    if (loaded.source === 'cache' || target.own?.store.isLocal === true) return;
    const meta = {
      ...(loaded.etag !== undefined && { etag: loaded.etag }),
      ...(loaded.contentType !== undefined && { contentType: loaded.contentType }),
    };
    this.#options.cache?.put(target.cacheName, loaded.bytes, meta);
  }

  #loadLimited(target: Target, maxBytes: number, more: LoadOptions, signal: AbortSignal): Promise<Loaded> {
    const origin = target.own === undefined ? (originOf(target.url) ?? '') : target.own.store.id;
    return this.#limiter.run(origin, async () => {
      if (signal.aborted) throw new ResourceFailure('cancelled');
      more.health?.check(origin);
      try {
        const loaded = await this.#loadRetrying(target, maxBytes, more, origin, signal);
        more.health?.note(origin, undefined);
        return this.#checked(target, loaded);
      } catch (error) {
        if (!signal.aborted) more.health?.note(origin, reasonOfError(error));
        throw error;
      }
    });
  }

  async #loadRetrying(
    target: Target,
    maxBytes: number,
    { known, health }: LoadOptions,
    origin: string,
    signal: AbortSignal,
  ): Promise<Loaded> {
    const loadNow = (): Promise<Loaded> => this.#loadOnce(target, maxBytes, known, signal);
    const pauses = health?.keepsFailing(origin) === true ? BROKEN_PAUSES_MS.slice(0, 1) : BROKEN_PAUSES_MS;
    for (const ms of pauses) {
      try {
        return await loadNow();
      } catch (error) {
        if (signal.aborted || !isRetryable(error)) throw error;
        await pause(ms, signal);
      }
    }
    return await loadNow();
  }

  async #loadOnce(target: Target, maxBytes: number, known: Loaded | undefined, signal: AbortSignal): Promise<Loaded> {
    if (target.own === undefined) return await this.#fetch(target.url, maxBytes, known, signal);
    const bytes = await target.own.store.get(target.own.key, signal);
    if (bytes.length > maxBytes) throw new ResourceFailure('too-large');
    return { bytes, sha256: sha256Of(bytes), source: 'own' };
  }

  async #fetch(url: string, maxBytes: number, known: Loaded | undefined, signal: AbortSignal): Promise<Loaded> {
    const { guard, timeoutMs = 10_000 } = this.#options;
    const headers: Record<string, string> = known?.etag === undefined ? {} : { 'if-none-match': known.etag };
    const startedAt = performance.now();
    const response = await guardedGet(url, { guard, maxBytes, timeoutMs, headers, asks: false }, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    this.#log.debug(`resource ${redactUrl(url)}: ${response.status}, ${response.body.length} bytes, ${durationMs} ms`);
    if (response.status === 304 && known !== undefined) return { ...known, source: 'revalidated' };
    if (response.status < 200 || response.status >= 300) {
      throw new ResourceFailure(reasonOfStatus(response.status, url, this.#options.now?.() ?? Date.now()));
    }
    const { body, etag, contentType } = response;
    return { bytes: body, sha256: sha256Of(body), source: 'network', etag, contentType };
  }

  #checked(target: Target, loaded: Loaded): Loaded {
    if (target.sha256 !== undefined && target.sha256 !== loaded.sha256) throw new ResourceFailure('changed');
    return loaded;
  }
}

function isRetryable(error: unknown): boolean {
  return reasonOfError(error) === 'connection-lost' || (error instanceof ParleyError && error.code === 'store-down');
}
