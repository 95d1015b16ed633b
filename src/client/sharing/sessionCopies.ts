// Copies of a session's messages on the user's storage servers. Others may have links to them, so
// they are deleted only when the user says so.
import * as z from 'zod/mini';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { type DescriptorPort, readRecord as readHttp } from '../http/communicationRecord';
import { type ResourceStore, readRecord as readMessages } from '../ports/resources';
import type { FileStore } from './fileStore';
import { idsIn, idsOf, keyIn } from './sessionRemains';

/** An object that a conversation wrote on another machine. */
export interface SessionCopy {
  readonly store: Pick<ResourceStore, 'id' | 'remove'>;
  readonly key: string;
}

export interface CopiesOptions {
  /** What is known of the messages of sessions with agents of the Agent Client Protocol. */
  readonly messages: DescriptorPort;
  /** What is kept of sessions with HTTP agents. */
  readonly http: DescriptorPort;
  readonly stores: readonly ResourceStore[];
}

const messagesSchema = z.object({ record: z.unknown() });

const AT_ONCE = 8;

/** What a conversation wrote to stores that are still configured. */
export async function copiesOf(key: string, options: CopiesOptions): Promise<readonly SessionCopy[]> {
  const stores = options.stores.filter(({ isLocal }) => !isLocal);
  if (stores.length === 0) return [];
  const found = new Map<string, SessionCopy>();
  const add = (store: ResourceStore | undefined, name: string | undefined): void => {
    if (store && name !== undefined && keyIn(name) === key) found.set(`${store.id} ${name}`, { store, key: name });
  };
  for (const place of placesIn(await options.messages.read(key))) {
    if (place.kind === 'own') add(storeOf(stores, place.storeId), place.key);
  }
  for (const url of readHttp((await options.http.read(key)) ?? '')?.copies ?? []) {
    for (const store of stores) add(store, await store.keyOf(url));
  }
  return [...found.values()];
}

/**
 * Removes copies that no other session refers to.
 * @returns how many could not be removed
 */
export async function removeCopies(
  copies: readonly SessionCopy[],
  { fileStores, log }: { readonly fileStores: readonly FileStore[]; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const others = await idsIn(fileStores, signal);
  const own = copies.filter(({ key }) => !idsOf(key.slice(key.lastIndexOf('/'))).some((id) => others.has(id)));
  let failed = 0;
  for (let at = 0; at < own.length; at += AT_ONCE) {
    const removing = own.slice(at, at + AT_ONCE).map(async ({ store, key }) => {
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

function storeOf(stores: readonly ResourceStore[], id: string): ResourceStore | undefined {
  return stores.find((store) => store.id === id);
}
