// Reads requests to our server: a body within its limits, of the one type that a browser cannot
// send without asking.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { parseBounded } from '../model/boundedJson';
import { MAX_DESCRIPTOR_BYTES, MAX_MESSAGE_BYTES, readAs } from '../model/model';
import { invalidInput, type ServerRefusal } from './serverRefusal';

export const MAX_BODY_BYTES = MAX_MESSAGE_BYTES + MAX_DESCRIPTOR_BYTES;

/**
 * A missing type counts as JSON, as the Python client sends none; others are refused, which keeps
 * forms of web pages out.
 * @throws ServerRefusal 413, 422
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
  // Clients that ask before they send (RFC 9110, 10.1.1) may now.
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
      // The rest of the request is still arriving: the answer reads it.
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

/** @throws ServerRefusal 422 where it is no UUID, as upstream does */
export function readUuid(text: string, name: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw invalidInput(`${name} has to be a UUID`);
}
