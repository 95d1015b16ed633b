// Guards for one test each, and what they fetch. No error may quote what was fetched.
import assert from 'node:assert/strict';
import { ParleyError } from '../../../../src/base/errors';
import { Guard, type GuardedResponse, guardedGet, type NetworkPolicy } from '../../../../src/distributed/fetch/guard';
import type { NameLookup } from '../../../../src/distributed/fetch/guardedConnections';
import { closeServers } from '../loopback';

const never = new AbortController().signal;
export const SECRET = 'fetched-bytes-must-not-show';

const guards: Guard[] = [];

export function guardFor(
  policy: Partial<NetworkPolicy> & { readonly allow?: readonly string[] },
  lookup?: NameLookup,
): Guard {
  const { allow = [], ...rest } = policy;
  const guard = new Guard({ isAllowed: (origin) => allow.includes(origin), ...rest }, lookup ? { lookup } : {});
  guards.push(guard);
  return guard;
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

export async function closeGuards(): Promise<void> {
  for (const guard of guards.splice(0)) guard.dispose();
  await closeServers();
}
