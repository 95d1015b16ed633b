// URLs of messages and states: redaction, identity, signatures, expiry, and the hash in the
// fragment. A presigned URL is a secret that grants access.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { addressClass } from '../../base/addressClass';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** Parameter names that only signatures use: S3 and Google. */
const SIGNATURE =
  /^x-(amz|goog)-(algorithm|credential|date|expires|signature|signedheaders|security-token|content-sha256)$/i;
/** Parts of a signature only next to one: ours, Azure's, old ones of S3 and Google. */
const BESIDE_SIGNATURE =
  /^(sig|exp|se|sp|sv|sr|st|skoid|sktid|skt|ske|sks|skv|spr|signature|expires|awsaccesskeyid|googleaccessid|key-pair-id|policy)$/i;
const SECRET = /^(x-amz-signature|x-amz-security-token|x-goog-signature|signature|sig|token|access_token)$/i;

const SECRET_IN_TEXT =
  /((?:[?&]|\\u0026)(?:x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|signature|sig|token|access_token)=)[^&\s"'#\\<>]+/gi;
const USER_IN_TEXT = /(:\/\/)[^/\s"'@\\?#]+:[^/\s"'@\\?#]*@/g;

const origins = new Map<string, string | undefined>();
const MAX_ORIGINS = 1000;

/** Cached, because a history has thousands of URLs but few origins. */
export function originOf(url: string): string | undefined {
  const end = url.indexOf('/', url.indexOf('://') + 3);
  const known = origins.get(url.slice(0, Math.max(0, end)));
  if (known !== undefined) return known;
  const originText = /^[a-z]+:\/\/[a-z\d.:-]+(?=\/)/i.exec(url)?.[0] ?? url;
  const origin = URL.canParse(originText) ? new URL(originText).origin : undefined;
  if (origins.size >= MAX_ORIGINS) origins.clear();
  if (originText !== url) origins.set(originText, origin);
  return origin;
}

export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname.slice(0, 300)}${search === '' ? '' : '?…'}`;
}

/** Redacts the secrets of all URLs in a text. */
export function redactSignatures(text: string): string {
  return text.replace(SECRET_IN_TEXT, '$1[redacted]').replace(USER_IN_TEXT, '$1[redacted]@');
}

/** Equal for an object signed at different times; without the fragment. */
export function urlIdentity(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  const params = [...parsed.searchParams];
  const isSigned = params.some(([name]) => /^(sig|signature)$/i.test(name));
  const kept = params.filter(([name]) => !SIGNATURE.test(name) && !(isSigned && BESIDE_SIGNATURE.test(name)));
  const query = kept.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return `${parsed.origin}${parsed.pathname}${query === '' ? '' : `?${query}`}`;
}

/** Whether the URL grants access without a sign-in: warn before copying. */
export function carriesSignature(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { searchParams, username, password } = new URL(url);
  return username !== '' || password !== '' || [...searchParams.keys()].some((name) => SECRET.test(name));
}

/** Whether the URL works only on the machine that opens it. */
export function isOnThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || addressClass(host) === 'local';
}

/** In milliseconds since 1970; undefined if the URL doesn't tell. */
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

/** `expired` and `invalid` are both 403. */
export type SignatureVerdict = 'valid' | 'expired' | 'invalid';

/** In constant time. */
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
  /** `https://host[:port][/path]`, without a trailing slash. */
  readonly base: string;
  readonly hosts: readonly string[];
  /** A path prefix that a proxy kept, or empty. */
  readonly prefix: string;
}

/** @throws ParleyError `bad-setting` unless it is a plain http or https URL */
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
