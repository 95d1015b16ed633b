// The messages of one session as immutable objects on a storage server, appended in order: a
// user's message before it is sent, the agent's when its turn ends. Creates the descriptor that
// others get.

import { createHash } from 'node:crypto';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { KeyedQueue } from '../../base/keyedQueue';
import { localizable } from '../../base/localizable';
import { knownSecrets } from '../../base/redact';
import { MAX_HISTORY, MAX_MESSAGE_BYTES, type Message, mintId, type SessionDescriptor } from '../model/model';
import {
  DEFAULT_URL_SECONDS,
  type ResourceStore,
  type StoredResource,
  sha256Of,
  type UrlOptions,
} from '../model/resources';
import { hashOf, urlIdentity } from '../model/resourceUrl';
import type { OwnPlace, Place, SessionRecord } from '../model/sessionRecord';

export interface MessageLogOptions {
  readonly sessionId: string;
  /** The first takes what is written from now on; the others hold what was written before. */
  readonly stores: readonly [ResourceStore, ...ResourceStore[]];
  /**
   * A folder of its own inside the session's, for one of several who continue the same session:
   * what the others write is their branch.
   */
  readonly branch?: string;
  /** What was kept of the session, if anything. */
  readonly record?: SessionRecord;
  /**
   * Keeps the record. A failure to do so is an error of the append. Called after every entry of a
   * short session and more and more seldom in a long one, so that all records together cost no more
   * than a few times the last one; see {@link MessageLog.flush}.
   */
  save(record: SessionRecord): Promise<void>;
}

/** The state of a session as it can be read here. */
export interface OpenState {
  readonly url: string;
  /**
   * Absent where the state lies on another server.
   * @throws ParleyError of the store, `invalid-data`
   */
  readonly read?: (signal: AbortSignal) => Promise<Uint8Array>;
}

export class MessageLog {
  readonly #options: MessageLogOptions;
  readonly #queue = new KeyedQueue<'log'>();
  readonly #didChange = new Emitter<SessionRecord>();
  #record: SessionRecord;
  /** Stored, and not in the record yet. */
  #unnoted: StoredResource | undefined;
  /** Changes of the record since it was saved. */
  #unsaved = 0;

  private constructor(options: MessageLogOptions) {
    this.#options = options;
    this.#record = options.record ?? { id: options.sessionId, entries: [] };
  }

  /**
   * Opens the log of a session. What was written but not recorded (the machine failed between the
   * two, or another window wrote) is found again where the store can list its keys.
   * @throws ParleyError of the store
   */
  static async open(options: MessageLogOptions, signal: AbortSignal): Promise<MessageLog> {
    const log = new MessageLog(options);
    await log.#recover(signal);
    return log;
  }

  get onDidChange(): Event<SessionRecord> {
    return this.#didChange.event;
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /**
   * Writes a message behind all others. When it resolves, the message survives whatever happens.
   * @throws ParleyError of the store, `session-full`, `too-large`
   */
  append(message: Message, signal: AbortSignal): Promise<StoredResource> {
    return this.#queue.run('log', async () => {
      const { entries } = this.#record;
      if (entries.length >= MAX_HISTORY)
        throw new ParleyError('session-full', localizable('A session can have at most {0} messages.', MAX_HISTORY));
      // It is made to be read by others.
      const bytes = Buffer.from(knownSecrets.redact(JSON.stringify(message)));
      if (bytes.length > MAX_MESSAGE_BYTES)
        throw new ParleyError('too-large', localizable('The message is too large to store.'));
      const key = `${this.#folder}${String(entries.length).padStart(8, '0')}-${mintId()}.json`;
      // What was stored and could not be noted is noted now: a second object of it would be found
      // as a second message.
      const left = this.#unnoted?.sha256 === sha256Of(bytes) ? this.#unnoted : undefined;
      const stored = left ?? (await this.#store.put(key, bytes, 'application/json', signal));
      this.#unnoted = stored;
      await this.#note({ ...this.#record, entries: [...this.#record.entries, this.#placeOf(stored)] });
      this.#unnoted = undefined;
      return stored;
    });
  }

