// Opens descriptors as sessions, and exports the descriptors of sessions.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExtensionContext, l10n, window, workspace } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import type { CommunicationChat } from '../../client/http/communicationChat';
import { FileStore } from '../../client/sharing/fileStore';
import { gapPosition } from '../../client/sharing/historyEvents';
import { readLivePart, retryGap, retryGaps } from '../../client/sharing/historyRetries';
import { type OpenedSummary, openHistory } from '../../client/sharing/openedHistory';
import { type FoundState, openedEnd, openedFrom } from '../../client/sharing/provenanceNotices';
import type { Readers } from '../../client/sharing/sessionLog';
import { copiesOf, neverShared, removeCopies, removeRemains } from '../../client/sharing/sessionRemains';
import { isStateOf, type StateExchange } from '../../client/sharing/stateExchange';
import { UnreadableLinks } from '../../client/sharing/uploads';
import { openDescriptor } from '../../distributed/fetch/descriptor';
import { Guard } from '../../distributed/fetch/guard';
import type { HistoryLinks } from '../../distributed/fetch/historyLinks';
import { Resolver } from '../../distributed/fetch/resolver';
import type { ResourceCache } from '../../distributed/fetch/resourceCache';
import { gapSentence } from '../../distributed/model/gap';
import type { SessionDescriptor } from '../../distributed/model/model';
import { originOf } from '../../distributed/model/resourceUrl';
import type { Place } from '../../distributed/model/sessionRecord';
import { isOfSettings } from '../../distributed/stores/s3Store';
import type { SessionEvent } from '../../session/events/event';
import { firstWordsOf } from '../../session/model/entryText';
import { pastOf } from '../../session/model/pastOf';
import type { SessionState } from '../../session/model/state';
import type { AgentCatalog } from '../config/agentCatalog';
import type { Conversations } from '../sessions/conversations';
import type { SessionCopies } from '../sessions/keptSessions';
import { showProgress, showWarning } from '../ui/messages';
import { HttpHistories, sampleUrl } from './httpHistories';
import type { ResourceAccess } from './resourceAccess';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';
import { isHttp, recordNow, type SharedSession, SharedSessions } from './sharedSessions';

export interface DescriptorsOptions {
  readonly context: ExtensionContext;
  readonly catalog: AgentCatalog;
  readonly conversations: Conversations;
  readonly serve: Serve;
  readonly stores: ResourceStores;
  readonly access: ResourceAccess;
  readonly cache: ResourceCache;
  readonly httpSessions: FileStore;
  readonly log: Log;
}

export interface OpenOptions {
  readonly agent?: string | undefined;
  /** First event of the session; default: where its messages come from. */
  readonly head?: (descriptor: SessionDescriptor) => SessionEvent;
  readonly title?: string | undefined;
  readonly continues?: Conversation | undefined;
  /** See {@link SessionLog.stateBy}; default: the last agent. */
  readonly stateBy?: string | undefined;
  /** false: doesn't show it or change the active session. */
  readonly activates?: boolean;
  readonly onDidShow?: (conversation: Conversation) => Promise<void>;
}

const FETCH_MS = 30_000;
const MAX_TITLE = 80;

export class Descriptors extends Part<DescriptorsOptions> {
  declare readonly options: DescriptorsOptions;
  readonly records: FileStore;
  readonly guard: Guard;
  readonly http: HttpHistories;
  readonly sessions: SharedSessions;
  readonly exports = new DescriptorExports(this);
  readonly missing = new MissingMessages(this);
  readonly leftovers = this.own(new SessionLeftovers(this));
  readonly #ended = new AbortController();

  constructor(options: DescriptorsOptions) {
    super(options);
    const { context, conversations, serve, stores, access, cache, log } = options;
    this.records = new FileStore(join(context.globalStorageUri.fsPath, 'session-messages'));
    const guard = this.own(new Guard(access));
    this.guard = guard;
    // Origins that the user allowed for this window's guard apply to runs too.
    const policy = {
      isAllowed: (origin: string) => guard.consent.isAllowed(origin),
      credentials: (origin: string) => access.credentials(origin),
    };
    this.http = this.own(new HttpHistories({ serve, stores, policy, cache, log }));
    const readState = async (url: string, signal: AbortSignal): Promise<Uint8Array | string> => {
      const found = await (await this.resolver()).resolveState(url, signal);
      return found.kind === 'state' ? found.bytes : gapSentence(found.reason, found.host);
    };
    this.sessions = this.own(new SharedSessions({ conversations, stores, records: this.records, readState, log }));
  }

