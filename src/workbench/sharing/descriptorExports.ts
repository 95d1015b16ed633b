// Exports descriptors of conversations: for others, for this window, and as a preview.

import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { CommunicationChat } from '../../client/http/communicationChat';
import type { SessionDescriptor } from '../../distributed/model/model';
import type { Place } from '../../distributed/model/sessionRecord';
import type { Conversations } from '../sessions/conversations';
import { showProgress } from '../ui/messages';
import { type HttpHistories, sampleUrl } from './httpHistories';
import { requireTrust } from './requireTrust';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';
import { isHttp, type SharedSession, type SharedSessions } from './sharedSessions';

export interface ExportOptions {
  /** Links are given although messages behind them are not on the storage server yet. */
  readonly unsent?: boolean;
}

export interface DescriptorExportsOptions {
  readonly conversations: Conversations;
  readonly serve: Serve;
  readonly stores: ResourceStores;
  readonly sessions: SharedSessions;
  readonly http: HttpHistories;
  /** Aborts when the window ends. */
  readonly ended: AbortSignal;
}

export class DescriptorExports {
  readonly #options: DescriptorExportsOptions;

  constructor(options: DescriptorExportsOptions) {
    this.#options = options;
  }

  /**
   * The descriptor of a conversation's session, with links that others can read until they end.
   * @param options `unsent`: links are given although messages behind them are not on the resource
   * server yet
   * @throws ParleyError `no-such-session`, `no-session`, `untrusted-workspace`, `links-unreadable`,
   * `cancelled`; of the stores
   */
  async forOthers(key: string, { unsent = false }: ExportOptions = {}): Promise<SessionDescriptor> {
    const { serve, stores } = this.#options;
    await this.#seeEnd(key);
    const http = (chat: CommunicationChat) => this.#options.http.handOut(key, chat, this.#options.ended);
    const descriptor = await this.#export(key, http, async ({ messages }) => {
      await serve.ensureResourceServer();
      return messages.descriptor();
    });
    if (unsent) return descriptor;
    const { history, state } = descriptor;
    const links = state === undefined ? history : [...history, state];
    await showProgress(l10n.t('Uploading messages…'), (signal) => stores.ensureReadable(links, signal));
    return descriptor;
  }

  /**
   * The descriptor for another conversation of this window: nothing is served or sent for it, since
   * this window reads the links, and what others cannot follow goes to an HTTP agent with the next
   * run.
   * @throws ParleyError as {@link forOthers}
   */
  async forHere(key: string): Promise<SessionDescriptor> {
    await this.#seeEnd(key);
    const http = (chat: CommunicationChat) => this.#options.http.forHere(key, chat, this.#options.ended);
    return this.#export(key, http, undefined);
  }

  /**
   * The descriptor as {@link forOthers} would give it, to be looked at before the user agrees:
   * nothing is served for it, and links to messages of this machine that are not served are as long
   * as they will be, and lead nowhere.
   * @throws ParleyError as {@link forOthers}
   */
  async preview(key: string): Promise<SessionDescriptor> {
    const http = (chat: CommunicationChat) => this.#options.http.preview(chat);
    return this.#export(key, http, async ({ record }) => {
      const { serve } = this.#options;
      const { id: storeId } = await serve.localStore();
      const { id = '', entries = [], state } = record ?? {};
      const urlOf = (place: Place): string =>
        place.kind === 'foreign' ? place.url : sampleUrl(place.storeId === storeId ? serve.linkBase : undefined);
      return { id, history: entries.map(urlOf), state: state ? urlOf(state) : undefined };
    });
  }

  /**
   * Starts a conversation whose window ended in the middle of a run, so that its server can say
   * what came of it.
   */
  async #seeEnd(key: string): Promise<void> {
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation) && (await conversation.communication.missedEnd())) await conversation.start();
  }

  /**
   * @param http gives that of a session with an HTTP agent
   * @param unserved makes the descriptor where its messages lie on this machine and no server runs;
   * absent: only this window reads it
   */
  async #export(
    key: string,
    http: (chat: CommunicationChat) => Promise<SessionDescriptor | undefined>,
    unserved: ((session: SharedSession) => Promise<SessionDescriptor>) | undefined,
  ): Promise<SessionDescriptor> {
    requireTrust();
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation)) {
      const descriptor = await http(conversation.communication);
      if (descriptor) return descriptor;
      throw new ParleyError('no-session', localizable('{0} has no session yet.', conversation.agent.name));
    }
    const session = this.#options.sessions.of(conversation);
    if (!unserved) return session.messages.descriptor('here');
    try {
      return await session.messages.descriptor();
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'not-served') throw error;
    }
    return unserved(session);
  }
}
