// Writes the messages of one conversation as immutable objects to a storage server, from its first
// share on: everything until then, later a prompt as soon as it is on its way and the agent's
// output when its turn ends. Writing never holds up the chat; what fails is written later, from the
// transcript.

import * as z from 'zod/mini';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { KeyedQueue } from '../../base/keyedQueue';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import { MAX_HISTORY, mintId, type SessionDescriptor } from '../../distributed/model/model';
import type { ResourceStore } from '../../distributed/model/resources';
import { MAX_EARLIER_STATES, readRecord, type SessionRecord } from '../../distributed/model/sessionRecord';
import { MessageLog, type OpenState } from '../../distributed/stores/messageLog';
import { Changes } from '../../session/model/changes';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import type { DescriptorPort } from '../http/communicationRecord';
import { MessageCollector, NEWEST_SHARE, omission } from './messageCollector';

export interface SessionLogOptions {
  /** Ours of the conversation; messages of two conversations never share a folder. */
  readonly key: string;
  readonly model: SessionView;
  /** Who speaks now; goes into the role of the agent's messages. */
  readonly agentName: () => string;
  /** The first takes what is written from now on. */
  readonly stores: () => Promise<readonly [ResourceStore, ...ResourceStore[]]>;
  /** Keeps what is known of the session beside its descriptor. */
  readonly fileStore: DescriptorPort;
  /** Returns false where others store the messages, and nothing is written. */
  readonly isWanted: () => boolean;
  readonly log: Log;
  /** Messages of one session, {@link MAX_HISTORY} unless told otherwise. */
  readonly maxMessages?: number;
  /** Something could not be written. Told once, until writing works again. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * As it lies in the file store. `through`: id of the last entry that is written; `beyond`: messages
 * after it that are written too; `shared`: the messages were shared, or they came from elsewhere;
 * `stateBy`: the id of the agent that stored the state, or its name as a role has it.
 */
const keptSchema = z.object({
  record: z.unknown(),
  through: z.optional(z.string()),
  beyond: z.number(),
  shared: z.optional(z.boolean()),
  stateBy: z.optional(z.string()),
});

type Kept = {
  readonly record?: SessionRecord;
  readonly through?: string;
  readonly beyond?: number;
  readonly shared?: boolean;
  readonly stateBy?: string;
};

/** A page that is hidden shows nothing; what is to be stored waits no longer than this, in ms. */
const LONGEST_SHOWING_MS = 1000;

export class SessionLog implements Disposable {
  readonly #options: SessionLogOptions;
  readonly #changes = new Changes(() => this.#look());
  readonly #observing: Disposable;
  readonly #ended = new AbortController();
  readonly #didChange = new Emitter<SessionRecord>();
  readonly #collector: MessageCollector;
  #opened: Promise<MessageLog> | undefined;
  #known: MessageLog | undefined;
  #adopted: SessionDescriptor | undefined;
  #last: Entry | undefined;
  #through: string | undefined;
  #beyond = 0;
  readonly #jobs = new KeyedQueue<'write'>();
  /** A job that writes everything has not begun yet. */
  #isWriteQueued = false;
  #isTroubled = false;
  /** Undefined until the file store was read. */
  #isShared: boolean | undefined;
  /** Nothing is in the file store. */
  #isUnknown = false;
  #stateBy: string | undefined;

  constructor(options: SessionLogOptions) {
    this.#options = options;
    const { model, agentName } = options;
    this.#collector = new MessageCollector(model, agentName, this.#maxMessages);
    this.#last = options.model.state.entries.at(-1);
    this.#observing = options.model.observe(this.#changes);
  }

  /** What is known of the session; undefined before anything was written or asked. */
  get record(): SessionRecord | undefined {
    return this.#known?.record;
  }

  /** The record has grown. */
  get onDidChange(): Event<SessionRecord> {
    return this.#didChange.event;
  }

