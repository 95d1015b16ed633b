// A bucket on an S3-compatible server as the storage server of sessions. Objects are immutable
// under unique keys, which avoids conditional writes: servers differ too much in those.

import { randomUUID } from 'node:crypto';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { isBrokenConnection } from '../model/deadline';
import { MAX_MESSAGE_BYTES } from '../model/model';
import { type ResourceStore, type StoredResource, sha256Of, type UrlOptions } from '../model/resources';
import { withHash } from '../model/resourceUrl';
import { checkKeys, checkLocation, keyInUrl, presign, type S3Keys, type S3Location, signRequest } from './s3Signer';

export interface S3StoreOptions {
  readonly location: S3Location;
  readonly keys: S3Keys;
  /** Per request; 15 s by default. */
  readonly timeoutMs?: number;
  now?(): number;
}

const MAX_OBJECT_BYTES = 4 * MAX_MESSAGE_BYTES;
const MAX_ERROR_CHARS = 16 * 1024;

export class S3Store implements ResourceStore {
  readonly id: string;
  readonly isLocal = false;
  readonly #location: S3Location;
  readonly #keys: S3Keys;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  refusesKeys = false;

  /** @throws ParleyError `bad-store` for invalid settings or keys */
  constructor(options: S3StoreOptions) {
    this.#location = checkLocation(options.location);
    this.#keys = checkKeys(options.keys);
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#now = options.now ?? Date.now;
    this.id = storeIdOf(this.#location);
  }

  put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource> {
    return this.#put(key, bytes, { 'content-type': contentType }, signal);
  }

  async get(key: string, signal: AbortSignal): Promise<Uint8Array> {
    const response = await this.#send('GET', key, {}, undefined, signal);
    if (!response.ok) throw await this.#refusal(response);
    return await this.#guarded(signal, () => readUpTo(response, MAX_OBJECT_BYTES));
  }

  async urlFor(key: string, { expiresIn, sha256 }: UrlOptions): Promise<string> {
    const url = await presign(this.#location, this.#keys, key, expiresIn, this.#now());
    return sha256 === undefined ? url : withHash(url, sha256);
  }

  async keyOf(url: string): Promise<string | undefined> {
    return keyInUrl(this.#location, url);
  }

  /** `checksSignatures` is false if anyone with a URL can read. Throws as {@link put}. */
  async probe(signal: AbortSignal): Promise<{ readonly checksSignatures: boolean }> {
    const key = `probe/${randomUUID()}.json`;
    await this.put(key, Buffer.from('{}'), 'application/json', signal);
    try {
      await this.probeLink(key, signal);
      return { checksSignatures: await this.#refusesTampering(key, signal) };
    } finally {
      await this.remove(key, signal);
    }
  }

  /** @throws ParleyError as {@link get} */
  async probeLink(key: string, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch(await this.urlFor(key, { expiresIn: 60 }), { method: 'GET' }, signal);
    if (!response.ok) throw await this.#refusal(response);
    this.refusesKeys = false;
    await response.body?.cancel();
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const response = await this.#send('DELETE', key, {}, undefined, signal);
    if (!response.ok && response.status !== 404) throw await this.#refusal(response);
    await response.body?.cancel();
  }

  async #put(key: string, bytes: Uint8Array, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const response = await this.#send('PUT', key, headers, bytes, signal);
    if (!response.ok) throw await this.#refusal(response, true);
    this.refusesKeys = false;
    await response.body?.cancel();
    return { key, sha256: sha256Of(bytes), bytes: bytes.length };
  }

  async #refusesTampering(key: string, signal: AbortSignal): Promise<boolean> {
    const url = new URL(await this.urlFor(key, { expiresIn: 60 }));
    url.searchParams.set('X-Amz-Signature', '0'.repeat(64));
    const response = await this.#fetch(url.href, { method: 'GET' }, signal);
    await response.body?.cancel();
    return response.status === 403;
  }

  async #send(
    method: string,
    key: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const sha256 = sha256Of(body ?? new Uint8Array());
    const signed = await signRequest(this.#location, this.#keys, { method, key, headers }, sha256, this.#now());
    // The caller's buffer may be a view of a larger one.
    return this.#fetch(
      signed.url,
      { method, headers: signed.headers, body: body ? Uint8Array.from(body) : undefined },
      signal,
    );
  }

  #fetch(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]);
    const send = (): Promise<Response> => fetch(url, { ...init, redirect: 'manual', signal: either });
    const sendAgain = (error: unknown): Promise<Response> => {
      if (either.aborted || !isBrokenConnection(error)) throw error;
      return send();
    };
    return this.#guarded(signal, () => send().catch(sendAgain));
  }

