// Opens descriptors as conversations, and hands out the descriptors of conversations.

import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { FileStore } from '../../client/sharing/fileStore';
import { openHistory } from '../../client/sharing/openedHistory';
import { type FoundState, openedEnd, openedFrom } from '../../client/sharing/provenanceNotices';
import { isStateOf, type StateExchange } from '../../client/sharing/stateExchange';
import { openDescriptor } from '../../distributed/fetch/descriptor';
import { Guard } from '../../distributed/fetch/guard';
import type { HistoryLinks } from '../../distributed/fetch/historyLinks';
import { Resolver } from '../../distributed/fetch/resolver';
import type { ResourceCache } from '../../distributed/fetch/resourceCache';
import { gapSentence } from '../../distributed/model/gap';
import type { SessionDescriptor } from '../../distributed/model/model';
import { originOf } from '../../distributed/model/resourceUrl';
import type { SessionEvent } from '../../session/events/event';
import { firstWordsOf } from '../../session/model/entryText';
import type { AgentCatalog } from '../config/agentCatalog';
import type { Conversations } from '../sessions/conversations';
import { DescriptorExports } from './descriptorExports';
import { HttpHistories } from './httpHistories';
import { MissingMessages } from './missingMessages';
import { requireTrust } from './requireTrust';
import type { ResourceAccess } from './resourceAccess';
import type { ResourceStores } from './resourceStores';
import type { Serve } from './serve';
import { SessionLeftovers } from './sessionLeftovers';
import { isHttp, noteNow, SharedSessions } from './sharedSessions';

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
  /** The id of the agent to continue with; absent: the preferred one. */
  readonly agent?: string | undefined;
  /** First event of the conversation; absent: where its messages come from. */
  readonly head?: (descriptor: SessionDescriptor) => SessionEvent;
  /** Absent: the beginning of the first message. */
  readonly title?: string | undefined;
  readonly continues?: Conversation | undefined;
  /** See {@link SessionLog.stateBy}; absent: the agent that spoke last. */
  readonly stateBy?: string | undefined;
  /** false: it is not shown, and the active session stays. */
  readonly activates?: boolean;
  readonly onDidShow?: (conversation: Conversation) => Promise<void>;
}

/** Time limit for fetching a descriptor, in milliseconds. */
const FETCH_MS = 30_000;
const MAX_TITLE = 80;

export class Descriptors implements Disposable {
  readonly #options: DescriptorsOptions;
  readonly #lifetime = new DisposableStore();
  readonly #ended = new AbortController();
  readonly #guard: Guard;
  readonly #http: HttpHistories;
  readonly #sessions: SharedSessions;
  readonly exports: DescriptorExports;
  readonly missing: MissingMessages;
  readonly leftovers: SessionLeftovers;

