// The registry's list of agents: fetched, validated, and cached for offline use.

import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Configured } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { retryBusy } from '../../base/retryBusy';
import { at } from '../../base/untrusted';
import { networkError, readBody, request } from '../fetch/request';
import { type ParsedRegistry, parseRegistry, type RegistryAgent } from './registryAgent';

const MAX_BYTES = 8 * 1024 * 1024;
/** For the whole response, ms. */
const TIMEOUT_MS = 20_000;
/** No new request within this time, ms. */
const FRESH_MS = 5 * 60_000;

export interface Listing {
  readonly agents: readonly RegistryAgent[];
  /** When the registry sent it, ms since 1970. */
  readonly at: number;
  readonly failure?: ParleyError;
}

interface RegistryListOptions {
  readonly file: string;
  readonly log: Log;
  readonly now?: () => number;
}

interface CachedList {
  readonly url: string;
  readonly at: number;
  readonly etag?: string;
  readonly json: string;
}

export class RegistryList extends Configured<RegistryListOptions> {
  readonly #now: () => number;
  #current: { readonly list: CachedList; readonly parsed: ParsedRegistry } | undefined;

  constructor(options: RegistryListOptions) {
    super(options);
    this.#now = options.now ?? Date.now;
  }

  /** The current list, or the last valid one of this address. Throws ParleyError without one. */
  async load(url: string, signal: AbortSignal): Promise<Listing> {
    const cached = await this.#readCache(url);
    if (cached && this.#now() - cached.list.at < FRESH_MS && this.#now() >= cached.list.at && this.#current === cached)
      return { agents: cached.parsed.agents, at: cached.list.at };
    try {
      const fresh = await this.#fetch(url, cached?.list, signal);
      const parsed = parseRegistry(fresh.json);
      for (const problem of parsed.problems) this.options.log.warn(`registry: ${problem}`);
      this.#current = { list: fresh, parsed };
      await this.#writeCache(fresh);
      return { agents: parsed.agents, at: fresh.at };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ParleyError)) throw error;
      if (!cached) throw error;
      this.options.log.warn(`registry: ${error.message}`);
      return { agents: cached.parsed.agents, at: cached.list.at, failure: error };
    }
  }

  async #fetch(url: string, cached: CachedList | undefined, caller: AbortSignal): Promise<CachedList> {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([caller, limit]);
    const host = URL.canParse(url) ? new URL(url).host : url;
    const headers = { accept: 'application/json', ...(cached?.etag !== undefined && { 'if-none-match': cached.etag }) };
    const trustedOrigin = URL.canParse(url) ? new URL(url).origin : undefined;
    try {
      const response = await request(url, { headers, idleMs: TIMEOUT_MS, trustedOrigin }, signal);
      const { statusCode = 0 } = response;
      if (statusCode === 304 && cached) {
        response.destroy();
        return { ...cached, at: this.#now() };
      }
      if (statusCode !== 200) {
        response.destroy();
        throw new ParleyError(
          'registry-unavailable',
          localizable('The registry answered with status {0}.', statusCode),
        );
      }
      const json = await readBody(response, MAX_BYTES, tooLarge, signal);
      const { etag } = response.headers;
      return { url, at: this.#now(), json, ...(etag !== undefined && { etag }) };
    } catch (error) {
      caller.throwIfAborted();
      if (limit.aborted) throw new ParleyError('timeout', localizable("{0} isn't responding.", host));
      throw networkError(error, host);
    }
  }

  /** Validated as if just fetched. */
  async #readCache(url: string): Promise<{ readonly list: CachedList; readonly parsed: ParsedRegistry } | undefined> {
    if (this.#current?.list.url === url) return this.#current;
    try {
      const value: unknown = JSON.parse(await readFile(this.options.file, 'utf8'));
      const [from, fetchedAt, json, etag] = ['url', 'at', 'json', 'etag'].map((key) => at(value, key));
      if (from !== url || typeof fetchedAt !== 'number' || typeof json !== 'string') return undefined;
      const cached = { url, at: fetchedAt, json, ...(typeof etag === 'string' && { etag }) };
      return { list: cached, parsed: parseRegistry(json) };
    } catch {
      return undefined;
    }
  }

  async #writeCache(cached: CachedList): Promise<void> {
    await writePrivateJson(this.options.file, cached).catch((error: unknown) =>
      this.options.log.warn(`registry: the list was not kept: ${messageOf(error)}`),
    );
  }
}

function tooLarge(): ParleyError {
  const megabytes = Math.floor(MAX_BYTES / 1e6);
  return new ParleyError('too-large', localizable('The list of the registry is larger than {0} MB.', megabytes));
}

/** Writes JSON that only the user can read, atomically. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(JSON.stringify(value));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await retryBusy(() => rename(next, file));
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}
