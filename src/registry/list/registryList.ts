// The registry's list of agents: fetched, validated, and stored on disk for offline use.

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
/** To the last byte, ms. */
const LIMIT_MS = 20_000;
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

interface Kept {
  readonly url: string;
  readonly at: number;
  readonly etag?: string;
  readonly json: string;
}

export class RegistryList extends Configured<RegistryListOptions> {
  readonly #now: () => number;
  #last: { readonly kept: Kept; readonly parsed: ParsedRegistry } | undefined;

  constructor(options: RegistryListOptions) {
    super(options);
    this.#now = options.now ?? Date.now;
  }

  /**
   * Returns the list, or the last valid one from this address.
   * @throws ParleyError if there is none; the reason of `signal`
   */
  async load(url: string, signal: AbortSignal): Promise<Listing> {
    const kept = await this.#kept(url);
    if (kept && this.#now() - kept.kept.at < FRESH_MS && this.#now() >= kept.kept.at && this.#last === kept)
      return { agents: kept.parsed.agents, at: kept.kept.at };
    try {
      const fresh = await this.#fetch(url, kept?.kept, signal);
      const parsed = parseRegistry(fresh.json);
      for (const problem of parsed.problems) this.options.log.warn(`registry: ${problem}`);
      this.#last = { kept: fresh, parsed };
      await this.#keep(fresh);
      return { agents: parsed.agents, at: fresh.at };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ParleyError)) throw error;
      if (!kept) throw error;
      this.options.log.warn(`registry: ${error.message}`);
      return { agents: kept.parsed.agents, at: kept.kept.at, failure: error };
    }
  }

  async #fetch(url: string, kept: Kept | undefined, caller: AbortSignal): Promise<Kept> {
    const limit = AbortSignal.timeout(LIMIT_MS);
    const signal = AbortSignal.any([caller, limit]);
    const host = URL.canParse(url) ? new URL(url).host : url;
    const headers = { accept: 'application/json', ...(kept?.etag !== undefined && { 'if-none-match': kept.etag }) };
    const trustedOrigin = URL.canParse(url) ? new URL(url).origin : undefined;
    try {
      const response = await request(url, { headers, idleMs: LIMIT_MS, trustedOrigin }, signal);
      const { statusCode = 0 } = response;
      if (statusCode === 304 && kept) {
        response.destroy();
        return { ...kept, at: this.#now() };
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
  async #kept(url: string): Promise<{ readonly kept: Kept; readonly parsed: ParsedRegistry } | undefined> {
    if (this.#last?.kept.url === url) return this.#last;
    try {
      const value: unknown = JSON.parse(await readFile(this.options.file, 'utf8'));
      const [from, when, json, etag] = ['url', 'at', 'json', 'etag'].map((key) => at(value, key));
      if (from !== url || typeof when !== 'number' || typeof json !== 'string') return undefined;
      const kept = { url, at: when, json, ...(typeof etag === 'string' && { etag }) };
      return { kept, parsed: parseRegistry(json) };
    } catch {
      return undefined;
    }
  }

  async #keep(kept: Kept): Promise<void> {
    // Storing is optional.
    await keepFile(this.options.file, kept).catch((error: unknown) =>
      this.options.log.warn(`registry: the list was not kept: ${messageOf(error)}`),
    );
  }
}

function tooLarge(): ParleyError {
  const megabytes = Math.floor(MAX_BYTES / 1e6);
  return new ParleyError('too-large', localizable('The list of the registry is larger than {0} MB.', megabytes));
}

/** Writes JSON that only the user can read, in one step. */
export async function keepFile(file: string, value: unknown): Promise<void> {
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
