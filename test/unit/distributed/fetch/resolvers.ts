// Guards, resolvers and caches for one test each, and the servers that they ask.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ParleyError } from '../../../../src/base/errors';
import { Guard, type GuardedResponse, guardedGet, type NetworkPolicy } from '../../../../src/distributed/fetch/guard';
import type { NameLookup } from '../../../../src/distributed/fetch/guardedConnections';
import { type HistoryEntry, Resolver, type ResolverOptions } from '../../../../src/distributed/fetch/resolver';
import { ResourceCache } from '../../../../src/distributed/fetch/resourceCache';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeServers, messageText } from '../loopback';

const never = new AbortController().signal;
export const SECRET = 'fetched-bytes-must-not-show';

const guards: Guard[] = [];
const caches: ResourceCache[] = [];

export const echo = (request: IncomingMessage, response: ServerResponse): void => {
  response.end(messageText(request.url ?? ''));
};

export function guardFor(
  { allow = [], ...rest }: Partial<NetworkPolicy> & { readonly allow?: readonly string[] },
  lookup?: NameLookup,
): Guard {
  return kept(new Guard({ isAllowed: (origin) => allow.includes(origin), ...rest }, lookup ? { lookup } : {}));
}

export function get(
  guard: Guard,
  url: string,
  more: { maxBytes?: number; timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const { maxBytes = 100_000, timeoutMs = 10_000, signal = never } = more;
  return guardedGet(url, { guard, maxBytes, timeoutMs }, signal);
}

export async function failure(promise: Promise<GuardedResponse>): Promise<ParleyError> {
  const error = await promise.then(
    () => assert.fail('it was fetched'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ParleyError, String(error));
  assert.ok(!`${error.message}${error.hint}${error.stack}`.includes(SECRET), 'the error quotes what was fetched');
  return error;
}

export function resolver(options: Partial<ResolverOptions> = {}): Resolver {
  return new Resolver({ guard: kept(new Guard({ isAllowed: () => true })), ...options });
}

export function kept(guard: Guard): Guard {
  guards.push(guard);
  return guard;
}

export async function newCache(folder?: string): Promise<ResourceCache> {
  const cache = new ResourceCache({ folder: folder ?? (await scratchFolder()) });
  caches.push(cache);
  return cache;
}

export function open(of: Resolver, history: readonly string[]): Promise<readonly HistoryEntry[]> {
  return of.resolveHistory({ id: 'session-123', history }, {}, new AbortController().signal);
}

export function textOf(entry: HistoryEntry | undefined): string {
  return entry?.kind === 'message' ? (entry.message.parts[0]?.content ?? '') : `gap: ${entry?.reason}`;
}

export async function closeResolvers(): Promise<void> {
  for (const guard of guards.splice(0)) guard.dispose();
  await closeServers();
  for (const cache of caches.splice(0)) await cache.settled();
  await removeScratch();
}
