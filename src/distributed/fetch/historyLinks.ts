// The links of a history for their readers: which ones others can read, signed for the current
// address, and the messages behind the others.
import type { LocalizableText } from '../../base/localizable';
import { pause } from '../model/deadline';
import { type Gap, gapReasonText, gapSentence } from '../model/gap';
import type { Message } from '../model/model';
import { DEFAULT_URL_SECONDS, type ResourceStore } from '../model/resources';
import { expiryOf, hashOf, isOnThisMachine } from '../model/resourceUrl';
import type { Resolver } from './resolver';

export interface HistoryLinks {
  /** Re-signs a link to our own store for the server `reader`; undefined if it can't. */
  fresh(url: string, reader: string | undefined): Promise<string | undefined>;
  /** Retries for a few seconds, because a reason would replace the message for good. */
  read(url: string, signal: AbortSignal): Promise<Message | string>;
  /** Undefined if the server of the link provides the message. */
  whyUnreadable(url: string, signal: AbortSignal): Promise<LocalizableText | undefined>;
}

export interface StoreLinksOptions {
  readonly stores: () => Promise<readonly ResourceStore[]>;
  readonly resolver: () => Promise<Pick<Resolver, 'resolveEntry'>>;
  readonly prober: () => Pick<Resolver, 'resolveEntry'>;
  /** Keeps foreign descriptors from getting other messages signed by naming them. */
  readonly isOfSession: (key: string) => boolean;
  readonly retryMs?: readonly number[];
}

/** Delays before retries, in milliseconds. */
const RETRY_MS = [100, 300, 1000, 2000];
const TRANSIENT: ReadonlySet<Gap['reason']> = new Set(['timeout', 'connection-lost', 'server-error']);

export class StoreLinks implements HistoryLinks {
  readonly #options: StoreLinksOptions;
  /** Signed links by store and key; other keys of a bucket are another store. */
  readonly #signedLinks = new WeakMap<ResourceStore, Map<string, string>>();

  constructor(options: StoreLinksOptions) {
    this.#options = options;
  }

  async fresh(url: string, reader: string | undefined): Promise<string | undefined> {
    // The reader signs its own links.
    if (reader !== undefined && URL.canParse(url) && new URL(url).origin === reader) return url;
    for (const store of await this.#options.stores()) {
      const key = await store.keyOf(url);
      if (key === undefined) continue;
      // The signature of a local store proves that it handed the link out.
      if (!store.isLocal && !this.#options.isOfSession(key)) break;
      // The message is sent with the run instead.
      if (reader !== undefined && store.refusesKeys) return undefined;
      const signed = await this.#signedLink(store, key, hashOf(url)).catch(() => undefined);
      // A local store is reachable only as long as this window.
      if (signed === undefined || (store.isLocal && reader !== undefined && isOnThisMachine(signed))) return undefined;
      return reachable(signed, reader);
    }
    return reachable(url, reader);
  }

  /** Signing is expensive, so links that last for hours are reused. */
  async #signedLink(store: ResourceStore, key: string, sha256: string | undefined): Promise<string> {
    const before = this.#signedLinks.get(store) ?? new Map<string, string>();
    const known = before.get(key);
    if (known !== undefined && (expiryOf(known) ?? 0) - Date.now() > (DEFAULT_URL_SECONDS * 1000) / 2) return known;
    const url = await store.urlFor(key, { expiresIn: DEFAULT_URL_SECONDS, sha256 });
    // The address of this machine may change at any time.
    if (!store.isLocal) this.#signedLinks.set(store, before.set(key, url));
    return url;
  }

  async read(url: string, signal: AbortSignal): Promise<Message | string> {
    const resolver = await this.#options.resolver();
    let entry = await resolver.resolveEntry(url, 0, {}, signal);
    for (const ms of this.#options.retryMs ?? RETRY_MS) {
      if (entry.kind === 'message' || !TRANSIENT.has(entry.reason)) break;
      await pause(ms, signal);
      entry = await resolver.resolveEntry(url, 0, {}, signal);
    }
    return entry.kind === 'message' ? entry.message : gapSentence(entry.reason, entry.host);
  }

  async whyUnreadable(url: string, signal: AbortSignal): Promise<LocalizableText | undefined> {
    const entry = await this.#options.prober().resolveEntry(url, 0, {}, signal);
    if (entry.kind === 'message' || !UNREADABLE.has(entry.reason)) return undefined;
    return gapReasonText(entry.reason, entry.host);
  }
}

const UNREADABLE: ReadonlySet<Gap['reason']> = new Set([
  'not-found',
  'timeout',
  'refused',
  'expired',
  'forbidden',
  'unauthorized',
  'not-json',
  'not-a-message',
  'no-such-host',
  'connection-lost',
  'server-error',
]);

function reachable(url: string, reader: string | undefined): string | undefined {
  const isLost = reader !== undefined && isOnThisMachine(url) && !isOnThisMachine(reader);
  return isLost ? undefined : url;
}
