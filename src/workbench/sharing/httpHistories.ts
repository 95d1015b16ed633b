// Histories of sessions with HTTP agents: their links, and copies of messages for sharing.
import { randomBytes } from 'node:crypto';
import { Part } from '../../base/disposable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import type { CommunicationChat } from '../../client/http/communicationChat';
import type { MessageRecorder } from '../../distributed/client/sessionPast';
import { Guard, type NetworkPolicy } from '../../distributed/fetch/guard';
import { type HistoryLinks, StoreLinks } from '../../distributed/fetch/historyLinks';
import { Resolver } from '../../distributed/fetch/resolver';
import type { ResourceCache } from '../../distributed/fetch/resourceCache';
import { mintId, type SessionDescriptor } from '../../distributed/model/model';
import { DEFAULT_URL_SECONDS, folderOf, type ResourceStore } from '../../distributed/model/resources';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';

interface HttpHistoriesOptions {
  readonly serve: Pick<Serve, 'ensureResourceServer' | 'linkBase' | 'localStore'>;
  readonly stores: Pick<ResourceStores, 'all'>;
  readonly policy: NetworkPolicy;
  readonly cache: ResourceCache;
  readonly log: Log;
}

export class HttpHistories extends Part<HttpHistoriesOptions> {
  readonly #guard: Guard;
  readonly #prober: Resolver;

  constructor(options: HttpHistoriesOptions) {
    super(options);
    const { policy, log } = options;
    this.#guard = this.own(
      new Guard({
        isAllowed: (origin) => policy.isAllowed(origin),
        credentials: async (origin) => policy.credentials?.(origin),
      }),
    );
    this.#prober = new Resolver({ guard: this.#guard, log });
  }

  linksOf(key: string, sessionId: string): HistoryLinks {
    const folders = [folderOf(sessionId), folderOfHttp(key)];
    const { stores, cache, log } = this.options;
    return new StoreLinks({
      stores: () => stores.all(),
      resolver: async () => new Resolver({ guard: this.#guard, cache, stores: await stores.all(), log }),
      prober: () => this.#prober,
      isOfSession: (name) => folders.some((folder) => name.startsWith(folder)),
    });
  }

  /** Returns the descriptor for others, copying what no server has recorded. */
  async handOut(key: string, chat: CommunicationChat, signal: AbortSignal): Promise<SessionDescriptor | undefined> {
    const [store] = await this.options.stores.all();
    // Links to this machine are signed for its server's address.
    if (await this.#needsLocalServer(chat, store.isLocal)) await this.options.serve.ensureResourceServer();
    return chat.handOut(this.#recorderOf(folderOfHttp(key), store, 'others'), signal);
  }

  /** Returns the descriptor for this window: copies to this machine, without serving. */
  async forHere(key: string, chat: CommunicationChat, signal: AbortSignal): Promise<SessionDescriptor | undefined> {
    const history = await chat.known();
    if (!history) return undefined;
    // In the session's folder, so that links are signed again when it continues here.
    const folder = `${folderOf(history.descriptor.id)}${key}/`;
    return chat.handOut(this.#recorderOf(folder, await this.options.serve.localStore(), 'here'), signal);
  }

  async preview(chat: CommunicationChat): Promise<SessionDescriptor | undefined> {
    const history = await chat.known();
    if (!history) return undefined;
    const { stores, serve } = this.options;
    const [store] = await stores.all();
    const copies = (history.held ?? []).map(({ url }) => url ?? sampleUrl(store.isLocal ? serve.linkBase : undefined));
    return { ...history.descriptor, history: [...history.descriptor.history, ...copies] };
  }

  /** @param copies whether new copies are stored on this machine */
  async #needsLocalServer(chat: CommunicationChat, copies: boolean): Promise<boolean> {
    const history = await chat.known();
    if (!history) return false;
    const { descriptor, held = [] } = history;
    const local = await this.options.serve.localStore();
    const urls = [...descriptor.history, descriptor.state, ...held.map(({ url }) => url)];
    if (copies && held.some(({ url }) => url === undefined)) return true;
    for (const url of urls) if (url !== undefined && (await local.keyOf(url)) !== undefined) return true;
    return false;
  }

  #recorderOf(folder: string, store: ResourceStore, readers: 'others' | 'here'): MessageRecorder {
    return {
      // If a bucket is configured, a copy on this machine doesn't count.
      has: async (url) => (await store.keyOf(url)) !== undefined,
      record: async (message, signal) => {
        const bytes = Buffer.from(knownSecrets.redact(JSON.stringify(message)));
        const name = `${folder}${mintId()}.json`;
        const { sha256 } = await store.put(name, bytes, 'application/json', signal);
        return store.urlFor(name, { expiresIn: DEFAULT_URL_SECONDS, sha256, readers });
      },
    };
  }
}

/** A placeholder link. @param localBase prefix of links to this machine */
export function sampleUrl(localBase: string | undefined): string {
  const origin = localBase ?? 'https://bucket.invalid';
  const ends = Math.floor(Date.now() / 1000) + DEFAULT_URL_SECONDS;
  return `${origin}/resources/${mintId()}?exp=${ends}&sig=${randomBytes(32).toString('base64url')}`;
}

function folderOfHttp(key: string): string {
  return `http/${key}/`;
}
