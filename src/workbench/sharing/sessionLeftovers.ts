// Removes messages on this machine and copies in the bucket of deleted sessions.
import { type ExtensionContext, l10n } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { FileStore } from '../../client/sharing/fileStore';
import { copiesOf, neverShared, removeCopies, removeRemains } from '../../client/sharing/sessionRemains';
import type { SessionCopies } from '../sessions/keptSessions';
import { showWarning } from '../ui/messages';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';
import type { SharedSessions } from './sharedSessions';

export interface SessionLeftoversOptions {
  readonly context: Pick<ExtensionContext, 'globalState'>;
  readonly serve: Serve;
  readonly stores: ResourceStores;
  readonly sessions: SharedSessions;
  readonly records: FileStore;
  readonly httpSessions: FileStore;
  readonly ended: AbortSignal;
  readonly log: Log;
}

const LEFT = 'parley.resources.left';
const MAX_LEFT = 1000;
/**
 * ms since 1970; 0: older messages are removed. Messages are only written for shared sessions
 * since.
 */
const COPIES_SINCE = 'parley.resources.copiesSince';
/** Links last at most a week. */
const COPIES_LAST_MS = 8 * 24 * 60 * 60 * 1000;
const TIDY_AFTER_MS = 2 * 60_000;

export class SessionLeftovers implements Disposable {
  readonly #options: SessionLeftoversOptions;
  readonly #tidying: NodeJS.Timeout;

  constructor(options: SessionLeftoversOptions) {
    this.#options = options;
    this.#tidying = setTimeout(() => void this.#removeOldCopies(), TIDY_AFTER_MS);
    this.#tidying.unref();
  }

  /** Removes files of deleted sessions that no other one refers to. Never rejects. */
  async forget(keys: readonly string[]): Promise<void> {
    const { log, serve, context, sessions } = this.#options;
    const before = context.globalState.get<readonly string[]>(LEFT, []);
    try {
      // What open sessions refer to is in the file store then.
      await sessions.settled();
      const fileStores = [this.#options.records, this.#options.httpSessions];
      const remains = { fileStores, store: await serve.localStore(), log };
      const all = [...new Set([...before, ...keys])];
      const { removed, left } = await removeRemains(all, remains, this.#options.ended);
      await context.globalState.update(LEFT, left.slice(-MAX_LEFT));
      if (removed > 0) log.info(`${removed} messages of deleted sessions were removed`);
    } catch (error) {
      log.warn(`What is left of deleted sessions stays: ${messageOf(error)}`);
    }
  }

  /** Copies in the bucket are only removed if the user says so. */
  readonly copies: SessionCopies = {
    of: async (key) => {
      const { stores, httpSessions, log } = this.#options;
      try {
        return await copiesOf(key, { messages: this.#options.records, http: httpSessions, stores: await stores.all() });
      } catch (error) {
        log.warn(`It is not known which copies there are of session ${key}: ${messageOf(error)}`);
        return [];
      }
    },
    remove: async (key, copies) => {
      const { httpSessions, log } = this.#options;
      // Files of the session itself must not keep its copies.
      await this.forget([key]);
      const left = await removeCopies(
        copies,
        { fileStores: [this.#options.records, httpSessions], log },
        this.#options.ended,
      );
      if (left > 0) void showWarning(`Parley: ${l10n.t("Couldn't delete {0} copies from your bucket.", left)}`);
    },
  };

  /** Removes, once after an update, files of sessions that were never shared. */
  async #removeOldCopies(): Promise<void> {
    const { context, serve, sessions, log } = this.#options;
    const since = context.globalState.get<number>(COPIES_SINCE);
    if (since === undefined) await context.globalState.update(COPIES_SINCE, Date.now());
    if (!since || Date.now() - since < COPIES_LAST_MS) return;
    try {
      const { id } = await serve.localStore();
      await this.forget((await neverShared(this.#options.records, id)).filter((key) => !sessions.find(key)?.record));
      await context.globalState.update(COPIES_SINCE, 0);
    } catch (error) {
      log.warn(`Messages of sessions that were never shared stay: ${messageOf(error)}`);
    }
  }

  dispose(): void {
    clearTimeout(this.#tidying);
  }
}
