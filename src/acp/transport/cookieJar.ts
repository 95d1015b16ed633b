// The cookies of one connection: load balancers use them to route each request of a connection to
// the same server (protocol.md 6.1).

const MAX_COOKIES = 50;
const MAX_COOKIE_CHARS = 4096;

export class CookieJar {
  readonly #url: URL;
  readonly #cookies = new Map<string, string>();

  constructor(url: URL) {
    this.#url = url;
  }

  /** Takes the `Set-Cookie` headers of an answer (RFC 6265, 5.2). */
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

/** Returns whether a cookie is being taken back. */
function isExpired(maxAge: string | undefined, expires: string | undefined): boolean {
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  const until = expires === undefined ? Number.NaN : Date.parse(expires);
  return !Number.isNaN(until) && until <= Date.now();
}
