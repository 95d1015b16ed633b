// Writes the messages of one conversation as immutable objects to a storage server, from its first
// share on: everything so far, then each prompt as it is sent and the agent's output when its turn
// ends. Never delays the chat. Messages that the server doesn't accept stay on this machine, are
// marked in the record, and are uploaded from there.

import * as z from 'zod/mini';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter } from '../../base/event';
import { KeyedQueue } from '../../base/keyedQueue';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { within } from '../../base/within';
import { Changes } from '../../session/model/changes';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import type { DescriptorPort } from '../http/communicationRecord';
import { MAX_HISTORY, MAX_MESSAGE_BYTES, type Message, mintId, type SessionDescriptor } from '../ports/messages';
import {
  DEFAULT_URL_SECONDS,
  folderOf,
  hashOf,
  isOfObject,
  MAX_EARLIER_STATES,
  type OwnPlace,
  type Place,
  type ResourceStore,
  readRecord,
  type SessionRecord,
  sha256Of,
  urlIdentity,
} from '../ports/resources';
import { MessageCollector, NEWEST_SHARE, omission } from './messageCollector';
import { UnreadableLinks } from './uploads';

export type Stores = readonly [ResourceStore, ...ResourceStore[]];

export interface SessionLogOptions {
  /** Messages of two conversations never share a folder. */
  readonly key: string;
  readonly model: SessionView;
  readonly agentName: () => string;
  readonly stores: () => Promise<Stores>;
  readonly fileStore: Pick<DescriptorPort, 'read' | 'write'>;
  readonly isWanted: () => boolean;
  readonly log: Log;
  readonly maxMessages?: number;
  readonly onTrouble: (error: unknown) => void;
  readonly onDidWait?: (waiting: number, problem: ParleyError | undefined) => void;
}

export interface OpenState {
  readonly url: string;
  /** Absent if the state is on another server. @throws ParleyError of the store, `invalid-data` */
  readonly read?: (signal: AbortSignal) => Promise<Uint8Array>;
}

/** `later`: others, once the server is back and has everything; `here`: only this window. */
export type Readers = 'others' | 'later' | 'here';

/** `unreadable`: indices in the history, -1 for the state. */
export interface Moved {
  readonly moved: number;
  readonly unreadable: readonly number[];
}

/**
 * `through`: last entry that is written; `beyond`: number of messages written after it; `shared`:
 * the messages were shared or came from elsewhere; `stateBy`: id or role name of the agent that
 * stored the state.
 */
const storedSchema = z.object({
  record: z.unknown(),
  through: z.optional(z.string()),
  beyond: z.number(),
  shared: z.optional(z.boolean()),
  stateBy: z.optional(z.string()),
});

interface StoredLog extends Omit<Partial<z.infer<typeof storedSchema>>, 'record'> {
  readonly record?: SessionRecord;
}

/** How long writing a session's past waits until it is shown; a hidden page shows nothing. */
const LONGEST_SHOWING_MS = 1000;
/** How long a new message waits for the storage server before it is stored here. */
const PATIENCE_MS = 3000;
const JSON_TYPE = 'application/json';
const STATE_TYPE = 'application/octet-stream';
const MESSAGE_KEY = /\/\d{8}-[0-9a-f-]{36}\.json$/;

export class SessionLog implements Disposable {
  readonly #options: SessionLogOptions;
  readonly #changes = Changes.unrecorded(() => this.#onModelChange());
  readonly #observing: Disposable;
  readonly #ended = new AbortController();
  readonly #didChange = new Emitter<SessionRecord>();
  readonly onDidChange = this.#didChange.event;
  readonly #collector: MessageCollector;
  readonly #jobs = new KeyedQueue<'write'>();
  #opened: Promise<void> | undefined;
  #stores: Stores | undefined;
  #record: SessionRecord | undefined;
  #unsaved = 0;
  #unrecordedPlace: OwnPlace | undefined;
  #adopted: SessionDescriptor | undefined;
  #lastEntry: Entry | undefined;
  #through: string | undefined;
  #beyond = 0;
  #isWriteQueued = false;
  #isTroubled = false;
  #isShared: boolean | undefined;
  #isUnknown = false;
  #stateBy: string | undefined;
  #reportedWaiting = 0;
  #problem: ParleyError | undefined;

  constructor(options: SessionLogOptions) {
    this.#options = options;
    const { model, agentName } = options;
    this.#collector = new MessageCollector(model, agentName, this.#maxMessages);
    this.#lastEntry = model.state.entries.at(-1);
    this.#observing = model.observe(this.#changes);
  }

