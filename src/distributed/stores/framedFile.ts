// Files that are either complete or detectably damaged: a line of JSON about the content, then the
// content. Written to a temporary file and renamed, so that no reader or power failure leaves half
// a file under the final name.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { retryBusy } from '../../base/retryBusy';
import { parseMessage } from '../../base/untrusted';
import { sha256Of } from '../model/resources';

const frameSchema = z.object({
  sha256: z.string(),
  bytes: z.number(),
  meta: z.record(z.string(), z.string()),
});

export interface FramedContent {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly meta: Readonly<Record<string, string>>;
}

export interface WriteOptions {
  /** Waits for the disk; for content that exists nowhere else. */
  readonly durable: boolean;
  readonly exclusive?: boolean;
}

/** @throws ParleyError `disk-full`, `store-error`, `exists` */
export async function writeFramed(
  path: string,
  bytes: Uint8Array,
  meta: Readonly<Record<string, string>>,
  { durable, exclusive = false }: WriteOptions,
): Promise<string> {
  const sha256 = sha256Of(bytes);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await openMakingFolder(temporary);
    try {
      await file.writeFile(
        Buffer.concat([Buffer.from(`${JSON.stringify({ sha256, bytes: bytes.length, meta })}\n`), bytes]),
      );
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    if (exclusive) await moveExclusive(temporary, path);
    else await retryBusy(() => rename(temporary, path));
    if (durable) await syncFolder(dirname(path));
    return sha256;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw diskError(error);
  }
}

/** @throws ParleyError `not-found`, `torn` (damaged), `store-error` */
export async function readFramed(path: string): Promise<FramedContent> {
  let raw: Buffer;
  try {
    raw = await readFile(path);
  } catch (error) {
    throw diskError(error);
  }
  const end = raw.indexOf(10);
  const head = end === -1 ? undefined : parseHead(raw.subarray(0, end).toString('utf8'));
  const bytes = raw.subarray(end + 1);
  if (head === undefined || head.bytes !== bytes.length || head.sha256 !== sha256Of(bytes)) {
    throw new ParleyError('torn', localizable('A stored file is damaged.'));
  }
  return { bytes, sha256: head.sha256, meta: head.meta };
}

function parseHead(line: string): z.infer<typeof frameSchema> | undefined {
  try {
    return z.safeParse(frameSchema, parseMessage(line)).data;
  } catch {
    return undefined;
  }
}

/** @throws ParleyError `exists` */
async function moveExclusive(from: string, to: string): Promise<void> {
  try {
    await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      // Without hard links: a truncated copy is detected as damaged.
      await copyFile(from, to, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new ParleyError('exists', localizable('The stored file already exists.'), { cause: error });
  }
  await rm(from, { force: true });
}

async function openMakingFolder(path: string) {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await open(path, 'wx', 0o600);
  }
}

/** The new name must reach the disk too; Windows needs no such operation. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function diskError(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return new ParleyError('not-found', localizable("The stored file doesn't exist."));
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ParleyError('disk-full', localizable("The disk is full, so the session can't be saved."), {
      hint: localizable('Free up disk space. The chat itself continues.'),
      cause: error,
    });
  }
  if (code === 'EBUSY' || (code === 'EPERM' && process.platform === 'win32')) {
    const sentence = localizable('A file of the session is open in another program.');
    return new ParleyError('store-error', sentence, { cause: error });
  }
  return new ParleyError(
    'store-error',
    localizable("A file of the session can't be used ({0}).", code ?? localizable('unknown error')),
    {
      cause: error,
    },
  );
}
