// Files that earlier versions left in their folders of pending uploads: each is sent once and
// removed. Later versions keep such messages in the local store (see `sessionLog.ts`).
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { type ResourceStore, readFramed } from '../ports/resources';

/** Paths of the files, in the order in which they were written. */
export async function earlierFiles(root: string): Promise<readonly string[]> {
  const names = await readdir(root, { recursive: true }).catch(() => []);
  return names
    .filter((name) => /(^|[\\/])\d{12}\.wait$/.test(name))
    .sort()
    .map((name) => join(root, name));
}

/**
 * Sends and removes the files; doing it twice is harmless. Damaged ones stay.
 * @throws ParleyError of the store
 */
export async function sendEarlierFiles(
  root: string,
  store: Pick<ResourceStore, 'put'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (const path of await earlierFiles(root)) {
    try {
      const { bytes, meta } = await readFramed(path);
      await store.put(meta.key ?? '', bytes, meta.contentType ?? 'application/octet-stream', signal);
      await rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof ParleyError) || !/^(torn|not-found|bad-key)$/.test(error.code)) throw error;
      log.warn(`${path} can't be uploaded: ${messageOf(error)}`);
    }
  }
}
