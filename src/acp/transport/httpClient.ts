// HTTP exchanges with one URL: headers, cookies, no redirects. Uses Node's own client, because VS
// Code patches it with the user's proxy and certificates.
import http from 'node:http';
import https from 'node:https';
import { networkError } from './remoteError';

/** The body is unread; reading it slowly slows the server. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: http.IncomingMessage;
}

export class HttpClient {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: http.Agent;
  readonly #jar: CookieJar;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
    this.#jar = new CookieJar(url);
    // Unlimited sockets, because each session holds a stream open; the server's limits apply.
    const options = { keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 2 };
    this.#agent = url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
  }

  /** @throws ParleyError for network and TLS errors; the signal's reason */
  async request(
    method: 'GET' | 'POST' | 'DELETE',
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.#exchange(method, headers, body, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const isStale = error instanceof StaleSocket;
        // The server closed an idle connection just as it was reused, and got no request.
        if (!isStale || !isFirst) throw networkError(this.#url, isStale ? error.cause : error);
      }
    }
  }

  dispose(): void {
    this.#agent.destroy();
  }

  #exchange(
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { request: send } = this.#url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(body);
      const request = send(this.#url, {
        method,
        agent: this.#agent,
        signal,
        headers: {
          ...this.#allHeaders(),
          ...headers,
          'Accept-Encoding': 'identity',
          ...(bytes && { 'Content-Length': String(bytes.length) }),
        },
      });
      let isAnswered = false;
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = request.reusedSocket && !isAnswered && error.code === 'ECONNRESET';
        reject(isStale ? new StaleSocket(error) : error);
      });
      request.on('response', (answer) => {
        isAnswered = true;
        answer.on('error', () => {}); // handled by the reader of the body
        this.#jar.store(answer.headers['set-cookie']);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
      });
      request.end(bytes);
    });
  }

  #allHeaders(): Record<string, string> {
    const cookie = this.#jar.header();
    if (cookie === undefined) return { ...this.#headers };
    const name = Object.keys(this.#headers).find((key) => key.toLowerCase() === 'cookie') ?? 'Cookie';
    const own = this.#headers[name];
    return { ...this.#headers, [name]: own === undefined ? cookie : `${own}; ${cookie}` };
  }
}

export function mediaType(answer: HttpAnswer): string {
  return (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @param limit in bytes; a longer body is truncated if `cut`, otherwise undefined */
export async function readBody(answer: HttpAnswer, limit: number, cut: boolean): Promise<string | undefined> {
  let left = limit;
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left >= 0) continue;
    if (!cut) return undefined; // leaving the loop destroys the stream
    break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

class StaleSocket extends Error {
  constructor(cause: Error) {
    super('a connection that was kept open was closed', { cause });
  }
}

const MAX_COOKIES = 50;
const MAX_COOKIE_CHARS = 4096;

/** Load balancers route the requests of a connection by cookies (protocol.md 6.1). */
export class CookieJar {
  readonly #url: URL;
  readonly #cookies = new Map<string, string>();

  constructor(url: URL) {
    this.#url = url;
  }

  /** Handles `Set-Cookie` headers (RFC 6265, 5.2). */
  store(headers: readonly string[] | undefined): void {
    for (const header of headers ?? []) this.#store(header);
  }

  header(): string | undefined {
    if (this.#cookies.size === 0) return undefined;
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #store(header: string): void {
    if (header.length > MAX_COOKIE_CHARS) return;
    const [pair = '', ...attributes] = header.split(';');
    const [name, value] = split(pair);
    if (name === '' || value === undefined) return;
    const given = new Map(
      attributes.map((attribute) => split(attribute)).map(([key, text]) => [key.toLowerCase(), text]),
    );
    if (given.has('secure') && this.#url.protocol !== 'https:') return;
    const path = given.get('path') ?? '';
    if (path.startsWith('/') && !isWithin(this.#url.pathname, path)) return;
    if (isExpired(given.get('max-age'), given.get('expires'))) {
      this.#cookies.delete(name);
    } else if (this.#cookies.has(name) || this.#cookies.size < MAX_COOKIES) {
      this.#cookies.set(name, value);
    }
  }
}

function split(pair: string): [name: string, value: string | undefined] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair.trim(), undefined] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function isExpired(maxAge: string | undefined, expires: string | undefined): boolean {
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const until = expires === undefined ? Number.NaN : Date.parse(expires);
  return !Number.isNaN(until) && until <= Date.now();
}