  /** Aborted with the window. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  prepare(): void {
    const { stores, log } = this.options;
    stores.all().catch((error: unknown) => log.warn(`stores: ${messageOf(error)}`));
  }

  /**
   * Reads a descriptor, its text, a link, or an address.
   * @param asks whether to ask for a token
   * @throws ParleyError as `openDescriptor` does; `untrusted-workspace`
   */
  async read(input: unknown, asks = false): Promise<SessionDescriptor> {
    requireTrust();
    const fetchIt = (): Promise<SessionDescriptor> =>
      openDescriptor(input, this.guard, AbortSignal.any([this.ended, AbortSignal.timeout(FETCH_MS)]));
    try {
      return await fetchIt();
    } catch (error) {
      const origin = typeof input === 'string' ? originOf(input.trim()) : undefined;
      const isLocked = error instanceof ParleyError && error.code === 'session-locked';
      if (!asks || !isLocked || origin === undefined) throw error;
      if (!(await this.options.access.askToken(origin, this.ended))) throw error;
      return await fetchIt();
    }
  }

  /**
   * Opens a session. Resolves when every message is loaded or marked as a gap.
   * @throws ParleyError `untrusted-workspace`, `no-such-agent`
   */
  async open(descriptor: SessionDescriptor, options: OpenOptions = {}): Promise<Conversation> {
    requireTrust();
    const { conversations, catalog } = this.options;
    const agent = options.agent === undefined ? catalog.preferred() : catalog.find(options.agent);
    const knows = agent?.type === 'communication';
    const { continues } = options;
    const conversation = conversations.create({
      agent: options.agent,
      activates: options.activates,
      continues,
      cwd: await folderOf(continues),
      opening: knows ? { kind: 'reopen', sessionId: descriptor.id, transcript: 'keep' } : { kind: 'new' },
    });
    if (knows) conversation.communication.adopt(descriptor);
    const resolver = await this.resolver();
    const head = (options.head ?? openedFrom)(descriptor);
    const onDidShow = () => {
      const shown = options.onDidShow?.(conversation);
      this.sessions.of(conversation).messages.begin(descriptor, shown);
      return shown;
    };
    const { gaps, speaker }: Pick<OpenedSummary, 'gaps' | 'speaker'> =
      (!knows && carryOver(conversation, continues?.model.state, head, onDidShow)) ||
      (await openHistory(
        descriptor,
        { place: conversation, resolver, now: Date.now, head: [head], onDidShow },
        this.ended,
      ));
    const title = options.title ?? firstWordsOf(conversation.model.state, MAX_TITLE);
    const isNamed = continues?.model.state.isNamed === true;
    if (title !== undefined) recordNow(conversation, { type: 'info', title, byUser: isNamed || undefined });
    const by = options.stateBy ?? speaker;
    if (descriptor.state !== undefined && by !== undefined) await this.sessions.of(conversation).messages.stateIsOf(by);
    const state = await this.#resolveState(descriptor, knows || isStateOf(by, conversation.agent), resolver);
    recordNow(conversation, openedEnd(conversation.agent.name, gaps, state, knows));
    await this.sessions.of(conversation).messages.settled();
    this.sessions.tellRelated(conversation);
    return conversation;
  }

  readonly agentState = (key: string): StateExchange | undefined => this.sessions.find(key)?.state;

  /** See {@link SessionLog.stateBy}; unknown for HTTP agents. */
  stateBy(key: string): string | undefined {
    const session = this.sessions.find(key);
    return session && !isHttp(session.conversation) ? session.messages.stateBy : undefined;
  }

  /** Copies the messages of a session to the configured store. @throws ParleyError of that store */
  async move(key: string): Promise<{ readonly moved: number; readonly unreadable: readonly number[] }> {
    requireTrust();
    return this.sessions.of(this.options.conversations.get(key)).messages.move(this.ended);
  }

  linksOf(key: string, sessionId: string): HistoryLinks {
    return this.http.linksOf(key, sessionId);
  }

  /** Resolves when pending writes have succeeded or failed. */
  async settled(): Promise<void> {
    await Promise.all([this.sessions.settled(), this.options.cache.settled()]);
  }