  /**
   * Adds messages of another log behind all others, and takes over its state.
   * @throws what `save` throws
   */
  goOnFrom(places: readonly Place[], { state, earlier }: Pick<SessionRecord, 'state' | 'earlier'>): Promise<void> {
    return this.#queue.run('log', () =>
      this.#set({
        ...this.#record,
        entries: [...this.#record.entries, ...places],
        ...(state && { state }),
        ...(earlier && { earlier }),
      }),
    );
  }

  /**
   * Replaces the state.
   * @param previous URL of the state that this one continues; undefined: there was none
   * @param kept number of replaced states that stay, at most {@link MAX_EARLIER_STATES}
   * @returns false where the session has another state by now
   * @throws ParleyError of the store
   */
  storeState(content: Uint8Array, previous: string | undefined, kept: number, signal: AbortSignal): Promise<boolean> {
    return this.#queue.run('log', async () => {
      const { state: current, earlier: before = [] } = this.#record;
      if (!(await this.#isAt(current, previous))) return false;
      const key = `${this.#folder}state-${mintId()}.bin`;
      const state = this.#placeOf(await this.#store.put(key, content, 'application/octet-stream', signal));
      // A state in the folder of another branch is that one's to remove.
      const isOurs = current?.kind === 'own' && folderIn(current.key) === folderIn(key);
      const earlier = isOurs ? [...before, current] : [...before];
      const gone = earlier.splice(0, Math.max(0, earlier.length - kept));
      try {
        await this.#set({ ...this.#record, state, earlier });
      } catch (error) {
        await this.#discard(state, signal);
        throw error;
      }
      for (const place of gone) await this.#discard(place, signal);
      return true;
    });
  }

  /**
   * Returns the URL of the state, for this window alone, and a function that reads it where it is
   * our own.
   * @throws ParleyError `store-missing`
   */
  async state(): Promise<OpenState | undefined> {
    const { state } = this.#record;
    if (state === undefined) return undefined;
    const url = await this.#urlOf(state, { readers: 'here' });
    if (state.kind === 'foreign') return { url };
    const read = async (signal: AbortSignal): Promise<Uint8Array> => {
      const bytes = await this.#storeOf(state).get(state.key, signal);
      if (sha256Of(bytes) === state.sha256) return bytes;
      throw new ParleyError('invalid-data', localizable('The state of the session is damaged.'));
    };
    return { url, read };
  }

  /**
   * Copies the state to the first store where it is in another one.
   * @returns false where it can't be read there
   * @throws ParleyError of the new store
   */
  moveState(signal: AbortSignal): Promise<boolean> {
    return this.#queue.run('log', () => this.#moveState(signal));
  }

  /** Saves the record as it is now. @throws what `save` throws */
  flush(): Promise<void> {
    return this.#queue.run('log', async () => {
      if (this.#unsaved > 0) await this.#set(this.#record);
    });
  }

  /**
   * The descriptor, with our URLs signed now. Foreign URLs are as they came.
   * @param options `expiresIn`: a day unless told otherwise
   * @throws ParleyError `not-served`, `store-missing`
   */
  async descriptor(options: Omit<Partial<UrlOptions>, 'sha256'> = {}): Promise<SessionDescriptor> {
    const { id, entries, state } = this.#record;
    const history = await Promise.all(entries.map((place) => this.#urlOf(place, options)));
    return { id, history, state: state !== undefined ? await this.#urlOf(state, options) : undefined };
  }

  /**
   * Takes over a descriptor that has more than ours (see `handOver.ts`). Entries that are our own
   * stay known by key.
   * @throws ParleyError `other-session`
   */
  adopt(descriptor: SessionDescriptor): Promise<void> {
    return this.#queue.run('log', async () => {
      if (descriptor.id !== this.#record.id)
        throw new ParleyError('other-session', localizable('This is the descriptor of another session.'));
      const known = new Map<string, OwnPlace>();
      for (const place of this.#record.entries)
        if (place.kind === 'own') known.set(`${place.storeId} ${place.key}`, place);
      const entries: Place[] = [];
      for (const url of descriptor.history) entries.push(await this.#placeOfUrl(url, known));
      const state = descriptor.state === undefined ? undefined : await this.#placeOfUrl(descriptor.state, known);
      const kept = new Set(entries.map((place) => (place.kind === 'own' ? place.key : '')));
      const gone = [...known.values()].map(({ key }) => key).filter((key) => !kept.has(key));
      const dropped = [...(this.#record.dropped ?? []).filter((key) => !kept.has(key)), ...gone].slice(-MAX_HISTORY);
      const { earlier } = this.#record;
      await this.#set({ id: this.#record.id, entries, dropped, state, earlier });
    });
  }

  /**
   * Copies our own entries from the stores before to the first one, in order. Nothing is removed,
   * so that links that were given away keep working.
   * @returns how many were copied, and which could not be read (index into the history, -1 for the
   * state): those stay where they are
   * @throws ParleyError of the new store; doing it again continues where it stopped
   */
  moveAll(signal: AbortSignal): Promise<{ readonly moved: number; readonly unreadable: readonly number[] }> {
    return this.#queue.run('log', async () => {
      let moved = 0;
      const unreadable: number[] = [];
      const entries = [...this.#record.entries];
      for (const [index, place] of entries.entries()) {
        const next = await this.#moved(place, 'application/json', signal);
        if (next === undefined) unreadable.push(index);
        if (next === undefined || next === place) continue;
        moved++;
        entries[index] = next;
        await this.#note({ ...this.#record, entries: [...entries] });
      }
      await this.#set(this.#record);
      const { state } = this.#record;
      if (!(await this.#moveState(signal))) unreadable.push(-1);
      else if (this.#record.state !== state) moved++;
      return { moved, unreadable };
    });
  }

  /**
   * Copies an object to the first store.
   * @returns where it is then; undefined where it can't be read
   */
  async #moved(place: Place, contentType: string, signal: AbortSignal): Promise<Place | undefined> {
    if (place.kind === 'foreign' || place.storeId === this.#store.id) return place;
    const copied = await copyResource(this.#storeOf(place), this.#store, place.key, contentType, signal);
    return copied.kind === 'unreadable' ? undefined : this.#placeOf(copied.stored);
  }

  async #moveState(signal: AbortSignal): Promise<boolean> {
    const { state } = this.#record;
    const moved = state && (await this.#moved(state, 'application/octet-stream', signal));
    if (moved !== undefined && moved !== state) await this.#set({ ...this.#record, state: moved });
    return state === undefined || moved !== undefined;
  }

  /** Returns whether a URL leads to an object, however old its signature. */
  async #isAt(place: Place | undefined, url: string | undefined): Promise<boolean> {
    if (place === undefined || url === undefined) return place === undefined && url === undefined;
    if (place.kind === 'foreign') return urlIdentity(place.url) === urlIdentity(url);
    return (await this.#storeOf(place).keyOf(url)) === place.key;
  }

  /**
   * Removes an object that is no longer needed; one that can't be removed stays until the session
   * is deleted.
   */
  async #discard(place: OwnPlace, signal: AbortSignal): Promise<void> {
    const store = this.#options.stores.find(({ id }) => id === place.storeId);
    await store?.remove(place.key, signal).catch(() => {});
  }

  async #recover(signal: AbortSignal): Promise<void> {
    const prefix = this.#folder;
    const isHere = (key: string): boolean => MESSAGE_KEY.test(key) && !key.slice(prefix.length).includes('/');
    const known = new Set(this.#record.dropped);
    for (const place of this.#record.entries) if (place.kind === 'own') known.add(place.key);
    const entries = [...this.#record.entries];
    for (const store of this.#options.stores) {
      const keys = (await store.list?.(prefix, signal)) ?? [];
      for (const key of keys.filter((one) => isHere(one) && !known.has(one))) {
        const bytes = await store.get(key, signal).catch((error) => {
          // A file that was being written when the machine failed: its message was never sent.
          if (error instanceof ParleyError && error.code === 'torn') return undefined;
          throw error;
        });
        if (bytes === undefined) continue;
        const place: OwnPlace = { kind: 'own', storeId: store.id, key, sha256: sha256Of(bytes), bytes: bytes.length };
        // Numbers of other folders are others' numbers.
        const at = entries.findIndex(
          (entry) => entry.kind === 'own' && entry.key.startsWith(prefix) && sequenceOf(entry.key) > sequenceOf(key),
        );
        entries.splice(at === -1 ? entries.length : at, 0, place);
      }
    }
    if (entries.length > this.#record.entries.length)
      await this.#set({ ...this.#record, entries: entries.slice(0, MAX_HISTORY) });
  }

  async #placeOfUrl(url: string, known: ReadonlyMap<string, OwnPlace>): Promise<Place> {
    for (const store of this.#options.stores) {
      const key = await store.keyOf(url);
      if (key === undefined) continue;
      const place = known.get(`${store.id} ${key}`);
      if (place !== undefined) return place;
      const sha256 = hashOf(url);
      // Only what belongs to this session is signed again: a descriptor must not get others'
      // messages signed by naming them.
      const isOfSession = key.startsWith(folderOf(this.#record.id));
      if (sha256 !== undefined && isOfSession) return { kind: 'own', storeId: store.id, key, sha256, bytes: 0 };
    }
    return { kind: 'foreign', url };
  }

  async #urlOf(place: Place, options: Partial<UrlOptions>): Promise<string> {
    if (place.kind === 'foreign') return place.url;
    const { key, sha256 } = place;
    return await this.#storeOf(place).urlFor(key, { expiresIn: DEFAULT_URL_SECONDS, ...options, sha256 });
  }

  #storeOf(place: OwnPlace): ResourceStore {
    const store = this.#options.stores.find(({ id }) => id === place.storeId);
    if (store !== undefined) return store;
    throw new ParleyError(
      'store-missing',
      localizable('A storage server with messages of this session is no longer configured.'),
      {
        hint: localizable('Add it again in the settings: {0}', place.storeId),
      },
    );
  }

  #placeOf(stored: StoredResource): OwnPlace {
    const { key, sha256, bytes } = stored;
    return { kind: 'own', storeId: this.#store.id, key, sha256, bytes };
  }

  async #set(record: SessionRecord): Promise<void> {
    await this.#options.save(record);
    this.#unsaved = 0;
    this.#record = record;
    this.#didChange.fire(record);
  }

  /** Takes a record that has grown by one, and saves it where it has grown by a sixteenth. */
  async #note(record: SessionRecord): Promise<void> {
    if ((this.#unsaved + 1) * 16 >= record.entries.length) return this.#set(record);
    this.#unsaved++;
    this.#record = record;
    this.#didChange.fire(record);
  }

  get #store(): ResourceStore {
    return this.#options.stores[0];
  }

  get #folder(): string {
    const { branch } = this.#options;
    return `${folderOf(this.#record.id)}${branch === undefined ? '' : `${branch}/`}`;
  }
}

const MESSAGE_KEY = /\/\d{8}-[0-9a-f-]{36}\.json$/;

/**
 * The folder of a session: its id where that is a plain name on every file system, else a hash of
 * it.
 */
export function folderOf(sessionId: string): string {
  const isPlain = /^[a-z0-9][a-z0-9-]{7,63}$/.test(sessionId);
  const hash = createHash('sha256').update(sessionId).digest('hex').slice(0, 40);
  return `sessions/${isPlain ? sessionId : `h-${hash}`}/`;
}

/** The name of the folder that an object lies in. */
function folderIn(key: string): string | undefined {
  return key.split('/').at(-2);
}

function sequenceOf(key: string): number {
  return Number(/\/(\d{8})-[^/]*$/.exec(key)?.[1] ?? Number.NaN);
}

/**
 * Copies one object from one storage server to another, under its key.
 * @throws ParleyError of the new store
 */
async function copyResource(
  from: ResourceStore,
  to: ResourceStore,
  key: string,
  contentType: string,
  signal: AbortSignal,
): Promise<
  | { readonly kind: 'copied'; readonly stored: StoredResource }
  | { readonly kind: 'unreadable'; readonly reason: string }
> {
  let bytes: Uint8Array;
  try {
    bytes = await from.get(key, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unreadable', reason: messageOf(error) };
  }
  return { kind: 'copied', stored: await to.put(key, bytes, contentType, signal) };
}