  /** Undefined before anything was written or requested. */
  get record(): SessionRecord | undefined {
    return this.#record;
  }

  /**
   * Continues a session from elsewhere, whose messages are the whole transcript.
   * @param whenPainted storing thousands of locations waits until the newest are painted
   */
  begin(descriptor: SessionDescriptor, whenPainted?: Promise<void>): void {
    this.#adopted = descriptor;
    this.#share();
    this.#opened = undefined;
    this.#through = this.#options.model.state.entries.at(-1)?.id;
    this.#collector.continueAfter(this.#through);
    if (whenPainted) void this.#jobs.run('write', () => within(LONGEST_SHOWING_MS, whenPainted)).catch(() => undefined);
    // The locations of past messages are stored even if others store the messages.
    if (this.#options.isWanted()) void this.#write();
    else void this.#jobs.run('write', () => this.#open()).catch((error: unknown) => this.#options.onTrouble(error));
  }

  /**
   * Writes everything complete, and from now on messages as they are complete. URLs are freshly
   * signed.
   * @throws ParleyError of the stores, `not-served`, `store-missing`, `links-unreadable` ({@link
   * UnreadableLinks}), `cancelled`
   */
  descriptor(readers: Readers = 'others', signal: AbortSignal = this.#ended.signal): Promise<SessionDescriptor> {
    return this.#jobs.run('write', async () => {
      await this.#settle();
      if (readers === 'others') await this.#uploadFor(signal);
      const { id, entries, state } = this.#currentRecord;
      const history = await Promise.all(entries.map((place) => this.#urlOf(place, readers)));
      return { id, history, state: state && (await this.#urlOf(state, readers)) };
    });
  }

  /** @throws ParleyError as {@link descriptor} */
  async urlAt(index: number): Promise<string | undefined> {
    await this.#open();
    const place = this.#currentRecord.entries[index];
    return place && (await this.#urlOf(place, 'here'));
  }

  /** Undefined if it must be looked up. */
  get hasState(): boolean | undefined {
    if (this.#record) return this.#record.state !== undefined;
    return this.#isUnknown && this.#opened === undefined ? false : undefined;
  }

  /** Id or role name of the agent that stored the state; undefined if unknown. */
  get stateBy(): string | undefined {
    return this.#stateBy;
  }

  /** @throws ParleyError of the stores, `store-missing` */
  async state(): Promise<OpenState | undefined> {
    await this.#wasShared();
    if (this.hasState === false) return undefined;
    await this.#open();
    const { state } = this.#currentRecord;
    if (!state) return undefined;
    const url = await this.#urlOf(state, 'here');
    if (state.kind === 'foreign') return { url };
    const read = async (signal: AbortSignal): Promise<Uint8Array> => {
      const bytes = await this.#storeOf(state).get(state.key, signal);
      if (sha256Of(bytes) === state.sha256) return bytes;
      throw new ParleyError('invalid-data', localizable('The state of the session is damaged.'));
    };
    return { url, read };
  }

  /**
   * Stores a state; that of an unshared session stays on this machine.
   * @param previous URL of the state that this one continues
   * @returns false if there is another state by now
   * @throws ParleyError of the stores
   */
  storeState(content: Uint8Array, previous: string | undefined, by: string): Promise<boolean> {
    return this.#jobs.run('write', async () => {
      const isShared = await this.#wasShared();
      await this.#open();
      const { state: current, earlier: before = [] } = this.#currentRecord;
      if (!(await this.#isAt(current, previous))) return false;
      const key = `${this.#folder}state-${mintId()}.bin`;
      const state = await this.#put(key, content, STATE_TYPE);
      const isOurs = current?.kind === 'own' && folderIn(current.key) === folderIn(key);
      const earlier = isOurs ? [...before, current] : [...before];
      const removed = earlier.splice(0, Math.max(0, earlier.length - (isShared ? MAX_EARLIER_STATES : 0)));
      const writer = this.#stateBy;
      this.#stateBy = by;
      try {
        await this.#save({ ...this.#currentRecord, state, earlier });
      } catch (error) {
        this.#stateBy = writer;
        await this.#discard(state);
        throw error;
      }
      for (const place of removed) await this.#discard(place);
      return true;
    });
  }

  /** Records who stored the state that the session came with. Never rejects. */
  stateIsOf(agent: string): Promise<void> {
    return this.#jobs.run('write', async () => {
      this.#stateBy = agent;
      await this.#open()
        .then(() => this.#save(this.#currentRecord))
        .catch((error: unknown) => this.#warn(error));
    });
  }

  /** Removes nothing, so links keep working. @throws ParleyError of that store; can be repeated */
  move(signal: AbortSignal): Promise<Moved> {
    return this.#jobs.run('write', async () => {
      await this.#settle();
      return this.#move(() => true, signal);
    });
  }

  /** @throws ParleyError with the reason */
  upload(signal: AbortSignal): Promise<void> {
    return this.#jobs.run('write', async () => {
      await this.#wasShared();
      await this.#open();
      await this.#uploadWaiting(AbortSignal.any([signal, this.#ended.signal]));
    });
  }

  storesChanged(): void {
    this.#opened = undefined;
  }

  /** Resolves when everything complete in a shared session is written, or has failed. */
  settled(): Promise<void> {
    return this.#jobs.run('write', () => this.#flush().catch((error: unknown) => this.#warn(error)));
  }

  dispose(): void {
    this.#ended.abort();
    this.#observing.dispose();
    this.#didChange.dispose();
  }

  /** Called while a change is applied: compares the last entry only, unless that is complete. */
  #onModelChange(): void {
    const last = this.#options.model.state.entries.at(-1);
    if (last === this.#lastEntry) return;
    this.#lastEntry = last;
    if (last === undefined) this.#startOver();
    else if (last.kind === 'turn_end' || (last.kind === 'user' && last.promptId !== undefined)) void this.#write();
  }

  #startOver(): void {
    if (this.#adopted || !this.#collector.hasBegun) return;
    this.#collector.reset();
    this.#through = undefined;
    this.#beyond = 0;
    void this.#jobs.run('write', async () => {
      if (this.#record) this.#record = { id: mintId(), entries: [] };
    });
  }