  override dispose(): void {
    this.#ended.abort();
    super.dispose();
  }

  async #resolveState({ state }: SessionDescriptor, mayRead: boolean, resolver: Resolver): Promise<FoundState> {
    if (state === undefined) return 'none';
    if (!mayRead) return 'other';
    const found = await resolver.resolveState(state, this.ended);
    return found.kind === 'state' ? 'there' : 'missing';
  }

  async resolver(): Promise<Resolver> {
    const { stores, cache, log } = this.options;
    return new Resolver({ guard: this.guard, cache, stores: await stores.all(), log });
  }
}

/** Returns the original transcript, which has more than messages; undefined if not loaded. */
function carryOver(
  conversation: Conversation,
  state: Readonly<SessionState> | undefined,
  head: SessionEvent,
  onDidShow: () => unknown,
): Pick<OpenedSummary, 'gaps' | 'speaker'> | undefined {
  if (!state || state.entries.some((entry) => entry.kind === 'gap' && entry.state !== 'final')) return undefined;
  conversation.note([{ at: Date.now(), event: head }, ...pastOf(state)]);
  onDidShow();
  return { gaps: [] };
}

export interface ExportOptions {
  /** Returns links even if messages are still waiting to be uploaded. */
  readonly unsent?: boolean;
}

class DescriptorExports {
  readonly #sharing: Descriptors;

  constructor(sharing: Descriptors) {
    this.#sharing = sharing;
  }

  /**
   * Returns the descriptor of a session with links that others can read.
   * @throws ParleyError `no-such-session`, `no-session`, `untrusted-workspace`, `links-unreadable`,
   * `cancelled`; of the stores
   */
  async forOthers(key: string, { unsent = false }: ExportOptions = {}): Promise<SessionDescriptor> {
    const { serve, stores } = this.#sharing.options;
    await this.#resumeMissedEnd(key);
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

  /** Returns the descriptor of an HTTP agent's session, copying what no server has recorded. */
  async #copies(key: string, chat: CommunicationChat): Promise<SessionDescriptor | undefined> {
    try {
      return await this.#sharing.http.handOut(key, chat, this.#sharing.ended);
    } catch (error) {
      if (!(error instanceof ParleyError) || !(error.code === 'store-down' || isOfSettings(error))) throw error;
      throw new UnreadableLinks(0, 0, error);
    }
  }

  /** As {@link forOthers} for this window, without serving or uploading. */
  async forHere(key: string): Promise<SessionDescriptor> {
    await this.#resumeMissedEnd(key);
    const http = (chat: CommunicationChat) => this.#sharing.http.forHere(key, chat, this.#sharing.ended);
    return this.#export(key, http, ({ messages }) => messages.descriptor('here'));
  }

  /** As {@link forOthers} without serving or uploading, so some links lead nowhere. */
  async preview(key: string): Promise<SessionDescriptor> {
    const http = (chat: CommunicationChat) => this.#sharing.http.preview(chat);
    return this.#export(key, http, async ({ messages }) => {
      try {
        return await messages.descriptor('later');
      } catch (error) {
        if (!isNotServed(error)) throw error;
      }
      const { serve } = this.#sharing.options;
      const { id: storeId } = await serve.localStore();
      const { id = '', entries = [], state } = messages.record ?? {};
      const urlOf = (place: Place): string =>
        place.kind === 'foreign'
          ? place.url
          : sampleUrl(place.storeId === storeId && !place.waits ? serve.linkBase : undefined);
      return { id, history: entries.map(urlOf), state: state ? urlOf(state) : undefined };
    });
  }

  /** Resumes a session whose window closed during a run, so that its server reports the outcome. */
  async #resumeMissedEnd(key: string): Promise<void> {
    const conversation = this.#sharing.options.conversations.get(key);
    if (isHttp(conversation) && (await conversation.communication.missedEnd())) await conversation.start();
  }

  /** @param http for sessions with an HTTP agent @param local for others */
  async #export(
    key: string,
    http: (chat: CommunicationChat) => Promise<SessionDescriptor | undefined>,
    local: (session: SharedSession) => Promise<SessionDescriptor>,
  ): Promise<SessionDescriptor> {
    requireTrust();
    const conversation = this.#sharing.options.conversations.get(key);
    if (isHttp(conversation)) {
      const descriptor = await http(conversation.communication);
      if (descriptor) return descriptor;
      throw new ParleyError('no-session', localizable('{0} has no session yet.', conversation.agent.name));
    }
    return local(this.#sharing.sessions.of(conversation));
  }
}

