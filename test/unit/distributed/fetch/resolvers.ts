// Resolvers and caches for one test each, and the servers that they ask.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { type HistoryEntry, Resolver, type ResolverOptions } from '../../../../src/distributed/fetch/resolver';
import { ResourceCache } from '../../../../src/distributed/fetch/resourceCache';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeServers, messageText } from '../loopback';

const guards: Guard[] = [];
const caches: ResourceCache[] = [];

export const echo = (request: IncomingMessage, response: ServerResponse): void => {
  response.end(messageText(request.url ?? ''));
};

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
