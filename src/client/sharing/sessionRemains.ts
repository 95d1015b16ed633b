// What a deleted session leaves besides its transcript: its descriptor, the record of its messages,
// and messages that no other session needs.

import * as z from 'zod/mini';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { type DescriptorPort, readRecord as readHttp } from '../http/communicationRecord';
import { type LocalStore, type ResourceStore, readRecord as readMessages } from '../ports/resources';
import type { FileStore } from './fileStore';

export interface RemainsOptions {
  /** One text per session: descriptors of HTTP sessions, records of messages. */
  readonly fileStores: readonly FileStore[];
  /** Messages on this machine. Copies in a bucket stay, as others may link to them. */
  readonly store: Pick<LocalStore, 'list' | 'remove'>;
  readonly log: Log;
}

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Removes what only these sessions had; messages that others continue stay. Logs what can't be
 * removed.
 * @returns conversations with remains, to be retried
 */
export async function removeRemains(
  keys: readonly string[],
  { fileStores, store, log }: RemainsOptions,
  signal: AbortSignal,
): Promise<{ readonly removed: number; readonly left: readonly string[] }> {
  const gone = new Set(keys);
  for (const fileStore of fileStores) for (const key of keys) await quietly(log, fileStore.remove(key));
  const names = [...(await store.list('sessions/', signal)), ...(await store.list('http/', signal))];
  const places = names.flatMap((name) => {
    const key = keyIn(name);
    return gone.has(key) ? [{ name, key }] : [];
  });
  if (places.length === 0) return { removed: 0, left: [] };
  const others = await idsIn(fileStores, signal);
  const left = new Set<string>();
  let removed = 0;
  for (const { name, key } of places) {
    const isNeeded = idsOf(name.slice(name.lastIndexOf('/'))).some((id) => others.has(id));
    if (!isNeeded && (await quietly(log, store.remove(name, signal)))) removed++;
    else left.add(key);
  }
  return { removed, left: [...left] };
}

/** Earlier versions wrote messages without sharing them. */
export async function neverShared(fileStore: FileStore, storeId: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const text of fileStore.texts()) {
    const places = ownPlaces(text);
    const key = keyIn(places[0]?.key ?? '');
    if (key && places.every((place) => place.storeId === storeId && keyIn(place.key) === key)) keys.push(key);
  }
  return keys;
}

export async function* unsentSessions(
  fileStore: FileStore,
): AsyncGenerator<{ readonly key: string; readonly waiting: number }, void, undefined> {
  for await (const text of fileStore.texts()) {
    const keys = [...text.matchAll(/"key":"([^"]+)"[^{}]*"waits":true/g)].map(([, key = '']) => keyIn(key));
    const [key] = keys;
    if (key !== undefined) yield { key, waiting: keys.length };
  }
}

/** None if parts of the record come from another session. */
function ownPlaces(text: string): readonly z.infer<typeof placeSchema>[] {
  try {
    const { record, shared } = z.parse(recordSchema, JSON.parse(text));
    return shared === true ? [] : record.entries;
  } catch {
    return [];
  }
}

const placeSchema = z.object({ kind: z.literal('own'), storeId: z.string(), key: z.string() });
const recordSchema = z.object({ record: z.object({ entries: z.array(placeSchema) }), shared: z.optional(z.boolean()) });

/** In `sessions/<id>/<conversation>/…` or `http/<conversation>/…`. */
function keyIn(name: string): string {
  return name.split('/').at(-2) ?? '';
}

async function idsIn(fileStores: readonly FileStore[], signal: AbortSignal): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const fileStore of fileStores) {
    for await (const text of fileStore.texts()) {
      signal.throwIfAborted();
      for (const id of idsOf(text)) ids.add(id);
    }
  }
  return ids;
}

function idsOf(text: string): readonly string[] {
  return text.match(IDS) ?? [];
}

async function quietly(log: Log, removing: Promise<void>): Promise<boolean> {
  try {
    await removing;
    return true;
  } catch (error) {
    log.warn(`Something of a deleted session is left: ${messageOf(error)}`);
    return false;
  }
}

export interface SessionCopy {
  readonly store: Pick<ResourceStore, 'id' | 'remove'>;
  readonly key: string;
}

export interface CopiesOptions {
  readonly messages: DescriptorPort;
  readonly http: DescriptorPort;
  readonly stores: readonly ResourceStore[];
}

const messagesSchema = z.object({ record: z.unknown() });

const AT_ONCE = 8;

export async function copiesOf(key: string, options: CopiesOptions): Promise<readonly SessionCopy[]> {
  const stores = options.stores.filter(({ isLocal }) => !isLocal);
  if (stores.length === 0) return [];
  const found = new Map<string, SessionCopy>();
  const add = (store: ResourceStore | undefined, name: string | undefined): void => {
    if (store && name !== undefined && keyIn(name) === key) found.set(`${store.id} ${name}`, { store, key: name });
  };
  for (const place of placesIn(await options.messages.read(key))) {
    if (place.kind === 'own')
      add(
        stores.find(({ id }) => id === place.storeId),
        place.key,
      );
  }
  for (const url of readHttp((await options.http.read(key)) ?? '')?.copies ?? []) {
    for (const store of stores) add(store, await store.keyOf(url));
  }
  return [...found.values()];
}

/** Removes copies that no other session refers to. Returns the number left. */
export async function removeCopies(
  copies: readonly SessionCopy[],
  { fileStores, log }: { readonly fileStores: readonly FileStore[]; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const others = await idsIn(fileStores, signal);
  const unreferenced = copies.filter(({ key }) => !idsOf(key.slice(key.lastIndexOf('/'))).some((id) => others.has(id)));
  let failed = 0;
  for (let at = 0; at < unreferenced.length; at += AT_ONCE) {
    const removing = unreferenced.slice(at, at + AT_ONCE).map(async ({ store, key }) => {
      try {
        await store.remove(key, signal);
      } catch (error) {
        failed++;
        log.warn(`A copy of a deleted session's message is left in ${store.id}: ${messageOf(error)}`);
      }
    });
    await Promise.all(removing);
  }
  return failed;
}

function placesIn(text: string | undefined): ReturnType<typeof readMessages>['entries'] {
  if (text === undefined) return [];
  try {
    const { entries, state, earlier = [] } = readMessages(z.parse(messagesSchema, JSON.parse(text)).record);
    return [...entries, ...(state ? [state] : []), ...earlier];
  } catch {
    return [];
  }
}
