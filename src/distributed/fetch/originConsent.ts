// Asks the user which servers on this machine or in the local network may be read, once for all
// servers of a session.

import type { AddressClass } from '../../base/addressClass';
import { mapConcurrently } from '../../base/keyedQueue';
import { within } from '../../base/within';
import { originOf } from '../model/resourceUrl';
import type { BlockedAddress } from './guardedConnections';

export interface AskedOrigin {
  readonly origin: string;
  readonly found: 'local' | 'private';
  readonly count: number;
}

export interface ConsentPolicy {
  isAllowed(origin: string): boolean;
  /** Returns the allowed ones. Absent: all are refused. */
  ask?(origins: readonly AskedOrigin[], signal: AbortSignal): Promise<readonly string[]>;
}

/** Time for resolving the names of a session, in milliseconds. */
const CLASSIFY_MS = 5000;
const PARALLEL_NAMES = 8;

export class OriginConsent {
  readonly #policy: ConsentPolicy;
  readonly #classOf: (hostname: string) => Promise<AddressClass | undefined>;
  readonly #allowed = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #asking = new Map<string, Promise<unknown>>();

  /** @param classOf undefined for unknown names */
  constructor(policy: ConsentPolicy, classOf: (hostname: string) => Promise<AddressClass | undefined>) {
    this.#policy = policy;
    this.#classOf = classOf;
  }

  isAllowed(origin: string): boolean {
    return this.#policy.isAllowed(origin) || this.#allowed.has(origin);
  }

  /** One question for all servers of a session; their requests wait for the answer. */
  async askTogether(
    urls: readonly string[],
    isNeeded: (url: string) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void> {
    // Checked per origin, because a history has thousands of URLs but few origins.
    const byOrigin = Map.groupBy(this.#policy.ask === undefined ? [] : urls, (url) => originOf(url) ?? '');
    byOrigin.delete('');
    for (const origin of byOrigin.keys())
      if (this.isAllowed(origin) || this.#asking.has(origin)) byOrigin.delete(origin);
    await this.#ask([...byOrigin.keys()], () => this.#blocked(byOrigin, isNeeded), signal);
  }

  /** `asks`: the user wants this request now. */
  async mayVisit({ origin, addressClass }: BlockedAddress, asks: boolean, signal: AbortSignal): Promise<boolean> {
    if (addressClass !== 'local' && addressClass !== 'private') return false;
    const open = this.#asking.get(origin);
    if (open) await open;
    else if (asks && !this.isAllowed(origin) && !this.#refused.has(origin))
      await this.#ask([origin], async () => [{ origin, found: addressClass, count: 1 }], signal);
    return this.isAllowed(origin);
  }

  forgetRefusals(): void {
    this.#refused.clear();
  }

  async #ask(
    origins: readonly string[],
    findBlocked: () => Promise<readonly AskedOrigin[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const asking = this.#answer(origins, findBlocked, signal).finally(() => {
      for (const origin of origins) this.#asking.delete(origin);
    });
    for (const origin of origins) this.#asking.set(origin, asking);
    await asking;
  }

  async #answer(
    origins: readonly string[],
    findBlocked: () => Promise<readonly AskedOrigin[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const blocked = this.#policy.ask === undefined || origins.length === 0 ? [] : await findBlocked();
    const allowed = blocked.length === 0 ? [] : await this.#policy.ask?.(blocked, signal);
    for (const origin of allowed ?? []) this.#allowed.add(origin);
    for (const { origin } of blocked) if (!this.#allowed.has(origin)) this.#refused.add(origin);
  }

  /** Most URLs first. */
  async #blocked(
    byOrigin: ReadonlyMap<string, readonly string[]>,
    isNeeded: (url: string) => Promise<boolean>,
  ): Promise<readonly AskedOrigin[]> {
    const classes = await this.#classesOf(new Set([...byOrigin.keys()].map(hostOf)));
    const blocked: AskedOrigin[] = [];
    for (const [origin, urls] of byOrigin) {
      const found = classes.get(hostOf(origin));
      if (found !== 'local' && found !== 'private') continue;
      const needed = await Promise.all(urls.map(isNeeded));
      const count = needed.filter((is) => is).length;
      if (count > 0) blocked.push({ origin, found, count });
    }
    return blocked.sort((a, b) => b.count - a.count);
  }

  async #classesOf(hosts: ReadonlySet<string>): Promise<ReadonlyMap<string, AddressClass | undefined>> {
    const classes = new Map<string, AddressClass | undefined>();
    let isLate = false;
    const classify = async (host: string): Promise<void> => {
      if (!isLate) classes.set(host, await this.#classOf(host));
    };
    await within(CLASSIFY_MS, mapConcurrently([...hosts], PARALLEL_NAMES, classify));
    isLate = true;
    return classes;
  }
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}
