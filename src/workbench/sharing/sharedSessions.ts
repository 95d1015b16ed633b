// What open sessions need for sharing: messages, agent state, and related sessions.

import { l10n } from 'vscode';
import { Part } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { Branches, relate } from '../../client/sharing/branches';
import type { FileStore } from '../../client/sharing/fileStore';
import { abandonedGaps } from '../../client/sharing/historyEvents';
import { otherBranch, sameSession } from '../../client/sharing/provenanceNotices';
import { SessionLog, type SessionLogOptions } from '../../client/sharing/sessionLog';
import { unsentSessions } from '../../client/sharing/sessionRemains';
import { ChatState, StateExchange } from '../../client/sharing/stateExchange';
import type { SessionEvent } from '../../session/events/event';
import { SessionModel } from '../../session/model/model';
import type { Conversations } from '../sessions/conversations';
import { showWarning } from '../ui/messages';
import type { ResourceStores } from './resourceStores';

interface SharedSessionsOptions {
  readonly conversations: Conversations;
  readonly stores: ResourceStores;
  readonly records: FileStore;
  /** @returns the bytes, or a message why they are missing */
  readonly readState: (url: string, signal: AbortSignal) => Promise<Uint8Array | string>;
  readonly log: Log;
}

export interface SharedSession {
  readonly key: string;
  readonly conversation: Conversation;
  readonly messages: SessionLog;
  readonly state: StateExchange;
  readonly record: SessionLog['record'];
  readonly onDidChange: SessionLog['onDidChange'];
}

const RESUME_MS = 5000;

export class SharedSessions extends Part<SharedSessionsOptions> {
  readonly #ended = new AbortController();
  readonly #resuming: NodeJS.Timeout;
  readonly #shared = new Map<string, SharedSession>();
  readonly #closing = new Set<Promise<void>>();
  readonly #branches = new Branches<SharedSession>(({ one, other, common }) => {
    recordNow(one.conversation, otherBranch(other.conversation.agent.name, other.key, common));
    recordNow(other.conversation, otherBranch(one.conversation.agent.name, one.key, common));
  });

  constructor(options: SharedSessionsOptions) {
    super(options);
    const { conversations, stores } = options;
    this.#resuming = setTimeout(() => void this.#resume(), RESUME_MS);
    this.#resuming.unref();
    this.own(conversations.onDidAdd((conversation) => this.#add(conversation)));
    this.own(conversations.onDidRemove((conversation) => this.#remove(conversation)));
    this.own(
      stores.onDidChange(() => {
        for (const { messages } of this.#shared.values()) messages.storesChanged();
      }),
    );
  }

  find(key: string): SharedSession | undefined {
    return this.#shared.get(key);
  }

  of(conversation: Conversation): SharedSession {
    const shared = this.#shared.get(conversation.key);
    if (shared) return shared;
    throw new ParleyError('no-such-session', localizable('The session was closed.'));
  }

  /** Notifies open sessions that hold more or fewer messages of the same session. */
  tellRelated(conversation: Conversation): void {
    const opened = this.of(conversation);
    for (const other of this.#shared.values()) {
      if (other === opened) continue;
      const relation = relate(opened.record, other.record);
      if (relation?.relation !== 'extends' && relation?.relation !== 'extendedBy') continue;
      const more = (other.record?.entries.length ?? 0) - (opened.record?.entries.length ?? 0);
      recordNow(conversation, sameSession(other.conversation.agent.name, other.key, more));
    }
  }

  async settled(): Promise<void> {
    await Promise.all([...[...this.#shared.values()].map(untilSettled), ...this.#closing]);
  }

  override dispose(): void {
    clearTimeout(this.#resuming);
    this.#ended.abort();
    super.dispose();
    for (const { messages } of this.#shared.values()) messages.dispose();
    this.#shared.clear();
  }

  #add(conversation: Conversation): void {
    const { key, model } = conversation;
    const { readState, log } = this.options;
    const known = this.#shared.get(key);
    if (known) this.#remove(known.conversation);
    const messages = new SessionLog({
      ...this.#logOptions(key),
      model,
      agentName: () => conversation.agent.name,
      isWanted: () => !isHttp(conversation),
      onTrouble: (error) => {
        const text = l10n.t("Couldn't save messages for sharing: {0}", messageOf(error));
        void showWarning(`Parley: ${text}`);
      },
    });
    const keeper = new ChatState({
      messages,
      agent: () => conversation.agent,
      fetch: (url, signal) => readState(url, AbortSignal.any([signal, this.#ended.signal])),
    });
    const shared: SharedSession = {
      key,
      conversation,
      messages,
      state: new StateExchange(log, keeper),
      get record() {
        return messages.record;
      },
      onDidChange: messages.onDidChange,
    };
    this.#shared.set(key, shared);
    this.#branches.add(shared);
    const stop = (): void => conversation.note(abandonedGaps(model.state).map((event) => ({ at: Date.now(), event })));
    void conversation.whole?.then(() => this.#shared.get(key) === shared && stop());
    stop();
  }

  #logOptions(key: string): Pick<SessionLogOptions, 'key' | 'stores' | 'fileStore' | 'log' | 'onDidWait'> {
    const { stores, records, log } = this.options;
    return {
      key,
      stores: () => stores.all(),
      fileStore: records,
      log,
      onDidWait: (waiting, problem) => stores.uploads.set(key, waiting, (signal) => this.#upload(key, signal), problem),
    };
  }

  /** Uploads what earlier windows left pending. Open logs have reported theirs. */
  async #resume(): Promise<void> {
    const { records, stores, log } = this.options;
    try {
      for await (const { key, waiting } of unsentSessions(records))
        if (!this.#shared.get(key)?.record) stores.uploads.set(key, waiting, (signal) => this.#upload(key, signal));
    } catch (error) {
      log.warn(`What waits for the storage server is not uploaded: ${messageOf(error)}`);
    }
  }

  async #upload(key: string, signal: AbortSignal): Promise<void> {
    // Another window that has the session uploads it.
    if (this.#ended.signal.aborted || this.options.conversations.isHeld(key)) return;
    const open = this.#shared.get(key);
    if (open) return open.messages.upload(signal);
    const closed = new SessionLog({
      ...this.#logOptions(key),
      model: new SessionModel(),
      agentName: () => '',
      isWanted: () => false,
      onTrouble: () => {},
    });
    const uploading = closed.upload(signal).finally(() => closed.dispose());
    const closing = uploading.catch(() => {}).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    await uploading;
  }

  #remove({ key }: Conversation): void {
    const shared = this.#shared.get(key);
    if (!shared) return;
    this.#shared.delete(key);
    this.#branches.remove(shared);
    const closing = untilSettled(shared).then(() => {
      shared.messages.dispose();
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }
}

export function isHttp({ agent }: Conversation): boolean {
  return agent.type === 'communication';
}

async function untilSettled({ state, messages }: SharedSession): Promise<void> {
  await state.settled();
  await messages.settled();
}

export function recordNow(conversation: Conversation, event: SessionEvent): void {
  conversation.note([{ at: Date.now(), event }]);
}