  /**
   * The conversation continues a session of elsewhere, whose messages (or gaps in their places) are
   * all that stands in the transcript.
   * @param shown when those that the user looks at are on the screen: to store the locations of
   * thousands of messages waits for that
   */
  begin(descriptor: SessionDescriptor, shown?: Promise<void>): void {
    this.#adopted = descriptor;
    this.#share();
    this.#opened = undefined;
    this.#through = this.#options.model.state.entries.at(-1)?.id;
    this.#collector.continueAfter(this.#through);
    // Also where others store the messages, the locations of the past ones are kept.
    // The jobs that store wait behind it.
    if (shown) void this.#jobs.run('write', () => within(LONGEST_SHOWING_MS, shown)).catch(() => undefined);
    if (this.#options.isWanted()) void this.#write();
    else void this.#jobs.run('write', () => this.#open()).catch((error: unknown) => this.#options.onTrouble(error));
  }

  /**
   * Writes what is complete in the transcript and gives the descriptor, with URLs that are signed
   * now. What is said from now on is written as it is said.
   * @param readers `here`: this window alone reads the links, which needs no server
   * @throws ParleyError of the stores, `not-served`, `invalid-data`
   */
  async descriptor(readers: 'others' | 'here' = 'others'): Promise<SessionDescriptor> {
    const log = await this.#settle();
    return log.descriptor({ readers });
  }

  /**
   * The URL of one entry of the history, as it is now.
   * @throws ParleyError as {@link descriptor}
   */
  async urlAt(index: number): Promise<string | undefined> {
    const log = await this.#open();
    const place = log.record.entries[index];
    return place?.kind === 'foreign' ? place.url : (await log.descriptor()).history[index];
  }

  /** Returns whether the session has a state; undefined where that has to be looked up. */
  get hasState(): boolean | undefined {
    if (this.#known) return this.#known.record.state !== undefined;
    return this.#isUnknown && this.#opened === undefined ? false : undefined;
  }

  /**
   * The id of the agent that stored the state, or its name as a role has it; undefined where that
   * is not known.
   */
  get stateBy(): string | undefined {
    return this.#stateBy;
  }

  /**
   * The state that the session has now, see {@link MessageLog.state}.
   * @throws ParleyError of the stores
   */
  async state(): Promise<OpenState | undefined> {
    await this.#wasShared();
    if (this.hasState === false) return undefined;
    return (await this.#open()).state();
  }

  /**
   * Replaces the state. That of a session that is not shared stays on this machine until it is.
   * @param previous URL of the state that this one continues; undefined: there was none
   * @param by id of the agent that stores it
   * @returns false where the session has another state by now
   * @throws ParleyError of the stores
   */
  storeState(content: Uint8Array, previous: string | undefined, by: string): Promise<boolean> {
    return this.#jobs.run('write', async () => {
      const isShared = await this.#wasShared();
      const log = await this.#open();
      const before = this.#stateBy;
      this.#stateBy = by;
      const kept = isShared ? MAX_EARLIER_STATES : 0;
      const isStored = await log.storeState(content, previous, kept, this.#ended.signal).catch((error: unknown) => {
        this.#stateBy = before;
        throw error;
      });
      if (!isStored) this.#stateBy = before;
      return isStored;
    });
  }

  /**
   * Notes whose the state is that the session came with. Never rejects: what can't be kept is known
   * until the window ends.
   */
  stateIsOf(agent: string): Promise<void> {
    return this.#jobs.run('write', async () => {
      this.#stateBy = agent;
      await this.#open()
        .then(({ record }) => this.#save(record))
        .catch((error: unknown) => this.#warn(error));
    });
  }

  /**
   * Copies own messages from the stores before to the one that is configured now.
   * @throws ParleyError of the new store
   */
  async move(signal: AbortSignal): Promise<{ readonly moved: number; readonly unreadable: readonly number[] }> {
    const log = await this.#settle();
    return log.moveAll(signal);
  }

