// Reads the body of an untrusted response: counted before and after decompression, and dropped as
// soon as it is too large.
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** What we ask servers for; others that they use unasked are read too where possible. */
export const ACCEPT_ENCODING = 'gzip, br';

/** Bytes of an unwanted body that are read to keep its connection. */
const WORTH_READING = 64 * 1024;

/**
 * @param maxBytes of the body, compressed and decompressed
 * @throws ParleyError `too-large`, `bad-encoding`; what the socket reports
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
    // Compressed data can continue forever without unpacking to anything.
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

/** Milliseconds that an unwanted body may take. */
const WORTH_WAITING = 2000;

/** Discards a body: read while it is small, so that the connection can be reused. */
export function discardBody(response: IncomingMessage): void {
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > WORTH_READING) response.destroy();
  });
  response.on('error', () => {});
  const timer = setTimeout(() => response.destroy(), WORTH_WAITING);
  // The connection may serve another request by then.
  for (const end of ['end', 'close']) response.once(end, () => clearTimeout(timer));
}