/** The messages are on this machine, without a server. */
function isNotServed(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'not-served';
}

/** Limits of an opened text, in ms and bytes. */
const OPEN_MS = 30_000;
const MAX_PART_BYTES = 5 * 1024 * 1024;

class MissingMessages {
  readonly #sharing: Descriptors;

  constructor(sharing: Descriptors) {
    this.#sharing = sharing;
  }

  readonly retry = async (conversation: Conversation, gapId: string): Promise<void> => {
    requireTrust();
    const url = await this.#urlAt(conversation, gapId);
    if (url === undefined)
      throw new ParleyError('no-such-gap', localizable('The location of this message is unknown.'));
    const { consent } = this.#sharing.guard;
    const origin = new URL(url).origin;
    const wasAllowed = consent.isAllowed(origin);
    consent.forgetRefusals();
    const resolver = await this.#sharing.resolver();
    let unlocked: string | undefined;
    const unlock = async (locked: string, signal: AbortSignal): Promise<boolean> => {
      const isGiven = await this.#sharing.options.access.askToken(new URL(locked).origin, signal);
      if (isGiven) unlocked = locked;
      return isGiven;
    };
    const place = { place: conversation, resolver, now: Date.now };
    const isLoaded = await retryGap(gapId, url, { ...place, unlock }, this.#sharing.ended);
    const isOpened = !wasAllowed && consent.isAllowed(origin);
    if (!isOpened && !(isLoaded && unlocked === url)) return;
    // The answer or token applies to all messages of that server.
    const others = (await this.#missingMessages(conversation)).filter((other) => originOf(other.url) === origin);
    await retryGaps(others, place, this.#sharing.ended);
  };

  readonly retryAll = async (conversation: Conversation): Promise<void> => {
    requireTrust();
    this.#sharing.guard.consent.forgetRefusals();
    const place = { place: conversation, resolver: await this.#sharing.resolver(), now: Date.now };
    await retryGaps(await this.#missingMessages(conversation), place, this.#sharing.ended);
  };

  async #missingMessages({ key, model }: Conversation): Promise<readonly { index: number; url: string }[]> {
    const found: { index: number; url: string }[] = [];
    for (const entry of [...model.state.entries]) {
      if (entry.kind !== 'gap' || entry.state !== 'retryable' || entry.remote) continue;
      const where = gapPosition(entry.gapId);
      if (!where || where.part !== undefined) continue;
      const url = await this.#sharing.sessions.find(key)?.messages.urlAt(where.index);
      if (url !== undefined) found.push({ index: where.index, url });
    }
    return found;
  }

  /** Loads a short text of a running response into its gap. */
  async readPart(key: string, gapId: string): Promise<void> {
    const conversation = this.#sharing.sessions.find(key)?.conversation;
    if (!workspace.isTrusted || !conversation) return;
    const note: Conversation['note'] = (events) => {
      if (this.#sharing.sessions.find(key)?.conversation === conversation) conversation.note(events);
    };
    try {
      const options = {
        place: { model: conversation.model, note },
        resolver: await this.#sharing.resolver(),
        now: Date.now,
      };
      await readLivePart(gapId, options, this.#sharing.ended);
    } catch (error) {
      this.#sharing.options.log.warn(`A part of an answer was not read: ${messageOf(error)}`);
    }
  }

  /**
   * Shows a text that needs the user's token.
   * @returns false if the address is not such a text
   * @throws ParleyError `location-not-found`
   */
  readonly openPart = async (url: string): Promise<boolean> => {
    const origin = originOf(url);
    if (!workspace.isTrusted || origin === undefined) return false;
    if ((await this.#sharing.options.access.credentials(origin)) === undefined) return false;
    const resolver = await this.#sharing.resolver();
    const part = { content_type: 'text/plain', content_encoding: 'plain', content_url: url } as const;
    const signal = AbortSignal.any([this.#sharing.ended, AbortSignal.timeout(OPEN_MS)]);
    const found = await resolver.resolvePart(part, { maxBytes: MAX_PART_BYTES, asks: true, isNew: true }, signal);
    if (found.kind !== 'content') throw new ParleyError('location-not-found', gapSentence(found.reason, found.host));
    const content = Buffer.from(found.bytes).toString('utf8');
    if (content.includes('\0')) return false;
    await window.showTextDocument(await workspace.openTextDocument({ content }), { preview: true });
    return true;
  };

  async #urlAt(conversation: Conversation, gapId: string): Promise<string | undefined> {
    const gap = conversation.model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId);
    if (gap?.kind === 'gap' && gap.remote) return gap.remote.url;
    const where = gapPosition(gapId);
    return where && (await this.#sharing.sessions.of(conversation).messages.urlAt(where.index));
  }
}

const LEFT = 'parley.resources.left';
const MAX_LEFT = 1000;
/** Since when only shared sessions are copied, ms since 1970; 0: older copies were removed. */
const COPIES_SINCE = 'parley.resources.copiesSince';
/** Links last at most a week. */
const COPIES_LAST_MS = 8 * 24 * 60 * 60 * 1000;
const TIDY_AFTER_MS = 2 * 60_000;

class SessionLeftovers implements Disposable {
  readonly #sharing: Descriptors;
  readonly #cleanupTimer: NodeJS.Timeout;

  constructor(sharing: Descriptors) {
    this.#sharing = sharing;
    this.#cleanupTimer = setTimeout(() => void this.#removeOldCopies(), TIDY_AFTER_MS);
    this.#cleanupTimer.unref();
  }

  /** Removes files of deleted sessions unless others refer to them. Never rejects. */
  async forget(keys: readonly string[]): Promise<void> {
    const { log, serve, context } = this.#sharing.options;
    const before = context.globalState.get<readonly string[]>(LEFT, []);
    try {
      // Makes sure that references of open sessions are in the file store.
      await this.#sharing.sessions.settled();
      const fileStores = [this.#sharing.records, this.#sharing.options.httpSessions];
      const remains = { fileStores, store: await serve.localStore(), log };
      const all = [...new Set([...before, ...keys])];
      const { removed, left } = await removeRemains(all, remains, this.#sharing.ended);
      await context.globalState.update(LEFT, left.slice(-MAX_LEFT));
      if (removed > 0) log.info(`${removed} messages of deleted sessions were removed`);
    } catch (error) {
      log.warn(`What is left of deleted sessions stays: ${messageOf(error)}`);
    }
  }

  /** Copies in the bucket are only removed at the user's request. */
  readonly copies: SessionCopies = {
    of: async (key) => {
      const { stores, httpSessions, log } = this.#sharing.options;
      try {
        return await copiesOf(key, { messages: this.#sharing.records, http: httpSessions, stores: await stores.all() });
      } catch (error) {
        log.warn(`It is not known which copies there are of session ${key}: ${messageOf(error)}`);
        return [];
      }
    },
    remove: async (key, copies) => {
      const { httpSessions, log } = this.#sharing.options;
      // The session's own files must not keep its copies alive.
      await this.forget([key]);
      const left = await removeCopies(
        copies,
        { fileStores: [this.#sharing.records, httpSessions], log },
        this.#sharing.ended,
      );
      if (left > 0) void showWarning(`Parley: ${l10n.t("Couldn't delete {0} copies from your bucket.", left)}`);
    },
  };

  /** After an update, removes files of sessions that were never shared. Runs once. */
  async #removeOldCopies(): Promise<void> {
    const { context, serve, log } = this.#sharing.options;
    const { sessions } = this.#sharing;
    const since = context.globalState.get<number>(COPIES_SINCE);
    if (since === undefined) await context.globalState.update(COPIES_SINCE, Date.now());
    if (!since || Date.now() - since < COPIES_LAST_MS) return;
    try {
      const { id } = await serve.localStore();
      await this.forget((await neverShared(this.#sharing.records, id)).filter((key) => !sessions.find(key)?.record));
      await context.globalState.update(COPIES_SINCE, 0);
    } catch (error) {
      log.warn(`Messages of sessions that were never shared stay: ${messageOf(error)}`);
    }
  }

  dispose(): void {
    clearTimeout(this.#cleanupTimer);
  }
}

export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError(
    'untrusted-workspace',
    localizable("Sessions can't be shared or opened in an untrusted workspace."),
  );
}

/** Returns the session's folder if it still exists: worktrees can be removed. */
async function folderOf(session: Conversation | undefined): Promise<string | undefined> {
  const found = session && (await stat(session.cwd).catch(() => undefined));
  return found?.isDirectory() ? session?.cwd : undefined;
}