  constructor(options: DescriptorsOptions) {
    this.#options = options;
    const { context, conversations, serve, stores, access, cache, httpSessions, log } = options;
    const records = new FileStore(join(context.globalStorageUri.fsPath, 'session-messages'));
    const ended = this.#ended.signal;
    const guard = this.#lifetime.add(new Guard(access));
    this.#guard = guard;
    // What the user allowed for this window's guard is allowed to runs too.
    const policy = {
      isAllowed: (origin: string) => guard.consent.isAllowed(origin),
      credentials: (origin: string) => access.credentials(origin),
    };
    const http = this.#lifetime.add(new HttpHistories({ serve, stores, policy, cache, log }));
    this.#http = http;
    const readState = async (url: string, signal: AbortSignal): Promise<Uint8Array | string> => {
      const found = await (await this.#resolver()).resolveState(url, signal);
      return found.kind === 'state' ? found.bytes : gapSentence(found.reason, found.host);
    };
    const sessions = this.#lifetime.add(new SharedSessions({ conversations, stores, records, readState, log }));
    this.#sessions = sessions;
    this.exports = new DescriptorExports({ conversations, serve, stores, sessions, http, ended });
    const resolver = (): Promise<Resolver> => this.#resolver();
    this.missing = new MissingMessages({ sessions, access, guard, resolver, ended, log });
    const kept = { records, httpSessions, sessions };
    this.leftovers = this.#lifetime.add(new SessionLeftovers({ context, serve, stores, ...kept, ended, log }));
  }

  prepare(): void {
    const { stores, log } = this.#options;
    stores.all().catch((error: unknown) => log.warn(`stores: ${messageOf(error)}`));
  }

  /**
   * Reads a descriptor, its text, a link, or an address.
   * @param asks the user can be asked for a token
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
      if (!(await this.#options.access.askToken(origin, this.#ended.signal))) throw error;
      return await fetchIt();
    }
  }

  /**
   * Opens a session in a new conversation. Resolves when every message is there or is a gap.
   * @throws ParleyError `untrusted-workspace`, `no-such-agent`
   */
  async open(descriptor: SessionDescriptor, options: OpenOptions = {}): Promise<Conversation> {
    requireTrust();
    const { conversations, catalog } = this.#options;
    const agent = options.agent === undefined ? catalog.preferred() : catalog.find(options.agent);
    const knows = agent?.type === 'communication';
    const { continues } = options;
    const conversation = conversations.create({
      agent: options.agent,
      activates: options.activates,
      continues,
      opening: knows ? { kind: 'reopen', sessionId: descriptor.id, transcript: 'keep' } : undefined,
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
          const shown = options.onDidShow?.(conversation);
          this.#sessions.of(conversation).messages.begin(descriptor, shown);
          return shown;
        },
      },
      this.#ended.signal,
    );
    const title = options.title ?? firstWordsOf(conversation.model.state, MAX_TITLE);
    const isNamed = continues?.model.state.isNamed === true;
    if (title !== undefined) noteNow(conversation, { type: 'info', title, byUser: isNamed || undefined });
    const by = options.stateBy ?? speaker;
    if (descriptor.state !== undefined && by !== undefined)
      await this.#sessions.of(conversation).messages.stateIsOf(by);
    const state = await this.#stateOf(descriptor, knows || isStateOf(by, conversation.agent), resolver);
    noteNow(conversation, openedEnd(conversation.agent.name, gaps, state, knows));
    await this.#sessions.of(conversation).messages.settled();
    this.#sessions.tellRelated(conversation);
    return conversation;
  }

  /** Undefined if the conversation is closed. */
  readonly agentState = (key: string): StateExchange | undefined => this.#sessions.find(key)?.state;

  /** See {@link SessionLog.stateBy}; HTTP agents don't say. */
  stateBy(key: string): string | undefined {
    const session = this.#sessions.find(key);
    return session && !isHttp(session.conversation) ? session.messages.stateBy : undefined;
  }

  /**
   * Copies the messages of a session to the configured store.
   * @throws ParleyError of that store
   */
  async move(key: string): Promise<{ readonly moved: number; readonly unreadable: readonly number[] }> {
    requireTrust();
    return this.#sessions.of(this.#options.conversations.get(key)).messages.move(this.#ended.signal);
  }

  linksOf(key: string, sessionId: string): HistoryLinks {
    return this.#http.linksOf(key, sessionId);
  }

  /** Resolves when everything so far is written, or writing has failed. */
  async settled(): Promise<void> {
    await Promise.all([this.#sessions.settled(), this.#options.cache.settled()]);
  }

  dispose(): void {
    this.#ended.abort();
    this.#lifetime.dispose();
  }

  /** @param mayRead the agent can use the state */
  async #stateOf({ state }: SessionDescriptor, mayRead: boolean, resolver: Resolver): Promise<FoundState> {
    if (state === undefined) return 'none';
    if (!mayRead) return 'other';
    const found = await resolver.resolveState(state, this.#ended.signal);
    return found.kind === 'state' ? 'there' : 'missing';
  }

  async #resolver(): Promise<Resolver> {
    const { stores, cache, log } = this.#options;
    return new Resolver({ guard: this.#guard, cache, stores: await stores.all(), log });
  }
}
