// Downloads a file with its checksum, within limits. Resumes after a lost connection, a cancel or
// the end of the window.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { at } from '../../base/untrusted';
import { networkError, request } from '../fetch/request';

const MAX_BYTES = 2 * 1024 ** 3;
/** Ms without data. */
const IDLE_MS = 30_000;
/** Consecutive reconnects without a new byte. */
const MAX_TRIES = 3;

export interface DownloadOptions {
  readonly url: string;
  readonly folder: string;
  /** Lower-case hexadecimal. */
  readonly sha256?: string | undefined;
  readonly maxBytes?: number;
  readonly trustedOrigin?: string | undefined;
  readonly onProgress?: (received: number, total: number | undefined) => void;
  readonly idleMs?: number;
}

/** The caller removes the file. */
export interface Downloaded {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Resumes an earlier download.
 * @throws ParleyError `wrong-checksum`, `download-refused`, `too-large`, those of {@link request};
 * disk errors; the reason of `signal`
 */
export async function download(options: DownloadOptions, signal: AbortSignal): Promise<Downloaded> {
  const { url, folder, sha256 } = options;
  const name = createHash('sha256').update(url).digest('hex').slice(0, 32);
  const part = { path: join(folder, `${name}.part`), about: join(folder, `${name}.json`) };
  await mkdir(folder, { recursive: true });
  for (let tries = 1; ; ) {
    const before = await sizeOf(part.path);
    try {
      await receive(options, part, signal);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') await discard(part);
      const isLost = error instanceof ParleyError && (error.code === 'connection-lost' || error.code === 'timeout');
      tries = (await sizeOf(part.path)) > before ? 1 : tries + 1;
      if (!isLost || tries > MAX_TRIES) throw error;
    }
  }
  const digest = createHash('sha256');
  await pipeline(createReadStream(part.path), digest, { signal });
  const found = digest.digest('hex');
  if (sha256 !== undefined && found !== sha256) {
    await discard(part);
    throw wrongChecksum(url);
  }
  await rm(part.about, { force: true });
  return { path: part.path, sha256: found, bytes: await sizeOf(part.path) };
}

export function wrongChecksum(url: string): ParleyError {
  return new ParleyError(
    'wrong-checksum',
    localizable("The file from {0} doesn't have the expected checksum.", new URL(url).host),
    { hint: localizable('The file may have been tampered with.') },
  );
}

export async function statedSize(
  url: string,
  trustedOrigin: string | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const response = await request(url, { method: 'HEAD', idleMs: IDLE_MS, trustedOrigin }, signal);
  response.destroy();
  const size = Number(response.headers['content-length']);
  return response.statusCode === 200 && Number.isSafeInteger(size) && size > 0 ? size : undefined;
}

interface Part {
  readonly path: string;
  /** Validator that detects a changed file. */
  readonly about: string;
}

async function receive(options: DownloadOptions, part: Part, signal: AbortSignal): Promise<void> {
  const { url, trustedOrigin, idleMs = IDLE_MS, maxBytes = MAX_BYTES, onProgress } = options;
  const { host } = new URL(url);
  const validator = await validatorOf(part);
  const storedBytes = validator === undefined ? 0 : await sizeOf(part.path);
  const headers = { ...(storedBytes > 0 && validator && { range: `bytes=${storedBytes}-`, 'if-range': validator }) };
  const response = await request(url, { headers, idleMs, trustedOrigin }, signal);
  try {
    const { statusCode = 0 } = response;
    if (statusCode === 416 && storedBytes > 0) {
      // The file is complete, or has changed on the server.
      if (rangeOf(response)?.total === storedBytes) return;
      await discard(part);
      throw new ParleyError('connection-lost', localizable('The file at {0} has changed.', host));
    }
    const from = statusCode === 206 ? rangeOf(response)?.from : 0;
    if ((statusCode !== 200 && statusCode !== 206) || (from !== 0 && from !== storedBytes))
      throw new ParleyError('download-refused', localizable('{0} answered with status {1}.', host, statusCode));
    const left = Number(response.headers['content-length'] ?? Number.NaN);
    const total = Number.isSafeInteger(left) ? from + left : undefined;
    if ((total ?? 0) > maxBytes) throw tooLarge(host, maxBytes);
    if (from === 0) {
      await truncate(part.path, 0).catch(() => {});
      await storeValidator(part, response);
    }
    let received = from;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        onProgress?.(received, total);
        done(received > maxBytes ? tooLarge(host, maxBytes) : null, chunk);
      },
    });
    await pipeline(response, counted, createWriteStream(part.path, { flags: 'a', mode: 0o600 }), { signal });
    if (total !== undefined && received !== total)
      throw new ParleyError('connection-lost', localizable('The connection to {0} was lost.', host));
  } catch (error) {
    signal.throwIfAborted();
    throw networkError(error, host);
  } finally {
    response.destroy();
  }
}

function tooLarge(host: string, maxBytes: number): ParleyError {
  return new ParleyError(
    'too-large',
    localizable('The file from {0} is larger than {1} MB.', host, Math.floor(maxBytes / 1e6)),
  );
}

function rangeOf(response: IncomingMessage): { readonly from: number; readonly total: number } | undefined {
  const [, from = 'NaN', total] =
    /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '') ?? [];
  return total === undefined ? undefined : { from: Number(from), total: Number(total) };
}

/** Only a strong ETag guarantees identical bytes. */
async function storeValidator({ about }: Part, { headers }: IncomingMessage): Promise<void> {
  const { etag, 'last-modified': modified } = headers;
  const validator = etag !== undefined && !etag.startsWith('W/') ? etag : modified;
  if (validator === undefined) await rm(about, { force: true });
  else await writeFile(about, JSON.stringify({ validator }), { mode: 0o600 });
}

async function validatorOf({ about }: Part): Promise<string | undefined> {
  try {
    const validator = at(JSON.parse(await readFile(about, 'utf8')), 'validator');
    return typeof validator === 'string' && /^[\x20-\x7e]{1,500}$/.test(validator) ? validator : undefined;
  } catch {
    return undefined;
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function discard(part: Part): Promise<void> {
  await Promise.all([rm(part.path, { force: true }), rm(part.about, { force: true })]);
}
