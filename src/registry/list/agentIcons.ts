// Icons of the registry's agents: fetched from the registry's own server, validated, and cached.

import { readFile } from 'node:fs/promises';
import { Configured } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import { readBody, request } from '../fetch/request';
import { MAX_SVG, readPlainSvg } from './plainSvg';
import type { RegistryAgent } from './registryAgent';
import { writePrivateJson } from './registryList';

const MAX_ICONS = 300;
/** For all icons; and without data. In ms. */
const TOTAL_MS = 15_000;
const IDLE_MS = 5_000;
const MAX_CONCURRENT = 6;
/** Age at which icons, and missing ones, are fetched again, ms. */
const FRESH_MS = 7 * 24 * 60 * 60_000;
const MISSING_MS = 24 * 60 * 60_000;

interface CachedIcon {
  /** Output of `readPlainSvg`; absent if there is nothing to show. */
  readonly svg?: string;
  /** Ms since 1970. */
  readonly at: number;
}

export type Icons = ReadonlyMap<string, string>;

interface AgentIconsOptions {
  readonly file: string;
  readonly log: Log;
  readonly now?: () => number;
}

export class AgentIcons extends Configured<AgentIconsOptions> {
  readonly #now: () => number;

  constructor(options: AgentIconsOptions) {
    super(options);
    this.#now = options.now ?? Date.now;
  }

  /** Shows cached icons, then fetched ones. Ignores icons of other servers than the list's. */
  async load(
    agents: readonly RegistryAgent[],
    list: string,
    signal: AbortSignal,
    show: (icons: Icons) => void,
  ): Promise<void> {
    const wanted = addressesOf(agents, list);
    const cached = await this.#readCache(new Set(wanted.values()));
    const showCurrent = (): void => show(iconsOf(wanted, cached));
    if (cached.size > 0) showCurrent();
    const missing = [...new Set(wanted.values())].filter((url) => !this.#isFresh(cached.get(url)));
    if (missing.length === 0) return;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]);
    const next = missing.values();
    const work = async (): Promise<void> => {
      for (const url of next) {
        if (limited.aborted) return;
        const fetched = await this.#fetch(url, limited);
        if (fetched) cached.set(url, fetched);
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
    if (!signal.aborted) showCurrent();
    await writePrivateJson(this.options.file, Object.fromEntries(cached)).catch((error: unknown) =>
      this.options.log.warn(`registry: the icons were not kept: ${messageOf(error)}`),
    );
  }

  #isFresh(cached: CachedIcon | undefined): boolean {
    const age = cached ? this.#now() - cached.at : Number.POSITIVE_INFINITY;
    return age >= 0 && age < (cached?.svg === undefined ? MISSING_MS : FRESH_MS);
  }

  async #fetch(url: string, signal: AbortSignal): Promise<CachedIcon | undefined> {
    const { origin } = new URL(url);
    try {
      const headers = { accept: 'image/svg+xml' };
      const response = await request(
        url,
        { headers, idleMs: IDLE_MS, trustedOrigin: origin, onlyOrigin: origin },
        signal,
      );
      if (response.statusCode !== 200) {
        response.destroy();
        return { at: this.#now() };
      }
      const text = await readBody(response, MAX_SVG, () => new Error('the icon is too large'), signal);
      const svg = readPlainSvg(text);
      if (svg === undefined) this.options.log.warn(`registry: ${url} is no plain icon`);
      return { at: this.#now(), svg };
    } catch (error) {
      if (!signal.aborted) this.options.log.warn(`registry: ${url}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Validates cached icons as if just fetched. */
  async #readCache(urls: ReadonlySet<string>): Promise<Map<string, CachedIcon>> {
    const cached = new Map<string, CachedIcon>();
    try {
      const value: unknown = JSON.parse(await readFile(this.options.file, 'utf8'));
      for (const url of urls) {
        const [text, when] = [at(value, url, 'svg'), at(value, url, 'at')];
        const svg = typeof text === 'string' ? readPlainSvg(text) : undefined;
        if (typeof when === 'number') cached.set(url, { at: when, svg });
      }
    } catch {
      // Missing or damaged: fetched again.
    }
    return cached;
  }
}

function addressesOf(agents: readonly RegistryAgent[], list: string): ReadonlyMap<string, string> {
  const { origin } = new URL(list);
  const found = new Map<string, string>();
  for (const { id, icon } of agents) {
    if (found.size === MAX_ICONS) break;
    const url = icon !== undefined && URL.canParse(icon, list) ? new URL(icon, list) : undefined;
    if (url?.origin === origin) found.set(id, url.href);
  }
  return found;
}

function iconsOf(wanted: ReadonlyMap<string, string>, cached: ReadonlyMap<string, CachedIcon>): Icons {
  const icons = new Map<string, string>();
  for (const [id, url] of wanted) {
    const svg = cached.get(url)?.svg;
    if (svg !== undefined) icons.set(id, svg);
  }
  return icons;
}