  /** The stores are others now: what is written from now on goes there. */
  storesChanged(): void {
    this.#opened = undefined;
  }

  /**
   * When everything of a shared session that was complete so far is written, or has failed to be.
   */
  settled(): Promise<void> {
    return this.#jobs.run('write', async () => {
      await this.#known?.flush().catch((error: unknown) => this.#warn(error));
    });
  }

  dispose(): void {
    this.#ended.abort();
    this.#observing.dispose();
    this.#didChange.dispose();
  }

  /**
   * Called with every change, in the middle of it: costs a comparison, unless something has begun
   * or ended.
   */
  #look(): void {
    this.#changes.reset();
    const { entries } = this.#options.model.state;
    const last = entries.at(-1);
    if (last === this.#last) return;
    this.#last = last;
    if (last === undefined) this.#startOver();
    else if (last.kind === 'turn_end' || (last.kind === 'user' && last.promptId !== undefined)) void this.#write();
  }

  /** The transcript was emptied: what follows is another past, and another session. */
  #startOver(): void {
    if (this.#adopted || !this.#collector.hasBegun) return;
    this.#collector.reset();
    this.#through = undefined;
    this.#beyond = 0;
    this.#opened = this.#newLog({ record: { id: mintId(), entries: [] } });
  }

  get #maxMessages(): number {
    return this.#options.maxMessages ?? MAX_HISTORY;
  }

  /** From now on others may read the session: what is written goes to the configured store. */
  #share(): void {
    if (this.#isShared !== true) this.#opened = undefined;
    this.#isShared = true;
  }

  #settle(): Promise<MessageLog> {
    return this.#jobs.run('write', async () => {
      this.#share();
      const log = await this.#drain(await this.#open());
      await log.moveState(this.#ended.signal);
      await log.flush();
      return log;
    });
  }

  /** Takes what is complete and writes it, behind what is being written. Never throws. */
  #write(): Promise<void> {
    if (this.#isShared === false || !this.#options.isWanted()) return Promise.resolve();
    // A turn is taken as it ended: what the agent still says belongs to the next message.
    if (this.#known) this.#collect();
    if (this.#isWriteQueued) return this.settled();
    this.#isWriteQueued = true;
    return this.#jobs.run('write', () => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    this.#isWriteQueued = false;
    try {
      if (!(await this.#wasShared())) return;
      await this.#drain(await this.#open());
      this.#isTroubled = false;
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#warn(error);
      if (this.#isTroubled) return;
      this.#isTroubled = true;
      this.#options.onTrouble(error);
    }
  }

  async #wasShared(): Promise<boolean> {
    if (this.#isShared !== undefined) return this.#isShared;
    const isShared = await this.#read().then(
      (kept) => {
        this.#isUnknown = kept.record === undefined;
        return kept.shared === true;
      },
      () => false,
    );
    // It may have been shared meanwhile.
    this.#isShared ??= isShared;
    return this.#isShared;
  }

  #warn(error: unknown): void {
    this.#options.log.warn(`The messages of session ${this.#options.key} are not written: ${messageOf(error)}`);
  }

  /**
   * Writes all that is complete.
   * @returns the log that has it: another one where the session had become too long
   */
  async #drain(first: MessageLog): Promise<MessageLog> {
    let log = first;
    do {
      if (log.record.entries.length + this.#collector.waiting > this.#maxMessages) log = await this.#goOnShorter(log);
      await this.#writeWaiting(log);
    } while (this.#collect());
    return log;
  }

  /**
   * The newest messages of a session that is too long begin another one: a history is never cut
   * under its id.
   */
  async #goOnShorter(log: MessageLog): Promise<MessageLog> {
    const next = await this.#newLog({ record: { id: mintId(), entries: [] } });
    await next.append(omission(), this.#ended.signal);
    await next.goOnFrom(log.record.entries.slice(-this.#maxMessages * NEWEST_SHARE), log.record);
    this.#opened = Promise.resolve(next);
    return next;
  }

  async #writeWaiting(log: MessageLog): Promise<void> {
    for (let next = this.#collector.next; next !== undefined; next = this.#collector.next) {
      this.#ended.signal.throwIfAborted();
      const before = { through: this.#through, beyond: this.#beyond };
      if (next.through === undefined) this.#beyond++;
      else {
        this.#through = next.through;
        this.#beyond = 0;
      }
      try {
        await log.append(next.message, this.#ended.signal);
      } catch (error) {
        this.#through = before.through;
        this.#beyond = before.beyond;
        throw error;
      }
      this.#collector.written(next);
    }
  }

  /**
   * Makes messages of the next entries that are complete and were not taken yet.
   * @returns whether there were any
   */
  #collect(): boolean {
    return this.#collector.collect(this.#known?.record.entries.length === 0);
  }

  #open(): Promise<MessageLog> {
    if (!this.#opened) {
      const opened = this.#read().then((kept) => this.#newLog(kept));
      // The next need tries again.
      opened.catch(() => {
        if (this.#opened === opened) this.#opened = undefined;
      });
      this.#opened = opened;
    }
    return this.#opened;
  }

  async #read(): Promise<Kept> {
    if (this.#known) return { record: this.#known.record };
    const { fileStore, key, log } = this.#options;
    const text = await fileStore.read(key);
    if (text === undefined) return {};
    try {
      const { record, through, beyond, shared, stateBy } = z.parse(keptSchema, JSON.parse(text));
      return {
        record: readRecord(record),
        beyond,
        shared: shared === true,
        through,
        stateBy,
      };
    } catch (error) {
      // Its messages are found again, or written again, under another id: links that were given
      // away keep working.
      log.warn(`What was known of the messages of session ${key} is damaged: ${messageOf(error)}`);
      return {};
    }
  }

  async #newLog(kept: Kept): Promise<MessageLog> {
    const { stores, key } = this.#options;
    const { record } = kept;
    const sessionId = record?.id ?? this.#adopted?.id ?? mintId();
    const isFirst = this.#known === undefined && record !== undefined;
    if (isFirst) {
      this.#collector.continueAfter(kept.through);
      this.#through = kept.through;
      this.#beyond = kept.beyond ?? 0;
      this.#stateBy ??= kept.stateBy;
    }
    let isOpen = false;
    const log = await MessageLog.open(
      {
        sessionId,
        branch: key,
        stores: this.#isShared === true ? await stores() : onlyLocal(await stores()),
        record,
        save: (next) => {
          // What reached the store and not the file store was written by this conversation, right
          // after what is in the file store.
          if (isFirst && !isOpen) this.#beyond = (kept.beyond ?? 0) + next.entries.length - record.entries.length;
          return this.#save(next);
        },
      },
      this.#ended.signal,
    );
    isOpen = true;
    if (isFirst) this.#collector.skip(this.#beyond);
    if (!record && this.#adopted) await log.adopt(this.#adopted);
    this.#known = log;
    this.#didChange.fire(log.record);
    log.onDidChange((next) => this.#didChange.fire(next));
    return log;
  }

  async #save(record: SessionRecord): Promise<void> {
    const { fileStore, key } = this.#options;
    const kept: Kept = {
      record,
      beyond: this.#beyond,
      shared: this.#isShared === true,
      through: this.#through,
      stateBy: this.#stateBy,
    };
    try {
      await fileStore.write(key, JSON.stringify(kept));
    } catch (error) {
      throw new ParleyError('store-error', localizable("Couldn't save the session's record."), { cause: error });
    }
  }
}

/** What was not shared stays on this machine. */
function onlyLocal<T extends readonly [ResourceStore, ...ResourceStore[]]>(stores: T): T | [ResourceStore] {
  const local = stores.find(({ isLocal }) => isLocal);
  return local ? [local] : stores;
}
