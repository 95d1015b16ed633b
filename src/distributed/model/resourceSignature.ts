// Signed, expiring URLs of our own resources: other servers fetch `/resources/<id>?exp=…&sig=…`
// without a token, and nothing else with it.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The path and query of a signed resource. */
export function signResource(secret: Uint8Array, id: string, expires: number): string {
  return `/resources/${id}?exp=${expires}&sig=${signature(secret, id, expires)}`;
}

/** What a server answers a request for a resource by: `expired` and `invalid` are both 403. */
export type SignatureVerdict = 'valid' | 'expired' | 'invalid';

/** Verifies a resource link in constant time. */
export function verifyResource(
  secret: Uint8Array,
  id: string,
  exp: string | null,
  sig: string | null,
  now: number,
): SignatureVerdict {
  if (exp === null || sig === null || !/^[1-9]\d{0,11}$/.test(exp)) return 'invalid';
  const expected = Buffer.from(signature(secret, id, Number(exp)));
  const given = Buffer.from(sig);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'invalid';
  return Number(exp) * 1000 <= now ? 'expired' : 'valid';
}

function signature(secret: Uint8Array, id: string, expires: number): string {
  return createHmac('sha256', secret).update(`${id}\n${expires}`).digest('base64url');
}