  async #guarded<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) throw new ParleyError('cancelled', localizable('The request was canceled.'));
      if (error instanceof ParleyError) throw error;
      throw new ParleyError('store-down', localizable("The storage server can't be reached."), {
        hint: localizable('Messages are kept on this machine and uploaded when the server is back.'),
        cause: error,
      });
    }
  }

  async #refusal(response: Response, isWrite = false): Promise<ParleyError> {
    const bytes = await readUpTo(response, MAX_ERROR_CHARS).catch(() => new Uint8Array());
    const body = new TextDecoder().decode(bytes);
    const { status, headers } = response;
    const refusal: S3Refusal = { status, body, date: headers.get('date'), now: this.#now(), isWrite };
    const error = s3Error(refusal);
    this.refusesKeys = isOfSettings(error);
    return error;
  }
}

export function storeIdOf({ endpoint, bucket, prefix }: S3Location): string {
  return `s3:${new URL(endpoint).origin}/${bucket}/${prefix}`;
}

async function readUpTo(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw new ParleyError('too-large', localizable('The object exceeds {0} bytes.', limit));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Smaller differences between clocks are never the reason. */
const MAX_SKEW_MS = 5 * 60_000;
/** Status of servers that aren't S3-compatible; those that are add an error code. */
const NOT_S3: ReadonlySet<number> = new Set([404, 405, 410, 501]);

export interface S3Refusal {
  readonly status: number;
  readonly body: string;
  readonly date: string | null;
  readonly now: number;
  readonly isWrite: boolean;
}

export function s3Error(refusal: S3Refusal): ParleyError {
  const { status, isWrite } = refusal;
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(refusal.body)?.[1] ?? '';
  const skew = skewOf(refusal);
  if (code === 'RequestTimeTooSkewed' || (status === 403 && Math.abs(skew) > 3 * MAX_SKEW_MS)) {
    const minutes = Math.round(Math.abs(skew) / 60_000);
    const message =
      minutes === 0
        ? localizable("This machine's clock differs from the storage server's.")
        : skew > 0
          ? localizable("This machine's clock is {0} minutes ahead of the storage server's.", minutes)
          : localizable("This machine's clock is {0} minutes behind the storage server's.", minutes);
    return new ParleyError('clock-skew', message, {
      hint: localizable('Correct the clock of this machine.'),
    });
  }
  if (code === 'NoSuchBucket') {
    return new ParleyError('no-such-bucket', localizable("The bucket doesn't exist on the storage server."), {
      hint: localizable('Create the bucket, or correct its name in the settings.'),
    });
  }
  if (isWrite && code === '' && NOT_S3.has(status)) {
    return new ParleyError(
      'wrong-endpoint',
      localizable("The server at the endpoint doesn't answer like an S3-compatible storage server ({0}).", status),
      {
        hint: localizable('Correct the endpoint in the settings.'),
      },
    );
  }
  if (status === 404) return new ParleyError('not-found', localizable("The storage server doesn't have this object."));
  if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed') {
    return new ParleyError('wrong-region', localizable('The bucket is in another region, or at another endpoint.'), {
      hint: localizable('Correct the region and the endpoint in the settings.'),
    });
  }
  if (status === 401 || status === 403) {
    return new ParleyError(
      'store-denied',
      localizable('The storage server denied access{0}.', code === '' ? '' : ` (${code})`),
      {
        hint: localizable('Check the access key and its permissions for the bucket.'),
      },
    );
  }
  if (status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501)) {
    return new ParleyError('store-down', localizable('The storage server is unavailable ({0}).', status));
  }
  return new ParleyError(
    'store-error',
    localizable('The storage server rejected the request ({0}{1}).', status, code === '' ? '' : ` ${code}`),
  );
}

function skewOf({ date, now }: S3Refusal): number {
  const there = Date.parse(date ?? '');
  const skew = Number.isNaN(there) ? 0 : now - there;
  return Math.abs(skew) < MAX_SKEW_MS ? 0 : skew;
}

/** The error concerns one object, so others can continue. */
export function isOfObject(error: unknown): error is ParleyError {
  return error instanceof ParleyError && /^(store-error|too-large|bad-key|torn)$/.test(error.code);
}

/** The error persists until the settings, the keys, the clock or the bucket change. */
export function isOfSettings({ code }: ParleyError): boolean {
  return /^(store-denied|no-such-bucket|wrong-region|wrong-endpoint|clock-skew)$/.test(code);
}
