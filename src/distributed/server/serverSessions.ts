// The sessions of our server, which stores only the locations of their messages. A client's
// descriptor is that client's version; one that does not continue ours is kept beside it, never
// merged, and the client is notified.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { compareHistories } from '../client/handOver';
import {
  MAX_DESCRIPTOR_BYTES,
  MAX_HISTORY,
  type Message,
  mintId,
  type RunCreate,
  readAs,
  type SessionDescriptor,
  urlSchema,
} from '../model/model';
import { DEFAULT_URL_SECONDS, folderOf, type ResourceStore } from '../model/resources';
import { expiryOf, hashOf } from '../model/resourceUrl';
import { invalidInput } from './serverRequest';
import type { SessionFiles } from './serverSessionFiles';

const placeSchema = z.object({
  /** As handed out last; our own links are re-signed. */
  url: urlSchema,
  /** `waits`: still on this machine, to be uploaded to the storage server under the same key. */
  own: z.optional(z.object({ store: z.string(), key: z.string(), waits: z.optional(z.literal(true)) })),
});
const versionSchema = z.object({ version: z.string(), entries: z.array(placeSchema), state: z.optional(placeSchema) });
const recordSchema = z.object({
  id: z.string(),
  versions: z.array(versionSchema).check(z.minLength(1)),
  /** Another client's version is first, and callers by id were not notified yet. */
  isContested: z.optional(z.boolean()),
});

export type Place = Readonly<z.infer<typeof placeSchema>>;
export type Version = Readonly<z.infer<typeof versionSchema>>;
export type SessionRecord = Readonly<z.infer<typeof recordSchema>>;

/** Equal for the same message: our own by key, in any store. */
export function nameOf({ url, own }: Place): string {
  return own ? `own ${own.key}` : url;
}

export function firstOf({ versions }: SessionRecord): Version {
  const [first] = versions;
  if (!first) throw new ParleyError('invalid-data', 'The record of the session is empty.');
  return first;
}

/** @throws ParleyError `invalid-data` */
export function recordOf(text: string): SessionRecord {
  return readAs(recordSchema, JSON.parse(text), 'The record of the session');
}

const MAX_VERSIONS = 9;
/** Longest wait for the storage server, in milliseconds: clients wait five seconds. */
const STORE_TIMEOUT_MS = 3000;
const AVOID_STORE_MS = 30_000;
/** Attempts to write, competing with other windows. */
const MAX_ATTEMPTS = 20;
const MAX_OWN_URL = 4096;
const MAX_SIGNED = 50_000;

export interface Branch {
  readonly id: string;
  readonly version: string;
}

export type SessionNotice =
  /** The session diverged here after the common messages; that version is kept. */
  | { readonly kind: 'session-forked'; readonly common: number }
  /** Another client brought its own version, which this run continues. */
  | { readonly kind: 'session-contested' };

export interface ServerSessionsOptions {
  /** The first that works is written to; all are read. */
  readonly stores: () => Promise<readonly ResourceStore[]>;
  readonly records: SessionFiles;
  readonly now: () => number;
  readonly log: Log;
}

export class ServerSessions {
  readonly #options: ServerSessionsOptions;
  readonly #queue = new KeyedQueue<string>();
  readonly #signedLinks = new Map<string, string>();
  readonly #avoidedUntil = new Map<string, number>();

  constructor(options: ServerSessionsOptions) {
    this.#options = options;
  }

