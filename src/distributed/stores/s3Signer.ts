// URLs and signatures of S3-compatible servers (AWS Signature Version 4, in headers and queries).

import { AwsV4Signer } from 'aws4fetch';
import { ParleyError } from '../../base/errors';
import { isCredential } from '../../base/httpHeader';
import { type Localizable, localizable } from '../../base/localizable';
import { checkKey } from '../model/resources';

export interface S3Location {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  /** The bucket is in the path, not in the host name; most servers but Amazon's require it. */
  readonly pathStyle: boolean;
}

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Seven days, in seconds, by the protocol. */
const MAX_PRESIGNED_SECONDS = 7 * 24 * 3600;

/** @throws ParleyError `bad-key` */
export function objectUrl(location: S3Location, key: string): URL {
  const path = checkKey(location.prefix + key)
    .split('/')
    .map(encodeSegment)
    .join('/');
  const base = new URL(location.endpoint);
  // URL ignores an invalid host name, which would drop the bucket.
  if (!location.pathStyle) base.hostname = hostWithBucket(base, location.bucket) ?? base.hostname;
  base.pathname = `${base.pathname.replace(/\/$/, '')}/${location.pathStyle ? `${encodeSegment(location.bucket)}/` : ''}${path}`;
  return base;
}

/** Signed or not; undefined for other URLs. */
export function keyInUrl(location: S3Location, url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  const root = objectUrl({ ...location, prefix: '' }, 'x');
  const folder = root.pathname.slice(0, -1);
  if (origin !== root.origin || !pathname.startsWith(folder)) return undefined;
  try {
    const key = decodeURIComponent(pathname.slice(folder.length));
    return key.startsWith(location.prefix) && key.length > location.prefix.length
      ? key.slice(location.prefix.length)
      : undefined;
  } catch {
    return undefined;
  }
}

export async function presign(
  location: S3Location,
  keys: S3Keys,
  key: string,
  expiresIn: number,
  at: number,
): Promise<string> {
  const url = objectUrl(location, key);
  url.searchParams.set('X-Amz-Expires', String(Math.min(MAX_PRESIGNED_SECONDS, Math.max(1, Math.floor(expiresIn)))));
  const signed = await signer(location, keys, { method: 'GET', url: url.href, signQuery: true }, at).sign();
  return signed.url.href;
}

export async function signRequest(
  location: S3Location,
  keys: S3Keys,
  request: { readonly method: string; readonly key: string; readonly headers?: Readonly<Record<string, string>> },
  sha256: string,
  at: number,
): Promise<{ readonly url: string; readonly headers: Headers }> {
  const headers = { ...request.headers, 'x-amz-content-sha256': sha256 };
  const url = objectUrl(location, request.key).href;
  return signer(location, keys, { method: request.method, url, headers }, at)
    .sign()
    .then((signed) => ({ url: signed.url.href, headers: new Headers(signed.headers) }));
}

/** @throws ParleyError `bad-store` */
export function checkLocation(location: S3Location): S3Location {
  const bad = (sentence: Localizable): never => {
    throw new ParleyError('bad-store', sentence);
  };
  const url = URL.canParse(location.endpoint)
    ? new URL(location.endpoint)
    : bad(localizable("The endpoint isn't a URL."));
  if (!/^https?:$/.test(url.protocol)) bad(localizable('The endpoint must begin with http:// or https://.'));
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    bad(localizable('The endpoint must be a plain address.'));
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(location.bucket)) bad(localizable("The bucket name isn't valid."));
  if (!location.pathStyle && hostWithBucket(url, location.bucket) === undefined) {
    throw new ParleyError(
      'bad-store',
      localizable("The bucket {0} can't be part of the host name {1}.", location.bucket, url.hostname),
      {
        hint: localizable('Set "pathStyle" to true to put the bucket into the path.'),
      },
    );
  }
  if (!/^[A-Za-z0-9-]{1,64}$/.test(location.region)) bad(localizable("The region isn't valid."));
  if (location.prefix !== '') {
    if (!location.prefix.endsWith('/')) bad(localizable('The prefix must end with a slash.'));
    checkKey(`${location.prefix}x`);
  }
  return location;
}

/** Errors of the signer would repeat the keys. Throws ParleyError `bad-store`. */
export function checkKeys(keys: S3Keys): S3Keys {
  const { accessKeyId, secretAccessKey, sessionToken = 'none' } = keys;
  const named = [
    [accessKeyId, localizable('Access key ID')],
    [secretAccessKey, localizable('Secret access key')],
    [sessionToken, localizable('Session token')],
  ] as const;
  for (const [key, name] of named) {
    if (isKey(key)) continue;
    throw new ParleyError(
      'bad-store',
      localizable("“{0}” contains spaces, line breaks or other characters that keys can't have.", name),
      { hint: localizable('Run “Parley: Sharing and Server…” to enter it again.') },
    );
  }
  return keys;
}

function isKey(key: unknown): boolean {
  return typeof key === 'string' && isCredential(key);
}

/** Undefined if the result is no valid host name. */
function hostWithBucket({ hostname }: URL, bucket: string): string | undefined {
  const name = `${bucket}.${hostname}`;
  const isName = name.length <= 253 && bucket.split('.').every((label) => HOST_LABEL.test(label));
  const url = `http://${name}/`;
  return isName && URL.canParse(url) && new URL(url).hostname === name ? name : undefined;
}

/** Lower case only, because bucket names are case-sensitive. */
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function signer(
  location: S3Location,
  keys: S3Keys,
  request: { method: string; url: string; headers?: Record<string, string>; signQuery?: boolean },
  at: number,
): AwsV4Signer {
  const datetime = new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, '');
  return new AwsV4Signer({ ...request, ...keys, service: 's3', region: location.region, datetime });
}

/** Also escapes characters that `encodeURIComponent` skips. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
