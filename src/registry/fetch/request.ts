// Sends a GET or HEAD request and follows redirects: encrypted except to this machine, with time
// limits. Uses node:https, because `fetch` gets VS Code's proxy and the system's certificates only
// with `http.fetchAdditionalSupport`, and always requests compressed responses, which can't be
// resumed at a byte.

import type { IncomingMessage } from 'node:http';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import * as l10n from '@vscode/l10n';
import { addressClass } from '../../base/addressClass';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

const MAX_REDIRECTS = 5;
const LOOPBACK = /^(localhost|127(?:\.\d+){3}|\[::1\])$/;

export interface RequestOptions {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** Ms without data. */
  readonly idleMs: number;
  /** May be unencrypted, local or private, because the user configured it. */
  readonly trustedOrigin?: string | undefined;
  /** Redirects may only lead here. */
  readonly onlyOrigin?: string;
}

/**
 * An HTTP error status is a result, not an exception.
 * @returns the response of the last hop
 * @throws ParleyError `bad-url`, `not-public`, `not-encrypted`, `bad-redirect`, `no-network`,
 * `refused`, `timeout`, `bad-certificate`, `connection-lost`; the reason of `signal`
 */
export async function request(
  url: string,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  let at = readUrl(url, options.trustedOrigin);
  for (let hop = 0; ; hop += 1) {
    const response = await send(at, options, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode >= 400 || statusCode === 304 || headers.location === undefined) return response;
    response.destroy();
    if (hop === MAX_REDIRECTS)
      throw new ParleyError('bad-redirect', localizable('{0} redirects too many times.', at.host));
    if (!URL.canParse(headers.location, at.href))
      throw new ParleyError('bad-redirect', localizable('{0} redirects to an invalid address.', at.host));
    const next = readUrl(new URL(headers.location, at).href, options.trustedOrigin);
    if (options.onlyOrigin !== undefined && next.origin !== options.onlyOrigin)
      throw new ParleyError('bad-redirect', localizable('{0} redirects to another server.', at.host));
    if (at.protocol === 'https:' && next.protocol === 'http:')
      throw new ParleyError('bad-redirect', localizable('{0} redirects from https to http.', at.host));
    at = next;
  }
}

export function networkError(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof ParleyError) return error;
  const code = codeOf(error);
  if (code === undefined) return error;
  const options = { cause: error, hint: l10n.t('Check your network connection and the proxy settings of VS Code.') };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENETUNREACH' || code === 'EHOSTUNREACH')
    return new ParleyError('no-network', localizable("{0} can't be reached.", host), options);
  if (code === 'ECONNREFUSED')
    return new ParleyError('refused', localizable('{0} refuses connections.', host), options);
  if (code === 'ETIMEDOUT') return timeout(host);
  if (/^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT)/.test(code))
    return new ParleyError(
      'bad-certificate',
      localizable("The certificate of {0} isn't trusted ({1}).", host, code),
      options,
    );
  if (/^(E[A-Z]+|HPE_\w+)$/.test(code) && !DISK.has(code))
    return new ParleyError(
      'connection-lost',
      localizable('The connection to {0} was lost ({1}).', host, code),
      options,
    );
  return error;
}

/** Errors of files, not of sockets. */
const DISK: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EROFS',
  'EACCES',
  'EPERM',
  'ENOENT',
  'EEXIST',
]);

function timeout(host: string): ParleyError {
  return new ParleyError('timeout', localizable("{0} isn't responding.", host), {
    hint: localizable('Check your network connection and the proxy settings of VS Code.'),
  });
}

function readUrl(text: string, trustedOrigin: string | undefined): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ParleyError('bad-url', localizable('“{0}” is not an http or https address.', text.slice(0, 200)));
  const isExpected = trustedOrigin !== undefined && isNear(new URL(trustedOrigin));
  if (isNear(url) && !isExpected)
    throw new ParleyError(
      'not-public',
      localizable('{0} is on this machine or in the local network, where the registry must not lead.', url.host),
    );
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && url.origin !== trustedOrigin)
    throw new ParleyError('not-encrypted', localizable('The address of {0} is not encrypted (https).', url.host));
  return url;
}

function isNear({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return addressClass(host) !== 'public';
  return !host.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(host);
}

function send(url: URL, options: RequestOptions, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { method = 'GET', headers = {}, idleMs } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const sent = (url.protocol === 'https:' ? https : http).request(url, {
      method,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'parley', ...headers },
    });
    // The socket's timeout doesn't cover the time before, such as a proxy lookup.
    const connectTimeout = setTimeout(() => sent.destroy(timeout(url.host)), idleMs);
    const abort = (): void => {
      sent.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    sent.once('close', () => {
      clearTimeout(connectTimeout);
      signal.removeEventListener('abort', abort);
      reject(new ParleyError('connection-lost', localizable('The connection to {0} was lost.', url.host)));
    });
    let answer: http.IncomingMessage | undefined;
    sent.setTimeout(idleMs, () => (answer ?? sent).destroy(timeout(url.host)));
    sent.on('error', (error) => reject(signal.aborted ? signal.reason : networkError(error, url.host)));
    sent.once('response', (response) => {
      clearTimeout(connectTimeout);
      answer = response;
      resolve(response);
    });
    sent.end();
  });
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Throws the error of `tooLarge`, of the connection, or on abort. */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
  signal: AbortSignal,
): Promise<string> {
  const abort = (): void => {
    response.destroy(new Error('aborted'));
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size).toString('utf8');
  } finally {
    signal.removeEventListener('abort', abort);
    response.destroy();
  }
}
