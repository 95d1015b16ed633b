// Connections for untrusted URLs. A name is resolved once per connection, all of its addresses are
// checked, and the connection uses a checked address, which prevents DNS rebinding.

import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import * as l10n from '@vscode/l10n';
import { type AddressClass, worstClass } from '../../base/addressClass';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type NameLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The host resolves to an address that untrusted URLs must not reach. */
export class BlockedAddress extends ParleyError {
  readonly origin: string;
  readonly addressClass: AddressClass;

  constructor(origin: string, found: AddressClass) {
    super('blocked-address', l10n.t("{0} isn't on the public internet.", origin), {
      hint: l10n.t('Allow this server if you trust it.'),
    });
    this.origin = origin;
    this.addressClass = found;
  }
}

/** Without TLS only: for https, editors add the certificates that the user trusts. */
const LOOPBACK_ORIGIN = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Connections of allowed origins are never reused for checked requests. */
export class GuardedConnections implements Disposable {
  readonly #lookup: NameLookup;
  readonly #agents: Readonly<Record<'judged' | 'allowed', { readonly http: http.Agent; readonly https: https.Agent }>>;

  constructor(
    maxPerOrigin = 4,
    lookup: NameLookup = (hostname) => systemLookup(hostname, { all: true, order: 'verbatim' }),
  ) {
    this.#lookup = lookup;
    const options = {
      keepAlive: true,
      maxSockets: maxPerOrigin,
      maxFreeSockets: maxPerOrigin,
      scheduling: 'lifo',
    } as const;
    const pair = () => ({ http: new http.Agent(options), https: new https.Agent(options) });
    this.#agents = { judged: pair(), allowed: pair() };
  }

  /**
   * For `allowed` URLs, addresses are not checked and proxy settings apply. Throws BlockedAddress;
   * socket errors.
   */
  async get(
    url: URL,
    headers: Readonly<Record<string, string>>,
    allowed: boolean,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const host = withoutBrackets(url.hostname);
    if (!allowed && isIP(host) !== 0) this.#checkAddresses(url.origin, [host]);
    const send = (): Promise<http.IncomingMessage> => this.#send(url, headers, allowed, signal);
    return await send().catch((error: unknown) => {
      // The server closed a reused connection just as it was written to; a GET can be repeated.
      if (error instanceof StaleConnection) return send();
      throw error;
    });
  }

  /** Undefined if unknown. Each connection checks its own lookup. */
  async classOf(hostname: string): Promise<AddressClass | undefined> {
    const host = withoutBrackets(hostname);
    if (isIP(host) !== 0) return worstClass([host]);
    const found = await this.#lookup(host).catch(() => []);
    return found.length === 0 ? undefined : worstClass(found.map(({ address }) => address));
  }

  dispose(): void {
    for (const pair of Object.values(this.#agents)) {
      pair.http.destroy();
      pair.https.destroy();
    }
  }

  #checkAddresses(origin: string, addresses: readonly string[]): void {
    const found = worstClass(addresses);
    if (found !== 'public') throw new BlockedAddress(origin, found);
  }

  #send(url: URL, headers: Readonly<Record<string, string>>, allowed: boolean, signal: AbortSignal) {
    return new Promise<http.IncomingMessage>((resolve, reject) => {
      signal.throwIfAborted();
      const secure = url.protocol === 'https:';
      const options: https.RequestOptions = {
        ...urlToHttpOptions(url),
        agent: this.#agents[allowed ? 'allowed' : 'judged'][secure ? 'https' : 'http'],
        headers,
        lookup: this.#lookupFor(url.origin, allowed),
      };
      // Editors replace `request` to use a proxy, which would resolve names itself.
      const request =
        !allowed || LOOPBACK_ORIGIN.test(url.origin)
          ? new http.ClientRequest(options as http.ClientRequestArgs)
          : (secure ? https : http).request(options);
      const abort = (): void => {
        request.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal.addEventListener('abort', abort, { once: true });
      request.once('close', () => signal.removeEventListener('abort', abort));
      request.on('error', (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
        reject(stale ? new StaleConnection() : error);
      });
      // Such as an answer that switches protocols.
      request.once('close', () => reject(new Error('closed without an answer')));
      request.once('response', resolve);
      request.end();
    });
  }

  #lookupFor(origin: string, allowed: boolean): LookupFunction {
    return (hostname, options, callback) => {
      this.#lookup(hostname).then(
        (found) => {
          const addresses = found.map(({ address }) => address);
          try {
            if (!allowed) this.#checkAddresses(origin, addresses);
          } catch (error) {
            callback(error as Error, '', 0);
            return;
          }
          const [first] = found;
          if (first === undefined) callback(new Error('no address'), '', 0);
          else if (options.all === true) callback(null, [...found]);
          else callback(null, first.address, first.family);
        },
        (error: Error) => callback(error as NodeJS.ErrnoException, '', 0),
      );
    };
  }
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

class StaleConnection extends Error {}

/** Other encodings that servers use are also decoded, if possible. */
export const ACCEPT_ENCODING = 'gzip, br';

/** Largest unwanted body that is read to reuse its connection, in bytes. */
const MAX_DISCARDED_BYTES = 64 * 1024;

/**
 * Bounds the compressed size too. Throws ParleyError `too-large`, `bad-encoding`; socket errors.
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): ParleyError => {
    const error = new ParleyError('too-large', localizable('The server sent more than {0} bytes.', maxBytes));
    response.destroy(error);
    return error;
  };
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const decoder = decoderOf(response);
  if (decoder !== undefined) {
    // Compressed data can continue forever without producing output.
    let packed = 0;
    response.on('data', (chunk: Buffer) => {
      packed += chunk.length;
      if (packed > maxBytes) tooLarge();
    });
  }
  const source: Readable = decoder === undefined ? response : pipeline(response, decoder, () => {});
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    response.destroy();
    if (/^(Z_|ERR_.*BROTLI|ERR__ERROR)/.test(String((error as NodeJS.ErrnoException).code))) {
      throw new ParleyError('bad-encoding', localizable('The server sent damaged compressed data.'));
    }
    throw error;
  }
  return Buffer.concat(chunks, size);
}

function decoderOf(response: IncomingMessage) {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '' || encoding === 'aws-chunked') return undefined;
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  if (encoding === 'br') return createBrotliDecompress();
  response.destroy();
  throw new ParleyError('bad-encoding', localizable('The server sent data in an unsupported encoding.'));
}

/** In milliseconds. */
const DISCARD_TIMEOUT_MS = 2000;

/** Reads a small body, so that the connection can be reused. */
export function discardBody(response: IncomingMessage): void {
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) response.destroy();
  });
  response.on('error', () => {});
  const timer = setTimeout(() => response.destroy(), DISCARD_TIMEOUT_MS);
  // The connection may serve another request by then.
  for (const end of ['end', 'close']) response.once(end, () => clearTimeout(timer));
}
