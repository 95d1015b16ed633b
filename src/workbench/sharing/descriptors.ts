// Sessions that come and go as descriptors: the messages of those that are shared are kept as objects, handed out as links, and those of others are opened from them.
import { join } from 'node:path';
import { type ExtensionContext, l10n, window, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { head } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import type { CommunicationChat } from '../../client/http/communicationChat';
import { Branches, relate } from '../../client/sharing/branches';
import { ChatState, isStateOf } from '../../client/sharing/chatState';
import { FileStore } from '../../client/sharing/fileStore';
import { abandonedGaps, openHistory, placeOf, readLivePart, retryGap } from '../../client/sharing/openedHistory';
import {
  type FoundState,
  openedEnd,
  openedFrom,
  otherBranch,
  sameSession,
} from '../../client/sharing/provenanceNotices';
import { copiesOf, removeCopies } from '../../client/sharing/sessionCopies';
import { SessionLog } from '../../client/sharing/sessionLog';
import { neverShared, removeRemains } from '../../client/sharing/sessionRemains';
import { StateExchange } from '../../client/sharing/stateExchange';
import { openDescriptor } from '../../distributed/fetch/descriptor';
import { Guard } from '../../distributed/fetch/guard';
import type { HistoryLinks } from '../../distributed/fetch/historyLinks';
import { Resolver } from '../../distributed/fetch/resolver';
import type { ResourceCache } from '../../distributed/fetch/resourceCache';
import type { SessionDescriptor } from '../../distributed/model/model';
import { originOf } from '../../distributed/model/resourceUrl';
import type { Place } from '../../distributed/model/sessionRecord';
import type { SessionEvent } from '../../session/events/event';
import type { Entry } from '../../session/model/state';
import type { AgentCatalog } from '../config/agentCatalog';
import type { Conversations } from '../sessions/conversations';
import type { SessionCopies } from '../sessions/keptSessions';
import { showProgress, showWarning } from '../ui/messages';
import { HttpHistories, sampleUrl } from './httpHistories';
import type { ResourceAccess } from './resourceAccess';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';

export interface DescriptorsOptions {
  readonly context: ExtensionContext;
  readonly catalog: AgentCatalog;
  readonly conversations: Conversations;
  readonly serve: Serve;
  readonly stores: ResourceStores;
  readonly access: ResourceAccess;
  readonly cache: ResourceCache;
  /** Descriptors of sessions with HTTP agents. */
  readonly httpSessions: FileStore;
  readonly log: Log;
}

export interface ExportOptions {
  /** Links are given although messages behind them are not on the resource server yet. */
  readonly unsent?: boolean;
}

export interface OpenOptions {
  /** The id of the agent to go on with; absent: the preferred one. */
  readonly agent?: string | undefined;
  /** What the conversation begins with; absent: where its messages come from. */
  readonly head?: (descriptor: SessionDescriptor) => SessionEvent;
  /** What the session is called until its agent says otherwise; absent: as its first message begins. */
  readonly title?: string | undefined;
  /** The agent that stored the session's state, see {@link SessionLog.stateBy}; absent: the one that spoke last. */
  readonly stateBy?: string | undefined;
  /** The newest messages can be seen. */
  readonly onDidShow?: (conversation: Conversation) => Promise<void>;
}

/** A descriptor that is fetched may take this long, in milliseconds. */
const FETCH_MS = 30_000;
/** Bytes of a text that is opened in the editor. */
const MAX_PART_BYTES = 5 * 1024 * 1024;
const MAX_TITLE = 80;
/** Deleted sessions whose messages others still refer to. */
const LEFT = 'parley.resources.left';
const MAX_LEFT = 1000;
/** Since when messages are written only for sessions that are shared, in ms since 1970; 0: what was written before is gone. */
const COPIES_SINCE = 'parley.resources.copiesSince';
/** Links to what was written before have ended by then: none lasts longer than a week. */
const COPIES_LAST_MS = 8 * 24 * 60 * 60 * 1000;
const TIDY_AFTER_MS = 2 * 60_000;

/** A conversation with its messages, as one of several that may go on with the same session. */
interface Logged {
  readonly key: string;
  readonly conversation: Conversation;
  readonly messages: SessionLog;
  readonly state: StateExchange;
  readonly record: SessionLog['record'];
  readonly onDidChange: SessionLog['onDidChange'];
}

export class Descriptors implements Disposable {
  readonly #options: DescriptorsOptions;
  readonly #lifetime = new DisposableStore();
  /** Sessions that were closed while their last messages are written. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #logged = new Map<string, Logged>();
  readonly #fileStore: FileStore;
  readonly #access: ResourceAccess;
  readonly #guard: Guard;
  readonly #cache: ResourceCache;
  readonly #http: HttpHistories;
  readonly #ended = new AbortController();
  readonly #branches = new Branches<Logged>(({ one, other, common }) => {
    this.#note(one.conversation, otherBranch(other.conversation.agent.name, other.key, common));
    this.#note(other.conversation, otherBranch(one.conversation.agent.name, one.key, common));
  });

  constructor(options: DescriptorsOptions) {
    this.#options = options;
    const { context, conversations, stores, access, cache } = options;
    const folder = context.globalStorageUri.fsPath;
    this.#fileStore = new FileStore(join(folder, 'session-messages'));
    this.#cache = cache;
    this.#access = access;
    this.#guard = new Guard(this.#access);
    this.#lifetime.add(this.#guard);
    // What the user allowed for this window's guard is allowed to runs too.
    const policy = {
      isAllowed: (origin: string) => this.#guard.consent.isAllowed(origin),
      credentials: (origin: string) => access.credentials(origin),
    };
    const { serve, log } = options;
    this.#http = this.#lifetime.add(new HttpHistories({ serve, stores, policy, cache, log }));
    const tidying = setTimeout(() => void this.#removeOldCopies(), TIDY_AFTER_MS);
    tidying.unref();
    this.#lifetime.add({ dispose: () => clearTimeout(tidying) });
    this.#lifetime.add(conversations.onDidAdd((conversation) => this.#add(conversation)));
    this.#lifetime.add(conversations.onDidRemove((conversation) => this.#remove(conversation)));
    this.#lifetime.add(
      stores.onDidChange(() => {
        for (const { messages } of this.#logged.values()) messages.storesChanged();
      }),
    );
  }

  /**
   * The descriptor of a conversation's session, with links that others can read until they end.
   * @param options `unsent`: links are given although messages behind them are not on the resource server yet
   * @throws ParleyError `no-such-session`, `no-session`, `untrusted-workspace`, `links-unreadable`, `cancelled`; of the stores
   */
  async exportDescriptor(key: string, { unsent = false }: ExportOptions = {}): Promise<SessionDescriptor> {
    const { serve, stores } = this.#options;
    await this.#seeEnd(key);
    const http = (chat: CommunicationChat) => this.#http.handOut(key, chat, this.#ended.signal);
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
   * The descriptor for another conversation of this window: nothing is served or sent for it, since this window reads
   * the links, and what others cannot follow goes to an HTTP agent with the next run.
   * @throws ParleyError as {@link exportDescriptor}
   */
  async descriptorForHere(key: string): Promise<SessionDescriptor> {
    await this.#seeEnd(key);
    const http = (chat: CommunicationChat) => this.#http.forHere(key, chat, this.#ended.signal);
    return this.#export(key, http, undefined);
  }

  /**
   * The descriptor as {@link exportDescriptor} would give it, to be looked at before the user agrees: nothing is served
   * for it, and links to messages of this machine that are not served are as long as they will be, and lead nowhere.
   * @throws ParleyError as {@link exportDescriptor}
   */
  async preview(key: string): Promise<SessionDescriptor> {
    const http = (chat: CommunicationChat) => this.#http.preview(chat);
    return this.#export(key, http, async ({ record }) => {
      const { serve } = this.#options;
      const { id: storeId } = await serve.localStore();
      const { id = '', entries = [], state } = record ?? {};
      const urlOf = (place: Place): string =>
        place.kind === 'foreign' ? place.url : sampleUrl(place.storeId === storeId ? serve.linkBase : undefined);
      return { id, history: entries.map(urlOf), ...(state && { state: urlOf(state) }) };
    });
  }

  /** Starts a conversation whose window ended in the middle of a run, so that its server can say what came of it. */
  async #seeEnd(key: string): Promise<void> {
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation) && (await conversation.communication.missedEnd())) await conversation.start();
  }

  /**
   * @param http gives that of a session with an HTTP agent
   * @param unserved makes the descriptor where its messages lie on this machine and no server runs; absent: only this window reads it
   */
  async #export(
    key: string,
    http: (chat: CommunicationChat) => Promise<SessionDescriptor | undefined>,
    unserved: ((logged: Logged) => Promise<SessionDescriptor>) | undefined,
  ): Promise<SessionDescriptor> {
    requireTrust();
    const conversation = this.#options.conversations.get(key);
    if (isHttp(conversation)) {
      const descriptor = await http(conversation.communication);
      if (descriptor) return descriptor;
      throw new ParleyError('no-session', `${conversation.agent.name} has no session yet.`);
    }
    const logged = this.#get(conversation);
    if (!unserved) return logged.messages.descriptor('here');
    try {
      return await logged.messages.descriptor();
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'not-served') throw error;
    }
    return unserved(logged);
  }

  /**
   * What an input stands for: a descriptor, its text, a link, or an address to fetch it from.
   * @param asks the user is there to be asked for the token of a server that wants one
   * @throws ParleyError as `openDescriptor` does; `untrusted-workspace`
   */
  async read(input: unknown, asks = false): Promise<SessionDescriptor> {
    requireTrust();
    const fetchIt = (): Promise<SessionDescriptor> =>
      openDescriptor(input, this.#guard, AbortSignal.any([this.#ended.signal, AbortSignal.timeout(FETCH_MS)]));
    try {
      return await fetchIt();
    } catch (error) {
      const origin = typeof input === 'string' ? originOf(input.trim()) : undefined;
      const isLocked = error instanceof ParleyError && error.code === 'session-locked';
      if (!asks || !isLocked || origin === undefined) throw error;
      if (!(await this.#access.askToken(origin, this.#ended.signal))) throw error;
      return await fetchIt();
    }
  }

  /**
   * Opens a session of elsewhere in a new conversation. Resolves when every message is there or is a gap.
   * @throws ParleyError `untrusted-workspace`, `no-such-agent`
   */
  async open(descriptor: SessionDescriptor, options: OpenOptions = {}): Promise<Conversation> {
    requireTrust();
    const { conversations, catalog } = this.#options;
    const agent = options.agent === undefined ? catalog.preferred() : catalog.find(options.agent);
    const knows = agent?.type === 'communication';
    const conversation = conversations.create({
      agent: options.agent,
      ...(knows && { opening: { kind: 'reopen', sessionId: descriptor.id, transcript: 'keep' } }),
    });
    if (knows) conversation.communication.adopt(descriptor);
    const resolver = await this.#resolver();
    const { gaps, speaker } = await openHistory(
      descriptor,
      {
        place: conversation,
        resolver,
        now: Date.now,
        head: [(options.head ?? openedFrom)(descriptor)],
        onDidShow: () => {
          this.#get(conversation).messages.begin(descriptor);
          return options.onDidShow?.(conversation);
        },
      },
      this.#ended.signal,
    );
    const title = options.title ?? firstWords(conversation.model.state.entries);
    if (title !== undefined) this.#note(conversation, { type: 'info', title });
    const by = options.stateBy ?? speaker;
    if (descriptor.state !== undefined && by !== undefined) await this.#get(conversation).messages.stateIsOf(by);
    const state = await this.#stateOf(descriptor, knows || isStateOf(by, conversation.agent), resolver);
    this.#note(conversation, openedEnd(conversation.agent.name, gaps, state, knows));
    await this.#get(conversation).messages.settled();
    this.#tellRelated(conversation);
    return conversation;
  }

  /** Keeps the state of a conversation's session for its agent; undefined where the conversation is closed. */
  readonly agentState = (key: string): StateExchange | undefined => this.#logged.get(key)?.state;

  /** The agent that stored the state of a conversation's session, see {@link SessionLog.stateBy}. HTTP agents don't say. */
  stateBy(key: string): string | undefined {
    const logged = this.#logged.get(key);
    return logged && !isHttp(logged.conversation) ? logged.messages.stateBy : undefined;
  }

  /** Asks again for a message that is missing. What goes wrong is said at the gap. */
  readonly retry = async (conversation: Conversation, gapId: string): Promise<void> => {
    requireTrust();
    const url = await this.#urlAt(conversation, gapId);
    if (url === undefined) throw new ParleyError('no-such-gap', 'It is not known where this message is.');
    const { consent } = this.#guard;
    const origin = new URL(url).origin;
    const wasAllowed = consent.isAllowed(origin);
    consent.forgetRefusals();
    const resolver = await this.#resolver();
    let unlocked: string | undefined;
    const unlock = async (locked: string, signal: AbortSignal): Promise<boolean> => {
      const isGiven = await this.#access.askToken(new URL(locked).origin, signal);
      if (isGiven) unlocked = locked;
      return isGiven;
    };
    const place = { place: conversation, resolver, now: Date.now };
    const isThere = await retryGap(gapId, url, { ...place, unlock }, this.#ended.signal);
    const isOpened = !wasAllowed && consent.isAllowed(origin);
    if (!isOpened && !(isThere && unlocked === url)) return;
    // The answer, or the token, is for all messages of that server.
    for (const entry of [...conversation.model.state.entries]) {
      if (entry.kind !== 'gap' || entry.state !== 'retryable') continue;
      if (entry.remote || placeOf(entry.gapId)?.part !== undefined) continue;
      const other = await this.#urlAt(conversation, entry.gapId);
      if (other !== undefined && originOf(other) === origin)
        await retryGap(entry.gapId, other, place, this.#ended.signal);
    }
  };

  /** Reads the content behind a gap of an answer that is being given into its place, where it is a short text. @param key of the conversation */
  async readPart(key: string, gapId: string): Promise<void> {
    const conversation = this.#logged.get(key)?.conversation;
    if (!workspace.isTrusted || !conversation) return;
    const note: Conversation['note'] = (events) => {
      if (this.#logged.get(key)?.conversation === conversation) conversation.note(events);
    };
    try {
      const options = { place: { model: conversation.model, note }, resolver: await this.#resolver(), now: Date.now };
      await readLivePart(gapId, options, this.#ended.signal);
    } catch (error) {
      this.#options.log.warn(`A part of an answer was not read: ${messageOf(error)}`);
    }
  }

  /**
   * Shows a text that lies with a server which knows the user by a token: a browser would not have it.
   * @returns false where it is no such address, or no text @throws ParleyError `location-not-found` where it cannot be fetched
   */
  readonly openPart = async (url: string): Promise<boolean> => {
    const origin = originOf(url);
    if (!workspace.isTrusted || origin === undefined) return false;
    if ((await this.#access.credentials(origin)) === undefined) return false;
    const resolver = await this.#resolver();
    const part = { content_type: 'text/plain', content_encoding: 'plain', content_url: url } as const;
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(FETCH_MS)]);
    const found = await resolver.resolvePart(part, { maxBytes: MAX_PART_BYTES, asks: true }, signal);
    if (found.kind !== 'content') throw new ParleyError('location-not-found', found.sentence);
    const content = Buffer.from(found.bytes).toString('utf8');
    if (content.includes('\0')) return false;
    await window.showTextDocument(await workspace.openTextDocument({ content }), { preview: true });
    return true;
  };

  /** Copies the messages of a session to the store that is configured now. @throws ParleyError of that store */
  async move(key: string): Promise<{ readonly moved: number; readonly unreadable: readonly number[] }> {
    requireTrust();
    return this.#get(this.#options.conversations.get(key)).messages.move(this.#ended.signal);
  }

  /** Follows the links of a session with an HTTP agent. @param key of the conversation @param sessionId as its descriptor has it */
  linksOf(key: string, sessionId: string): HistoryLinks {
    return this.#http.linksOf(key, sessionId);
  }

  /** Removes what was kept of deleted sessions and no other one refers to. Never rejects. @param keys of the conversations */
  async forget(keys: readonly string[]): Promise<void> {
    const { log, serve, context } = this.#options;
    const before = context.globalState.get<readonly string[]>(LEFT, []);
    try {
      // What open sessions refer to is in the file store then.
      await this.settled();
      const fileStores = [this.#fileStore, this.#options.httpSessions];
      const remains = { fileStores, store: await serve.localStore(), log };
      const all = [...new Set([...before, ...keys])];
      const { removed, left } = await removeRemains(all, remains, this.#ended.signal);
      await context.globalState.update(LEFT, left.slice(-MAX_LEFT));
      if (removed > 0) log.info(`${removed} messages of deleted sessions were removed`);
    } catch (error) {
      log.warn(`What is left of deleted sessions stays: ${messageOf(error)}`);
    }
  }

  /** Copies of messages in the bucket; they go only where the user says so. */
  readonly copies: SessionCopies = {
    of: async (key) => {
      const { stores, httpSessions, log } = this.#options;
      try {
        return await copiesOf(key, { messages: this.#fileStore, http: httpSessions, stores: await stores.all() });
      } catch (error) {
        log.warn(`It is not known which copies there are of session ${key}: ${messageOf(error)}`);
        return [];
      }
    },
    remove: async (key, copies) => {
      const { httpSessions, log } = this.#options;
      // What is kept of the session itself must not keep its copies.
      await this.forget([key]);
      const left = await removeCopies(copies, { fileStores: [this.#fileStore, httpSessions], log }, this.#ended.signal);
      if (left > 0) void showWarning(`Parley: ${l10n.t('{0} copies could not be deleted from your bucket.', left)}`);
    },
  };

  /** Once, a while after the update: removes what was written of sessions that nobody ever shared. The journal has them. */
  async #removeOldCopies(): Promise<void> {
    const { context, serve, log } = this.#options;
    const since = context.globalState.get<number>(COPIES_SINCE);
    if (since === undefined) await context.globalState.update(COPIES_SINCE, Date.now());
    if (!since || Date.now() - since < COPIES_LAST_MS) return;
    try {
      const { id } = await serve.localStore();
      await this.forget((await neverShared(this.#fileStore, id)).filter((key) => !this.#logged.get(key)?.record));
      await context.globalState.update(COPIES_SINCE, 0);
    } catch (error) {
      log.warn(`Messages of sessions that were never shared stay: ${messageOf(error)}`);
    }
  }

  /** When everything that was said and loaded so far is written, or has failed to be. */
  async settled(): Promise<void> {
    const written = [...this.#logged.values()].map(settledOf);
    await Promise.all([...written, ...this.#leaving, this.#cache.settled()]);
  }

  dispose(): void {
    this.#ended.abort();
    this.#lifetime.dispose();
    for (const { messages } of this.#logged.values()) messages.dispose();
    this.#logged.clear();
  }

  #add(conversation: Conversation): void {
    const { key, model } = conversation;
    const { stores, log } = this.#options;
    const known = this.#logged.get(key);
    if (known) this.#remove(known.conversation);
    const messages = new SessionLog({
      key,
      model,
      agentName: () => conversation.agent.name,
      stores: () => stores.all(),
      fileStore: this.#fileStore,
      isWanted: () => !isHttp(conversation),
      log,
      onTrouble: (error) => {
        const text = l10n.t('What is said is not kept as messages to share: {0}', messageOf(error));
        void showWarning(`Parley: ${text}`);
      },
    });
    const keeper = new ChatState({
      messages,
      agent: () => conversation.agent,
      fetch: async (url, signal) => {
        const found = await (await this.#resolver()).resolveState(url, AbortSignal.any([signal, this.#ended.signal]));
        return found.kind === 'state' ? found.bytes : found.sentence;
      },
    });
    const logged: Logged = {
      key,
      conversation,
      messages,
      state: new StateExchange(log, keeper),
      get record() {
        return messages.record;
      },
      onDidChange: messages.onDidChange,
    };
    this.#logged.set(key, logged);
    this.#branches.add(logged);
    const stop = (): void => conversation.note(abandonedGaps(model.state).map((event) => ({ at: Date.now(), event })));
    void conversation.whole?.then(() => this.#logged.get(key) === logged && stop());
    stop();
  }

  #remove({ key }: Conversation): void {
    const logged = this.#logged.get(key);
    if (!logged) return;
    this.#logged.delete(key);
    this.#branches.remove(logged);
    const leaving = settledOf(logged).then(() => {
      logged.messages.dispose();
      this.#leaving.delete(leaving);
    });
    this.#leaving.add(leaving);
  }

  #get(conversation: Conversation): Logged {
    const logged = this.#logged.get(conversation.key);
    if (logged) return logged;
    throw new ParleyError('no-such-session', 'The session was closed.');
  }

  /** @param mayRead the agent can use the state: for others nobody looks whether it can be had */
  async #stateOf({ state }: SessionDescriptor, mayRead: boolean, resolver: Resolver): Promise<FoundState> {
    if (state === undefined) return 'none';
    if (!mayRead) return 'other';
    const found = await resolver.resolveState(state, this.#ended.signal);
    return found.kind === 'state' ? 'there' : 'missing';
  }

  /** Another conversation that has the same session with more or fewer messages; those that differ say so themselves. */
  #tellRelated(conversation: Conversation): void {
    const opened = this.#get(conversation);
    for (const other of this.#logged.values()) {
      if (other === opened) continue;
      const relation = relate(opened.record, other.record);
      if (relation?.relation !== 'extends' && relation?.relation !== 'extendedBy') continue;
      const more = (other.record?.entries.length ?? 0) - (opened.record?.entries.length ?? 0);
      this.#note(conversation, sameSession(other.conversation.agent.name, other.key, more));
    }
  }

  async #urlAt(conversation: Conversation, gapId: string): Promise<string | undefined> {
    const gap = conversation.model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId);
    if (gap?.kind === 'gap' && gap.remote) return gap.remote.url;
    const where = placeOf(gapId);
    return where && (await this.#get(conversation).messages.urlAt(where.index));
  }

  async #resolver(): Promise<Resolver> {
    const stores = await this.#options.stores.all();
    return new Resolver({ guard: this.#guard, cache: this.#cache, stores, log: this.#options.log });
  }

  #note(conversation: Conversation, event: SessionEvent): void {
    conversation.note([{ at: Date.now(), event }]);
  }
}

function isHttp({ agent }: Conversation): boolean {
  return agent.type === 'communication';
}

/** When what the agent has stored and what was said is written. */
async function settledOf({ state, messages }: Logged): Promise<void> {
  await state.settled();
  await messages.settled();
}

/** How a conversation without a title is told from others. */
function firstWords(entries: readonly Entry[]): string | undefined {
  const first = entries.find((entry) => entry.kind === 'user');
  const block = first?.kind === 'user' ? first.content.find(({ type }) => type === 'text') : undefined;
  const line = block?.type === 'text' ? block.text.trim().split('\n', 1)[0] : undefined;
  return line ? head(line, MAX_TITLE) : undefined;
}

/** @throws ParleyError `untrusted-workspace` */
function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError(
    'untrusted-workspace',
    'Sessions are neither shared nor opened in a workspace you have not trusted.',
  );
}
