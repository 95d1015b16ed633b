// Fetches untrusted URLs, guarded against server-side request forgery: http(s) only, no user in the
// URL, every address of every hop checked, few redirects and none from https to http, bounded in
// bytes and time, credentials for the first origin only, and no fetched content in errors.

import type { IncomingMessage } from 'node:http';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Deadline } from '../model/deadline';
import {
  ACCEPT_ENCODING,
  BlockedAddress,
  discardBody,
  GuardedConnections,
  type NameLookup,
  readBody,
} from './guardedConnections';
import { type ConsentPolicy, OriginConsent } from './originConsent';

const MAX_REDIRECTS = 3;

export interface NetworkPolicy extends ConsentPolicy {
  /** Own server, configured agents and stores, allowed origins, at any address. */
  isAllowed(origin: string): boolean;
  readonly listedOnly?: boolean;
  credentials?(origin: string): Promise<Readonly<Record<string, string>> | undefined>;
}

export interface GuardOptions {
  /** Concurrent connections per origin; 4 by default. */
  readonly maxPerOrigin?: number;
  readonly lookup?: NameLookup;
  readonly connections?: Connections;
}

type Connections = Pick<GuardedConnections, 'get' | 'classOf' | 'dispose'>;

export class Guard implements Disposable {
  readonly policy: NetworkPolicy;
  readonly connections: Connections;
  readonly consent: OriginConsent;

  constructor(policy: NetworkPolicy, options: GuardOptions = {}) {
    this.policy = policy;
    this.connections = options.connections ?? new GuardedConnections(options.maxPerOrigin, options.lookup);
    this.consent = new OriginConsent(policy, (hostname) => this.connections.classOf(hostname));
  }

  dispose(): void {
    this.connections.dispose();
  }
}

export interface GuardedGetOptions {
  readonly guard: Guard;
  readonly maxBytes: number;
  /** For all hops and the body, without the time spent asking the user. */
  readonly timeoutMs: number;
  /** False: a blocked address fails, and the caller asks. */
  readonly asks?: false;
  /** Headers for every hop (`if-none-match`); no credentials. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GuardedResponse {
  /** Never a redirect. */
  readonly status: number;
  readonly etag?: string;
  readonly contentType?: string;
  readonly body: Uint8Array;
}

/**
 * Any status is a result. Errors contain no content of servers.
 * @throws ParleyError `bad-url`, `blocked-address`, `not-listed`, `refused`, `no-such-host`,
 * `timeout`, `too-large`, `bad-encoding`, `bad-redirect`, `connection-lost`, `cancelled`
 */
export async function guardedGet(
  url: string,
  options: GuardedGetOptions,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  let at = readUrl(url, 'bad-url');
  const first = at.origin;
  let remainingMs = options.timeoutMs;
  for (let hop = 0; ; hop++) {
    // A redirect must not direct our credentials anywhere, not even to their own server.
    const credentials = at.origin === first ? await options.guard.policy.credentials?.(at.origin) : undefined;
    const headers = { 'accept-encoding': ACCEPT_ENCODING, accept: '*/*', ...options.headers, ...credentials };
    const startedAt = performance.now();
    const { result, location, waited } = await visit(at, headers, options, remainingMs, signal);
    if (result !== undefined) return result;
    remainingMs -= performance.now() - startedAt - waited;
    if (hop === MAX_REDIRECTS)
      throw new ParleyError('bad-redirect', localizable('{0} redirects too many times.', first));
    const next = readUrl(location, 'bad-redirect', at);
    if (at.protocol === 'https:' && next.protocol === 'http:') {
      throw new ParleyError('bad-redirect', localizable('{0} redirects from https to http.', first));
    }
    at = next;
  }
}

interface Visit {
  readonly result?: GuardedResponse;
  readonly location: string;
  readonly waited: number;
}

async function visit(
  url: URL,
  headers: Readonly<Record<string, string>>,
  options: GuardedGetOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Visit> {
  const { guard } = options;
  const { origin } = url;
  const allowed = guard.consent.isAllowed(origin);
  if (!allowed && guard.policy.listedOnly === true) {
    throw new ParleyError('not-listed', localizable("{0} isn't on the list of allowed servers.", origin));
  }
  try {
    return await exchange(url, headers, allowed, options.maxBytes, guard, timeoutMs, signal);
  } catch (error) {
    if (!(error instanceof BlockedAddress) || options.asks === false) throw error;
    const asked = performance.now();
    if (!(await guard.consent.mayVisit(error, true, signal))) throw error;
    const waited = performance.now() - asked;
    return { ...(await exchange(url, headers, true, options.maxBytes, guard, timeoutMs, signal)), waited };
  }
}

async function exchange(
  url: URL,
  headers: Readonly<Record<string, string>>,
  allowed: boolean,
  maxBytes: number,
  guard: Guard,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Visit> {
  const deadline = new Deadline(url.origin, Math.max(0, timeoutMs), signal);
  let response: IncomingMessage | undefined;
  const stop = (): void => {
    response?.destroy(new Error('aborted'));
  };
  deadline.signal.addEventListener('abort', stop, { once: true });
  try {
    response = await guard.connections.get(url, headers, allowed, deadline.signal);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (status >= 300 && status < 400 && status !== 304 && location !== undefined) {
      discardBody(response);
      return { location, waited: 0 };
    }
    const isSuccess = status >= 200 && status < 300;
    if (!isSuccess) discardBody(response);
    const body = isSuccess ? await readBody(response, maxBytes) : new Uint8Array();
    const { etag } = response.headers;
    const contentType = response.headers['content-type'];
    return { result: { status, body, etag, contentType }, location: '', waited: 0 };
  } catch (error) {
    response?.destroy();
    if (signal.aborted) throw new ParleyError('cancelled', localizable('The request was canceled.'));
    if (deadline.signal.aborted)
      throw new ParleyError('timeout', localizable("{0} didn't respond within {1} s.", url.origin, timeoutMs / 1000));
    throw networkError(error, url.origin);
  } finally {
    deadline.dispose();
    deadline.signal.removeEventListener('abort', stop);
  }
}

function readUrl(text: string, code: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new ParleyError(code, localizable("This isn't an http or https URL."));
  }
  if (url.username !== '' || url.password !== '') {
    throw new ParleyError(code, localizable('The URL of {0} contains a user name or a password.', url.host));
  }
  return url;
}

function networkError(error: unknown, origin: string): ParleyError {
  if (error instanceof ParleyError) return error;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return new ParleyError('refused', localizable('{0} refuses connections.', origin));
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
    return new ParleyError('no-such-host', localizable('The host {0} is unknown.', origin));
  }
  if (code === 'ETIMEDOUT') return new ParleyError('timeout', localizable("{0} isn't responding.", origin));
  // Only the code, because a parser's message may quote content.
  return new ParleyError(
    'connection-lost',
    localizable('The connection to {0} was lost ({1}).', origin, code ?? localizable('no reason given')),
  );
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