  /** Unknown ids create a session, as upstream's clients invent them. Throws ServerRefusal 400. */
  async enter({ session, session_id: id }: Pick<RunCreate, 'session' | 'session_id'>): Promise<{
    readonly branch: Branch;
    readonly notice?: SessionNotice;
  }> {
    if (session) {
      if (id !== undefined && id !== session.id) throw invalidInput('Session ID mismatch', 400);
      return this.#bring(session);
    }
    let notice: SessionNotice | undefined;
    const record = await this.#change(id ?? mintId(), (known, own) => {
      notice = known?.isContested ? { kind: 'session-contested' } : undefined;
      if (!known) return { id: own, versions: [{ version: mintId(), entries: [] }] };
      return known.isContested ? { ...known, isContested: false } : known;
    });
    return { branch: { id: record.id, version: firstOf(record).version }, notice };
  }

  /** With our own links signed; undefined if unknown. */
  async describe(id: string): Promise<SessionDescriptor | undefined> {
    const record = await this.#read(id);
    if (!record) return undefined;
    return this.#descriptorOf(id, firstOf(await this.#upload(record)));
  }

  /** @throws ParleyError `session-gone` if too many other versions were added since */
  async descriptorOf({ id, version }: Branch): Promise<SessionDescriptor> {
    const found = (await this.#read(id))?.versions.find((one) => one.version === version);
    if (!found) throw gone();
    return this.#descriptorOf(id, found);
  }

  /** That of {@link describe} first; undefined if unknown. */
  async versions(id: string): Promise<readonly SessionDescriptor[] | undefined> {
    const record = await this.#read(id);
    if (!record) return undefined;
    const { versions } = await this.#upload(record);
    return Promise.all(versions.map((version) => this.#descriptorOf(id, version)));
  }

  /** `waiting`: new messages to be uploaded. Throws errors of the last store; `history-full`. */
  async append(
    { id, version }: Branch,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<{ readonly before: number; readonly waiting: number }> {
    this.#checkRoom(await this.#read(id), version, messages.length);
    const places: Place[] = [];
    let waiting = 0;
    for (const message of messages) {
      const bytes = Buffer.from(knownSecrets.redact(JSON.stringify(message)));
      const place = await this.#put(`${folderOf(id)}served/${mintId()}.json`, bytes, 'application/json', signal);
      places.push(place);
      if (place.own?.waits) waiting++;
    }
    let before = 0;
    await this.#change(id, (known = { id, versions: [] }) => {
      const found = known.versions.find((one) => one.version === version) ?? { version, entries: [] };
      before = found.entries.length;
      const grown = { ...found, entries: [...found.entries, ...places] };
      const isKnown = known.versions.includes(found);
      const versions = isKnown
        ? known.versions.map((one) => (one === found ? grown : one))
        : [grown, ...known.versions].slice(0, MAX_VERSIONS);
      return { ...known, versions };
    });
    return { before, waiting };
  }

  /** Undefined if the state `previous` was replaced. Throws errors of the store; `session-gone`. */
  async storeState(
    { id, version }: Branch,
    content: Uint8Array,
    previous: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const isCurrent = async (known: SessionRecord | undefined): Promise<boolean> => {
      const state = known?.versions.find((one) => one.version === version)?.state;
      if (previous === undefined || state === undefined) return previous === state?.url;
      const { state: expected = state } = await this.#placesOf({ id, history: [], state: previous }, known);
      return compareHistories([nameOf(state)], [nameOf(expected)]).relation === 'same';
    };
    if (!(await isCurrent(await this.#read(id)))) return undefined;
    const key = `${folderOf(id)}served/state-${mintId()}.bin`;
    const place = await this.#put(key, content, 'application/octet-stream', signal);
    let isStored = false;
    await this.#change(id, async (known) => {
      isStored = await isCurrent(known);
      if (!known) throw gone();
      if (!isStored) return known;
      const versions = known.versions.map((one) => (one.version === version ? { ...one, state: place } : one));
      return { ...known, versions };
    });
    if (isStored) return place.url;
    await this.#remove(place, signal);
    return undefined;
  }

  /** No client could read a longer descriptor. Throws ParleyError `history-full`. */
  #checkRoom(record: SessionRecord | undefined, version: string, more: number): void {
    const entries = record?.versions.find((one) => one.version === version)?.entries ?? [];
    const chars = entries.reduce((sum, { url }) => sum + url.length + 3, more * MAX_OWN_URL);
    if (entries.length + more <= MAX_HISTORY && chars <= MAX_DESCRIPTOR_BYTES - MAX_OWN_URL) return;
    throw new ParleyError('history-full', `The session has ${entries.length} messages and cannot hold more.`);
  }

  async #bring(session: SessionDescriptor): Promise<{ readonly branch: Branch; readonly notice?: SessionNotice }> {
    let notice: SessionNotice | undefined;
    const record = await this.#change(session.id, async (known) => {
      notice = undefined;
      const { entries, state } = await this.#placesOf(session, known);
      const brought = { version: mintId(), entries, state };
      if (!known) return { id: session.id, versions: [brought] };
      const theirs = entries.map(nameOf);
      const relations = known.versions.map((version) => ({
        version,
        ...compareHistories(version.entries.map(nameOf), theirs),
      }));
      const within = relations.find(({ relation }) => relation === 'same' || relation === 'extendedBy');
      if (within) {
        // With equal messages, our state may be newer than the client's copy.
        const newest = (within.relation === 'same' ? within.version.state : undefined) ?? state ?? within.version.state;
        const grown = { version: within.version.version, entries, state: newest };
        const others = known.versions.filter((other) => other !== within.version);
        const isContested = within.version !== known.versions[0] || known.isContested === true;
        return { ...known, versions: [grown, ...others], isContested };
      }
      const common = Math.max(...relations.map((one) => one.common));
      notice = { kind: 'session-forked', common };
      this.#options.log.info(`Session ${session.id} came back with another past; all versions are kept.`);
      return { ...known, versions: [brought, ...known.versions].slice(0, MAX_VERSIONS), isContested: true };
    });
    const branch = { id: session.id, version: firstOf(record).version };
    return { branch, notice };
  }

  async #placesOf(
    session: SessionDescriptor,
    known: SessionRecord | undefined,
  ): Promise<Pick<Version, 'entries' | 'state'>> {
    const stores = await this.#options.stores();
    const own = new Set<string>();
    for (const { entries, state } of known?.versions ?? [])
      for (const place of state ? [...entries, state] : entries) if (place.own) own.add(nameOf(place));
    const locate = async (url: string): Promise<Place> => {
      for (const store of stores) {
        const key = await store.keyOf(url);
        if (key === undefined) continue;
        const place = { url, own: { store: store.id, key } };
        // A signed local link was handed out by us. In a bucket, a caller could name others'
        // messages.
        if (store.isLocal || own.has(nameOf(place))) return place;
      }
      return { url };
    };
    const entries: Place[] = [];
    for (const url of session.history) entries.push(await locate(url));
    return { entries, state: session.state !== undefined ? await locate(session.state) : undefined };
  }

  /** In the first store that accepts it. Throws ParleyError of the last one. */
  async #put(key: string, bytes: Uint8Array, type: string, signal: AbortSignal): Promise<Place> {
    const stores = await this.#options.stores();
    let failure: unknown;
    for (const [index, store] of stores.entries()) {
      const isLast = index === stores.length - 1;
      if (!isLast && (this.#avoidedUntil.get(store.id) ?? 0) > this.#options.now()) continue;
      const limit = isLast ? signal : AbortSignal.any([signal, AbortSignal.timeout(STORE_TIMEOUT_MS)]);
      try {
        const place = await this.#putInto(store, key, bytes, type, limit);
        return index === 0 || !place.own ? place : { ...place, own: { ...place.own, waits: true } };
      } catch (error) {
        signal.throwIfAborted();
        this.#options.log.warn(`${store.id} does not take a message of a served session: ${String(error)}`);
        this.#avoidedUntil.set(store.id, this.#options.now() + AVOID_STORE_MS);
        failure = error;
      }
    }
    throw failure;
  }

  async #putInto(
    store: ResourceStore,
    key: string,
    bytes: Uint8Array,
    type: string,
    signal: AbortSignal,
  ): Promise<Place> {
    const { sha256 } = await store.put(key, bytes, type, signal);
    const url = await store.urlFor(key, { expiresIn: DEFAULT_URL_SECONDS, sha256 });
    return { url, own: { store: store.id, key } };
  }

  /** Uploads waiting messages as far as the storage server accepts them. Never rejects. */
  async #upload(record: SessionRecord): Promise<SessionRecord> {
    const places = record.versions.flatMap(({ entries, state }) => (state ? [...entries, state] : entries));
    const waiting = new Map(places.filter(({ own }) => own?.waits).map((place) => [nameOf(place), place.own]));
    const stores = await this.#options.stores();
    const [first] = stores;
    if (waiting.size === 0 || !first) return record;
    const limit = AbortSignal.timeout(STORE_TIMEOUT_MS);
    const uploaded = new Map<string, Place>();
    try {
      for (const [name, own] of waiting) {
        const from = stores.find(({ id }) => id === own?.store);
        if (!own || !from) continue;
        const type = own.key.endsWith('.json') ? 'application/json' : 'application/octet-stream';
        const bytes = await from.get(own.key, limit);
        uploaded.set(name, await this.#putInto(first, own.key, bytes, type, limit));
      }
    } catch (error) {
      this.#options.log.debug(`Messages of session ${record.id} wait for ${first.id}: ${String(error)}`);
    }
    if (uploaded.size === 0) return record;
    const moved = (place: Place): Place => (place.own?.waits && uploaded.get(nameOf(place))) || place;
    return this.#change(record.id, (known = record) => ({
      ...known,
      versions: known.versions.map((version) => ({
        ...version,
        entries: version.entries.map(moved),
        state: version.state && moved(version.state),
      })),
    }));
  }

  async #remove({ own }: Place, signal: AbortSignal): Promise<void> {
    const store = (await this.#options.stores()).find(({ id }) => id === own?.store);
    await store?.remove(own?.key ?? '', signal).catch((error: unknown) => this.#options.log.warn(String(error)));
  }

  async #descriptorOf(id: string, { entries, state }: Version): Promise<SessionDescriptor> {
    const stores = new Map((await this.#options.stores()).map((store) => [store.id, store]));
    const history: string[] = [];
    for (const place of entries) history.push(await this.#linkTo(place, stores));
    return { id, history, state: state ? await this.#linkTo(state, stores) : undefined };
  }

  async #linkTo(place: Place, stores: ReadonlyMap<string, ResourceStore>): Promise<string> {
    const store = place.own && stores.get(place.own.store);
    // The store may no longer be configured; its links stay readable until they expire.
    if (!place.own || !store) return place.url;
    const name = nameOf(place);
    const known = store.isLocal ? undefined : (this.#signedLinks.get(name) ?? place.url);
    const remainingMs = ((known === undefined ? undefined : expiryOf(known)) ?? 0) - this.#options.now();
    if (known !== undefined && remainingMs > (DEFAULT_URL_SECONDS * 1000) / 2) return known;
    const sha256 = hashOf(place.url);
    const url = await store.urlFor(place.own.key, {
      expiresIn: DEFAULT_URL_SECONDS,
      sha256,
    });
    if (store.isLocal) return url;
    if (this.#signedLinks.size >= MAX_SIGNED) this.#signedLinks.clear();
    this.#signedLinks.set(name, url);
    return url;
  }

  async #read(id: string): Promise<SessionRecord | undefined> {
    const kept = await this.#options.records.read(id);
    return kept && recordOf(kept.text);
  }

  /** Repeats `edit` if another window wrote first. Throws its errors; `session-busy`. */
  #change(
    id: string,
    edit: (known: SessionRecord | undefined, id: string) => SessionRecord | Promise<SessionRecord>,
  ): Promise<SessionRecord> {
    const { records } = this.#options;
    return this.#queue.run(id, async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const kept = await records.read(id);
        const known = kept && recordOf(kept.text);
        const next = await edit(known, id);
        if (next === known || (await records.write(id, JSON.stringify(next), kept?.revision ?? 0))) return next;
      }
      throw new ParleyError('session-busy', 'Other windows change the session all the time.');
    });
  }
}

function gone(): ParleyError {
  return new ParleyError('session-gone', 'The server no longer has this version of the session.');
}
