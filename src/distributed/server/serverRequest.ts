// Reads and authenticates requests to our server. Bodies are bounded and of a type that browsers
// can't send without a preflight.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { MAX_DESCRIPTOR_BYTES, MAX_MESSAGE_BYTES, parseBounded, readAs } from '../model/model';

export type RefusalCode = 'server_error' | 'invalid_input' | 'not_found';

export class ServerRefusal extends ParleyError {
  readonly status: number;
  readonly wireCode: RefusalCode;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, wireCode: RefusalCode, message: string, retryAfter?: number) {
    super(`refused-${status}`, message);
    this.status = status;
    this.wireCode = wireCode;
    this.retryAfter = retryAfter;
  }
}

export function notFound(what: string): ServerRefusal {
  return new ServerRefusal(404, 'not_found', `${what} not found`);
}

export function invalidInput(message: string, status = 422): ServerRefusal {
  return new ServerRefusal(status, 'invalid_input', message);
}

export const MAX_BODY_BYTES = MAX_MESSAGE_BYTES + MAX_DESCRIPTOR_BYTES;

/**
 * Accepts a missing type (Python client), but none that web forms can send. Throws ServerRefusal.
 */
export async function readJson<T>(
  request: IncomingMessage,
  response: ServerResponse,
  schema: z.ZodMiniType<T>,
): Promise<T> {
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw invalidInput('The body has to be application/json');
  }
  const bytes = await readBody(request, response);
  try {
    return readAs(schema, parseBounded(bytes, MAX_BODY_BYTES), 'The request');
  } catch (error) {
    throw error instanceof ParleyError ? invalidInput(error.message) : error;
  }
}

function readBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  const tooLarge = (): ServerRefusal => invalidInput(`The request is larger than ${MAX_BODY_BYTES} bytes`, 413);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  // Clients may wait for this before sending the body (RFC 9110, 10.1.1).
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) {
        chunks.push(chunk);
        return;
      }
      // The response drains the rest of the request.
      request.off('data', onData).pause();
      reject(tooLarge());
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

/** @throws ServerRefusal 422 */
export function readCount(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw invalidInput(`${name} has to be a whole number from ${min} to ${max}`);
  return value;
}

/** Throws ServerRefusal 422 like upstream. */
export function readUuid(text: string, name: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw invalidInput(`${name} has to be a UUID`);
}

const TOKEN_BYTES = 32;
const MIN_TOKEN_CHARS = 43;

/** 256 random bits, base64url. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export class ServerAuth {
  readonly #digest: Buffer;

  /** @throws ParleyError `weak-token` for less than 256 bits */
  constructor(token: string) {
    if (!/^[\w~+/=.-]+$/.test(token) || token.length < MIN_TOKEN_CHARS) {
      throw new ParleyError('weak-token', 'The token of the local server is too short.');
    }
    this.#digest = digest(token);
  }

  /** Rejects browsers: an Origin, or a foreign Host (DNS rebinding). Throws ServerRefusal. */
  checkCaller({ headers, headersDistinct }: IncomingMessage, hosts: readonly string[]): void {
    // A proxy may choose another one than we would (RFC 9112, 3.2).
    if ((headersDistinct.host?.length ?? 0) > 1) throw new ServerRefusal(400, 'server_error', 'More than one Host');
    if (!hosts.includes(headers.host?.toLowerCase() ?? '')) {
      throw new ServerRefusal(421, 'server_error', 'Misdirected Request');
    }
    if (headers.origin !== undefined) throw new ServerRefusal(403, 'server_error', 'Web pages may not use this server');
  }

  /** In constant time. Throws ServerRefusal 401. */
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
