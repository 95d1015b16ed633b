// URLs of messages and states as text: how to log them, what identifies the same object, whether
// and until when they are signed, and the hash that the fragment may carry. A presigned URL is a
// secret: anyone who has it can read.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { addressClass } from '../../base/addressClass';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** Query parameters that sign or limit a URL, by names that only these use: S3 and Google. */
const SIGNATURE =
  /^x-(amz|goog)-(algorithm|credential|date|expires|signature|signedheaders|security-token|content-sha256)$/i;
/** Names that matter only beside a signature: ours, Azure's, old ones of S3 and Google. */
const BESIDE_SIGNATURE =
  /^(sig|exp|se|sp|sv|sr|st|skoid|sktid|skt|ske|sks|skv|spr|signature|expires|awsaccesskeyid|googleaccessid|key-pair-id|policy)$/i;
const SECRET = /^(x-amz-signature|x-amz-security-token|x-goog-signature|signature|sig|token|access_token)$/i;

const SECRET_IN_TEXT =
  /((?:[?&]|\\u0026)(?:x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|signature|sig|token|access_token)=)[^&\s"'#\\<>]+/gi;
const USER_IN_TEXT = /(:\/\/)[^/\s"'@\\?#]+:[^/\s"'@\\?#]*@/g;

const origins = new Map<string, string | undefined>();
const MAX_ORIGINS = 1000;

/** Cached: a history has thousands of URLs and few origins. */
export function originOf(url: string): string | undefined {
  const end = url.indexOf('/', url.indexOf('://') + 3);
  const known = origins.get(url.slice(0, Math.max(0, end)));
  if (known !== undefined) return known;
  const written = /^[a-z]+:\/\/[a-z\d.:-]+(?=\/)/i.exec(url)?.[0] ?? url;
  const origin = URL.canParse(written) ? new URL(written).origin : undefined;
  if (origins.size >= MAX_ORIGINS) origins.clear();
  if (written !== url) origins.set(written, origin);
  return origin;
}

export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname.slice(0, 300)}${search === '' ? '' : '?…'}`;
}

/** Whatever text, with what proves something in the URLs that stand in it taken out. */
export function redactSignatures(text: string): string {
  return text.replace(SECRET_IN_TEXT, '$1[redacted]').replace(USER_IN_TEXT, '$1[redacted]@');
}

/** Equal for the same object signed at different times, without the fragment. */
export function urlIdentity(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  const params = [...parsed.searchParams];
  const isSigned = params.some(([name]) => /^(sig|signature)$/i.test(name));
  const kept = params.filter(([name]) => !SIGNATURE.test(name) && !(isSigned && BESIDE_SIGNATURE.test(name)));
  const query = kept.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${parsed.origin}${parsed.pathname}${query === '' ? '' : `?${query}`}`;
}

/** Returns whether the URL can be read without signing in: warn before it is copied. */
export function carriesSignature(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { searchParams, username, password } = new URL(url);
  return username !== '' || password !== '' || [...searchParams.keys()].some((name) => SECRET.test(name));
}

/** Returns whether a URL leads to the machine that opens it, and is of no use elsewhere. */
export function isOnThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || addressClass(host) === 'local';
}

/** When a signed URL ends, in milliseconds since 1970; undefined if the URL does not say. */
export function expiryOf(url: string): number | undefined {
  if (!URL.canParse(url)) return undefined;
  const query = new Map([...new URL(url).searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('x-amz-date') ?? '');
  const lasts = Number(query.get('x-amz-expires') ?? Number.NaN);
  if (date && Number.isFinite(lasts)) {
    const [, y, mo, d, h, mi, s] = date.map(Number);
    return Date.UTC(y!, mo! - 1, d!, h!, mi!, s!) + lasts * 1000;
  }
  const seconds = Number(query.get('exp') ?? query.get('expires') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}

export function hashOf(url: string): string | undefined {
  return /#(?:.*&)?sha256=([0-9a-f]{64})(?:&|$)/.exec(url)?.[1];
}

export function withHash(url: string, sha256: string): string {
  const parsed = new URL(url);
  parsed.hash = `sha256=${sha256}`;
  return parsed.href;
}

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

export interface PublicAddress {
  /** As links begin: `https://host[:port][/path]`, without a slash at the end. */
  readonly base: string;
  readonly hosts: readonly string[];
  /** A path prefix that a proxy left, or nothing. */
  readonly prefix: string;
}

/** @throws ParleyError `bad-setting` for what is no plain http or https address */
export function readPublicAddress(text: string): PublicAddress {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (!url || !isPlain || !/^https?:$/.test(url.protocol)) {
    throw new ParleyError(
      'bad-setting',
      localizable("The public address of the server isn't a plain http or https URL."),
      {
        hint: localizable('Set parley.server.publicUrl to https://host[:port][/path].'),
      },
    );
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  const port = url.protocol === 'https:' ? 443 : 80;
  return { base: url.origin + prefix, hosts: url.port === '' ? [url.host, `${url.host}:${port}`] : [url.host], prefix };
}
