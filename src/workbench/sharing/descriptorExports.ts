// Exports descriptors of conversations: for others, for this window, and as a preview.

import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { CommunicationChat } from '../../client/http/communicationChat';
import type { Readers } from '../../client/sharing/sessionLog';
import { UnreadableLinks } from '../../client/sharing/uploads';
import type { SessionDescriptor } from '../../distributed/model/model';
import type { Place } from '../../distributed/model/sessionRecord';
import { isOfSettings } from '../../distributed/stores/s3Store';
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
  readonly ended: AbortSignal;
}

export class DescriptorExports {
  readonly #options: DescriptorExportsOptions;

  constructor(options: DescriptorExportsOptions) {
    this.#options = options;
  }

  /**
   * Returns the descriptor of a session with links that others can read.
   * @throws ParleyError `no-such-session`, `no-session`, `untrusted-workspace`, `links-unreadable`,
   * `cancelled`; of the stores
   */
  async forOthers(key: string, { unsent = false }: ExportOptions = {}): Promise<SessionDescriptor> {
    const { serve, stores } = this.#options;
    await this.#seeEnd(key);
    const readers: Readers = unsent ? 'later' : 'others';
    return showProgress(l10n.t('Uploading messages…'), async (signal) => {
      const http = (chat: CommunicationChat) => this.#copies(key, chat);
      const descriptor = await this.#export(key, http, ({ messages }) =>
        messages.descriptor(readers, signal).catch(async (error: unknown) => {
          if (!isNotServed(error)) throw error;
          await serve.ensureResourceServer();
          return messages.descriptor(readers, signal);
        }),
      );
      const { history, state } = descriptor;
      if (!unsent) await stores.ensureReadable(state === undefined ? history : [...history, state], signal);
      return descriptor;
    });
  }

  /** The descriptor of a session with an HTTP agent, with copies of what no server has recorded. */
  async #copies(key: string, chat: CommunicationChat): Promise<SessionDescriptor | undefined> {
    try {
      return await this.#options.http.handOut(key, chat, this.#options.ended);
    } catch (error) {
      if (!(error instanceof ParleyError) || !(error.code === 'store-down' || isOfSettings(error))) throw error;
      throw new UnreadableLinks(0, 0, error);
    }
  }

  /**
   * Returns the descriptor for another conversation of this window: nothing is served or sent for
   * it.
   * @throws ParleyError as {@link forOthers}
   */
  async forHere(key: string): Promise<SessionDescriptor> {
    await this.#seeEnd(key);
    const http = (chat: CommunicationChat) => this.#options.http.forHere(key, chat, this.#options.ended);
    return this.#export(key, http, ({ messages }) => messages.descriptor('here'));
  }

  /**
   * Returns the descriptor as {@link forOthers} would, without serving anything: some links lead
   * nowhere.
   * @throws ParleyError as {@link forOthers}
   */
  async preview(key: string): Promise<SessionDescriptor> {
    const http = (chat: CommunicationChat) => this.#options.http.preview(chat);
    return this.#export(key, http, async ({ messages }) => {
      try {
        return await messages.descriptor('later');
      } catch (error) {
        if (!isNotServed(error)) throw error;
      }
      const { serve } = this.#options;
      const { id: storeId } = await serve.localStore();
      const { id = '', entries = [], state } = messages.record ?? {};
      const urlOf = (place: Place): string =>
        place.kind === 'foreign'
          ? place.url
          : sampleUrl(place.storeId === storeId && !place.waits ? serve.linkBase : undefined);
      return { id, history: entries.map(urlOf), state: state ? urlOf(state) : undefined };
    });
  }

  /**
   * Starts a conversation whose window ended during a run, so that its server can report the
   * outcome.
   */
  async #seeEnd(key: string): Promise<void> {
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation) && (await conversation.communication.missedEnd())) await conversation.start();
  }

  /**
   * @param http returns that of a session with an HTTP agent
   * @param local returns that of any other session
   */
  async #export(
    key: string,
    http: (chat: CommunicationChat) => Promise<SessionDescriptor | undefined>,
    local: (session: SharedSession) => Promise<SessionDescriptor>,
  ): Promise<SessionDescriptor> {
    requireTrust();
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation)) {
      const descriptor = await http(conversation.communication);
      if (descriptor) return descriptor;
      throw new ParleyError('no-session', localizable('{0} has no session yet.', conversation.agent.name));
    }
    return local(this.#options.sessions.of(conversation));
  }
}

/** The messages are on this machine, and no server runs there. */
function isNotServed(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'not-served';
}
