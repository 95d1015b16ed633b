// Writes a file as a whole: who reads it finds the one before or the new one.
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { retryBusy } from '../../base/retryBusy';

/** Writes JSON to a file that only the user can read. Rejects as the file system does. */
export async function keepFile(file: string, value: unknown): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true });
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(JSON.stringify(value));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await retryBusy(() => rename(next, file));
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}
