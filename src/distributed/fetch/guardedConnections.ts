// Connections for URLs from untrusted sources. A name is resolved once for each connection, every
// address of it is checked, and the connection goes to a checked address: nothing can change in
// between (no DNS rebinding).
import { lookup as systemLookup } from 'node:dns/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import * as l10n from '@vscode/l10n';
import { type AddressClass, worstClass } from '../../base/addressClass';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type NameLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The host leads to an address that strangers must not make us visit. */
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

/** This machine without TLS: with it, editors add the certificates that the user trusts. */
const HERE = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Keep-alive with a cap per origin. Connections of allowed origins never serve checked requests.
 */
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
   * Sends a GET, without following redirects.
   * @param allowed addresses are not checked, and proxy settings apply
   * @throws BlockedAddress, or what the socket reports
   */
  async get(
    url: URL,
    headers: Readonly<Record<string, string>>,
    allowed: boolean,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const host = bare(url.hostname);
    if (!allowed && isIP(host) !== 0) this.#judge(url.origin, [host]);
    try {
      return await this.#send(url, headers, allowed, signal);
    } catch (error) {
      // The server closed a kept connection just as we wrote to it: nothing was lost, a GET can be
      // sent again.
      if (!(error instanceof StaleConnection)) throw error;
      return await this.#send(url, headers, allowed, signal);
    }
  }

  /** Where a host leads now; undefined if unknown. Each connection checks its own lookup. */
  async classOf(hostname: string): Promise<AddressClass | undefined> {
    const host = bare(hostname);
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

  #judge(origin: string, addresses: readonly string[]): void {
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
      // `request` is what an editor replaces to use a proxy, which would look the name up: checked
      // requests go straight out, and so do those to this machine.
      const request =
        !allowed || HERE.test(url.origin)
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
      // Whatever else may end it (an answer that switches protocols, say), it ends.
      request.once('close', () => reject(new Error('closed without an answer')));
      request.once('response', resolve);
      request.end();
    });
  }

  #lookupFor(origin: string, allowed: boolean): LookupFunction {
    return (hostname, options, callback) => {
      this.#lookup(hostname).then(
        (found) => {
          try {
            if (!allowed)
              this.#judge(
                origin,
                found.map(({ address }) => address),
              );
          } catch (error) {
            callback(error as Error, '', 0);
            return;
          }
          const first = found[0];
          if (first === undefined) callback(new Error('no address'), '', 0);
          else if (options.all === true)
            callback(
              null,
              found.map(({ address, family }) => ({ address, family })),
            );
          else callback(null, first.address, first.family);
        },
        (error: Error) => callback(error as NodeJS.ErrnoException, '', 0),
      );
    };
  }
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

class StaleConnection extends Error {}