  get #maxMessages(): number {
    return this.#options.maxMessages ?? MAX_HISTORY;
  }

  /** Messages go to the configured store from now on. */
  #share(): void {
    if (this.#isShared !== true) this.#opened = undefined;
    this.#isShared = true;
  }

  async #settle(): Promise<void> {
    this.#share();
    await this.#open();
    await this.#drain();
    await this.#flush();
  }

  /** Writes complete messages, after those in progress. Never throws. */
  #write(): Promise<void> {
    if (this.#isShared === false || !this.#options.isWanted()) return Promise.resolve();
    // What the agent still says after the turn belongs to the next message.
    if (this.#record) this.#collect();
    if (this.#isWriteQueued) return this.settled();
    this.#isWriteQueued = true;
    return this.#jobs.run('write', () => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    this.#isWriteQueued = false;
    try {
      if (!(await this.#wasShared())) return;
      await this.#open();
      await this.#drain();
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
    const stored = await this.#read().catch(() => undefined);
    if (stored) this.#isUnknown = stored.record === undefined;
    // The session may have been shared while the file was read.
    this.#isShared ??= stored?.shared === true;
    return this.#isShared;
  }

  #warn(error: unknown): void {
    this.#options.log.warn(`The messages of session ${this.#options.key} are not written: ${messageOf(error)}`);
  }

  async #drain(): Promise<void> {
    do {
      if (this.#currentRecord.entries.length + this.#collector.waiting > this.#maxMessages)
        await this.#continueShorter();
      await this.#writeCollected();
    } while (this.#collect());
  }

  /** Begins another session with the newest messages: a history is never cut. */
  async #continueShorter(): Promise<void> {
    const before = this.#currentRecord;
    const { entries, state, earlier } = before;
    this.#record = { id: mintId(), entries: [] };
    try {
      await this.#append(omission());
      const newest = entries.slice(-this.#maxMessages * NEWEST_SHARE);
      await this.#save({
        ...this.#currentRecord,
        entries: [...this.#currentRecord.entries, ...newest],
        state,
        earlier,
      });
    } catch (error) {
      // The next attempt begins with all messages again.
      this.#record = before;
      throw error;
    }
  }

  async #writeCollected(): Promise<void> {
    for (let next = this.#collector.next; next !== undefined; next = this.#collector.next) {
      this.#ended.signal.throwIfAborted();
      const before = { through: this.#through, beyond: this.#beyond };
      if (next.through === undefined) this.#beyond++;
      else {
        this.#through = next.through;
        this.#beyond = 0;
      }
      try {
        await this.#append(next.message);
      } catch (error) {
        this.#through = before.through;
        this.#beyond = before.beyond;
        throw error;
      }
      this.#collector.written(next);
    }
  }

  #collect(): boolean {
    return this.#collector.collect(this.#record?.entries.length === 0);
  }

  /** Once this resolves, the message survives a crash. */
  async #append(message: Message): Promise<void> {
    const { entries } = this.#currentRecord;
    const bytes = Buffer.from(knownSecrets.redact(JSON.stringify(message)));
    if (bytes.length > MAX_MESSAGE_BYTES)
      throw new ParleyError('too-large', localizable('The message is too large to store.'));
    const key = `${this.#folder}${String(entries.length).padStart(8, '0')}-${mintId()}.json`;
    // Record what was stored but couldn't be recorded: a second object would count as a second
    // message.
    const unrecorded = this.#unrecordedPlace?.sha256 === sha256Of(bytes) ? this.#unrecordedPlace : undefined;
    const place = unrecorded ?? (await this.#put(key, bytes, JSON_TYPE));
    this.#unrecordedPlace = place;
    await this.#saveRecord({ ...this.#currentRecord, entries: [...entries, place] });
    this.#unrecordedPlace = undefined;
  }

  /** Writes to the first store; on failure, or behind others that wait, to this machine. */
  async #put(key: string, bytes: Uint8Array, contentType: string): Promise<OwnPlace> {
    const [first, ...others] = this.#openStores;
    const local = others.find(({ isLocal }) => isLocal);
    const ended = this.#ended.signal;
    const placeIn = (store: ResourceStore): OwnPlace => {
      return { kind: 'own', storeId: store.id, key, sha256: sha256Of(bytes), bytes: bytes.length };
    };
    const isQueued = local !== undefined && this.#waiting > 0;
    if (!isQueued) {
      const signal = local ? AbortSignal.any([ended, AbortSignal.timeout(PATIENCE_MS)]) : ended;
      try {
        await first.put(key, bytes, contentType, signal);
        return placeIn(first);
      } catch (error) {
        ended.throwIfAborted();
        if (!local) throw error;
        this.#problem = error instanceof ParleyError && !signal.aborted ? error : undefined;
      }
    }
    const store = local ?? first;
    await store.put(key, bytes, contentType, ended);
    return { ...placeIn(store), waits: true };
  }

  get #waiting(): number {
    const { entries = [], state } = this.#record ?? {};
    return entries.filter(waits).length + (state && waits(state) ? 1 : 0);
  }

  #report(): void {
    const waiting = this.#waiting;
    if (waiting === 0) this.#problem = undefined;
    if (waiting > 0 || this.#reportedWaiting > 0) this.#options.onDidWait?.(waiting, this.#problem);
    this.#reportedWaiting = waiting;
  }

  /** @throws ParleyError `links-unreadable`, `cancelled` */
  async #uploadFor(signal: AbortSignal): Promise<void> {
    try {
      await this.#uploadWaiting(signal);
    } catch (error) {
      if (!(error instanceof ParleyError) || signal.aborted) throw error;
      const { entries, state } = this.#currentRecord;
      throw new UnreadableLinks(this.#waiting, entries.length + (state ? 1 : 0), error);
    }
  }

  async #uploadWaiting(signal: AbortSignal): Promise<void> {
    // A state stored before the session was shared goes to the configured store too.
    const isWanted = (place: OwnPlace): boolean => place.waits === true || place === this.#currentRecord.state;
    try {
      await this.#move(isWanted, signal);
    } catch (error) {
      if (error instanceof ParleyError && !signal.aborted) this.#problem = error;
      this.#report();
      throw error;
    }
    this.#report();
  }

  /** @throws ParleyError of the first store */
  async #move(isWanted: (place: OwnPlace) => boolean, signal: AbortSignal): Promise<Moved> {
    let moved = 0;
    let refusal: ParleyError | undefined;
    const unreadable: number[] = [];
    const { entries, state } = this.#currentRecord;
    const all: readonly (Place | undefined)[] = [...entries, state];
    for (const [position, place] of all.entries()) {
      if (place?.kind !== 'own' || !isWanted(place)) continue;
      const isState = position === entries.length;
      let next: OwnPlace;
      try {
        next = await this.#moved(place, isState ? STATE_TYPE : JSON_TYPE, signal);
      } catch (error) {
        if (!isOfObject(error)) throw error;
        refusal ??= error;
        continue;
      }
      if (next.storeId !== place.storeId) moved++;
      else if (next.storeId !== this.#openStores[0].id) unreadable.push(isState ? -1 : position);
      if (next === place) continue;
      if (isState) await this.#save({ ...this.#currentRecord, state: next });
      else
        await this.#saveRecord({ ...this.#currentRecord, entries: this.#currentRecord.entries.with(position, next) });
    }
    await this.#flush();
    if (refusal) throw refusal;
    return { moved, unreadable };
  }

  /** An object that can't be read stays. */
  async #moved(place: OwnPlace, contentType: string, signal: AbortSignal): Promise<OwnPlace> {
    const [first] = this.#openStores;
    const { waits: _waits, ...rest } = place;
    const unmoved = place.waits ? rest : place;
    if (place.storeId === first.id) return unmoved;
    let bytes: Uint8Array;
    try {
      bytes = await this.#storeOf(place).get(place.key, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#warn(error);
      return unmoved;
    }
    await first.put(place.key, bytes, contentType, signal);
    return { ...rest, storeId: first.id };
  }

  /** Messages written but not recorded before a crash are found by listing. */
  #open(): Promise<void> {
    if (!this.#opened) {
      const opened = this.#openNow();
      opened.catch(() => {
        if (this.#opened === opened) this.#opened = undefined;
      });
      this.#opened = opened;
    }
    return this.#opened;
  }

  async #openNow(): Promise<void> {
    const { stores, log, key } = this.#options;
    const stored: StoredLog = this.#record ? { record: this.#record } : await this.#read();
    const isFirst = this.#record === undefined && stored.record !== undefined;
    if (isFirst) {
      this.#collector.continueAfter(stored.through);
      this.#through = stored.through;
      this.#beyond = stored.beyond ?? 0;
      this.#stateBy ??= stored.stateBy;
    }
    const all = await stores();
    this.#stores = this.#isShared === true ? all : onlyLocal(all);
    const record = stored.record ?? { id: this.#adopted?.id ?? mintId(), entries: [] };
    const found = await this.#recovered(record);
    const recovered = found.entries.length - record.entries.length;
    // Objects missing in the record were written right after those in it.
    if (isFirst) this.#beyond += recovered;
    if (!stored.record && this.#adopted) await this.#save(await this.#adoptedRecord(this.#adopted, record));
    else if (recovered > 0) await this.#save(found);
    else this.#record = record;
    if (isFirst) this.#collector.skip(this.#beyond);
    if (recovered > 0) log.info(`${recovered} messages of session ${key} were written and not recorded`);
    this.#set(this.#currentRecord);
  }

  async #read(): Promise<StoredLog> {
    const { fileStore, key, log } = this.#options;
    const text = await fileStore.read(key);
    if (text === undefined) return {};
    try {
      const { record, ...kept } = z.parse(storedSchema, JSON.parse(text));
      return { ...kept, record: readRecord(record) };
    } catch (error) {
      // Its messages are found or written again under another id, so links given out earlier keep
      // working.
      log.warn(`What was known of the messages of session ${key} is damaged: ${messageOf(error)}`);
      return {};
    }
  }

  async #recovered(record: SessionRecord): Promise<SessionRecord> {
    const stores = this.#openStores;
    const prefix = `${folderOf(record.id)}${this.#options.key}/`;
    const knownKeys = new Set(record.dropped);
    for (const place of record.entries) if (place.kind === 'own') knownKeys.add(place.key);
    const entries = [...record.entries];
    for (const store of stores) {
      const keys = (await store.list?.(prefix, this.#ended.signal)) ?? [];
      for (const key of keys.filter((each) => MESSAGE_KEY.test(each) && !knownKeys.has(each))) {
        const bytes = await store.get(key, this.#ended.signal).catch((error) => {
          // A file that was being written during a crash.
          if (error instanceof ParleyError && error.code === 'torn') return undefined;
          throw error;
        });
        if (bytes === undefined) continue;
        const waiting = store === stores[0] ? undefined : true;
        const place: OwnPlace = {
          kind: 'own',
          storeId: store.id,
          key,
          sha256: sha256Of(bytes),
          bytes: bytes.length,
          waits: waiting,
        };
        const at = entries.findIndex(
          (entry) => entry.kind === 'own' && entry.key.startsWith(prefix) && sequenceOf(entry.key) > sequenceOf(key),
        );
        entries.splice(at === -1 ? entries.length : at, 0, place);
      }
    }
    return { ...record, entries: entries.slice(0, MAX_HISTORY) };
  }

  /** Our own messages are still recognized by key. */
  async #adoptedRecord({ history, state }: SessionDescriptor, { id }: SessionRecord): Promise<SessionRecord> {
    const entries: Place[] = [];
    for (const url of history) entries.push(await this.#placeOfUrl(url, id));
    return { id, entries, state: state === undefined ? undefined : await this.#placeOfUrl(state, id) };
  }

  async #placeOfUrl(url: string, sessionId: string): Promise<Place> {
    const sha256 = hashOf(url);
    for (const store of this.#openStores) {
      const key = await store.keyOf(url);
      // Only this session's objects are signed again: a descriptor must not get others' messages
      // signed by naming them.
      if (key?.startsWith(folderOf(sessionId)) && sha256 !== undefined)
        return { kind: 'own', storeId: store.id, key, sha256, bytes: 0 };
    }
    return { kind: 'foreign', url };
  }

  async #urlOf(place: Place, readers: Readers): Promise<string> {
    if (place.kind === 'foreign') return place.url;
    const { key, sha256 } = place;
    // A state from before sharing is uploaded with the waiting messages.
    const isUploadedLater = place.waits || (place === this.#currentRecord.state && this.#storeOf(place).isLocal);
    const store = readers === 'later' && isUploadedLater ? this.#openStores[0] : this.#storeOf(place);
    return store.urlFor(key, {
      expiresIn: DEFAULT_URL_SECONDS,
      sha256,
      readers: readers === 'here' ? 'here' : 'others',
    });
  }

  async #isAt(place: Place | undefined, url: string | undefined): Promise<boolean> {
    if (place === undefined || url === undefined) return place === undefined && url === undefined;
    if (place.kind === 'foreign') return urlIdentity(place.url) === urlIdentity(url);
    // It may have been uploaded since its URL was given out.
    for (const store of this.#openStores) if ((await store.keyOf(url)) === place.key) return true;
    return false;
  }

  /** An object that can't be removed stays until the session is deleted. */
  async #discard(place: OwnPlace): Promise<void> {
    const store = this.#openStores.find(({ id }) => id === place.storeId);
    await store?.remove(place.key, this.#ended.signal).catch(() => {});
  }

  /** @throws ParleyError `store-missing` */
  #storeOf(place: OwnPlace): ResourceStore {
    const store = this.#openStores.find(({ id }) => id === place.storeId);
    if (store !== undefined) return store;
    throw new ParleyError(
      'store-missing',
      localizable('A storage server with messages of this session is no longer configured.'),
      { hint: localizable('Add it again in the settings: {0}', place.storeId) },
    );
  }

  /** Long records are saved less often, so that saving costs no more than writing. */
  async #saveRecord(record: SessionRecord): Promise<void> {
    if ((this.#unsaved + 1) * 16 >= record.entries.length) return this.#save(record);
    this.#unsaved++;
    this.#set(record);
  }

  async #flush(): Promise<void> {
    if (this.#record && this.#unsaved > 0) await this.#save(this.#record);
  }

  async #save(record: SessionRecord): Promise<void> {
    const { fileStore, key } = this.#options;
    const stored: StoredLog = {
      record,
      beyond: this.#beyond,
      shared: this.#isShared === true,
      through: this.#through,
      stateBy: this.#stateBy,
    };
    try {
      await fileStore.write(key, JSON.stringify(stored));
    } catch (error) {
      throw new ParleyError('store-error', localizable("Couldn't save the session's record."), { cause: error });
    }
    this.#unsaved = 0;
    this.#set(record);
  }

  #set(record: SessionRecord): void {
    this.#record = record;
    this.#didChange.fire(record);
    this.#report();
  }

  get #currentRecord(): SessionRecord {
    if (this.#record) return this.#record;
    throw new ParleyError('not-open', 'The messages of the session are not open.');
  }

  get #openStores(): Stores {
    if (this.#stores) return this.#stores;
    throw new ParleyError('not-open', 'The messages of the session are not open.');
  }

  get #folder(): string {
    return `${folderOf(this.#currentRecord.id)}${this.#options.key}/`;
  }
}

function onlyLocal(stores: Stores): Stores {
  const local = stores.find(({ isLocal }) => isLocal);
  return local ? [local] : stores;
}

function waits(place: Place): boolean {
  return place.kind === 'own' && place.waits === true;
}

function folderIn(key: string): string | undefined {
  return key.split('/').at(-2);
}

function sequenceOf(key: string): number {
  return Number(/\/(\d{8})-[^/]*$/.exec(key)?.[1] ?? Number.NaN);
}
