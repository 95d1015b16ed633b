// Decides who may use our server: callers with the token, under the server's own names, and no web
// page. Everything else is refused before it is read.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ParleyError } from '../../base/errors';
import { ServerRefusal } from './serverRefusal';

const TOKEN_BYTES = 32;
const MIN_TOKEN_CHARS = 43;

/** A new token of 256 random bits, base64url. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export class ServerAuth {
  readonly #digest: Buffer;

  /** @throws ParleyError `weak-token` for one that cannot hold 256 bits */
  constructor(token: string) {
    if (!/^[\w~+/=.-]+$/.test(token) || token.length < MIN_TOKEN_CHARS) {
      throw new ParleyError('weak-token', 'The token of the local server is too short.');
    }
    this.#digest = digest(token);
  }

  /**
   * Browsers tricked by a page send an Origin, or a Host that isn't ours (DNS rebinding).
   * @throws ServerRefusal 400, 403, 421
   */
  checkCaller({ headers, headersDistinct }: IncomingMessage, hosts: readonly string[]): void {
    // A proxy between may go by another one of them than we would (RFC 9112, 3.2).
    if ((headersDistinct.host?.length ?? 0) > 1) throw new ServerRefusal(400, 'server_error', 'More than one Host');
    if (!hosts.includes(headers.host?.toLowerCase() ?? '')) {
      throw new ServerRefusal(421, 'server_error', 'Misdirected Request');
    }
    if (headers.origin !== undefined) throw new ServerRefusal(403, 'server_error', 'Web pages may not use this server');
  }

  /** `Authorization: Bearer …`, compared in constant time. @throws ServerRefusal 401 */
  checkToken(headers: IncomingHttpHeaders): void {
    const given = /^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined || !timingSafeEqual(digest(given), this.#digest)) {
      throw new ServerRefusal(401, 'server_error', 'Unauthorized');
    }
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
