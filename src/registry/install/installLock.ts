// A lock across windows for installations and changes of the user's agents.
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

const RETRY_MS = 50;
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

export interface LockOptions {
  /** Time to wait for another window, ms. Default 0. */
  readonly waitMs?: number;
  readonly busy?: () => ParleyError;
}

/**
 * The lock is an empty SQLite database, which the system unlocks when the process exits. Nothing
 * else may open the file: on POSIX, closing it would release the lock.
 * @throws ParleyError `install-busy` or that of `busy`; errors of `run`, the system or SQLite
 */
export async function withLock<T>(
  file: string,
  run: () => Promise<T>,
  { waitMs = 0, busy = installing }: LockOptions = {},
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  let lock: DatabaseSync | undefined;
  for (const until = Date.now() + waitMs; ; await delay(RETRY_MS)) {
    lock = await tryLock(file);
    if (lock) break;
    if (Date.now() >= until) throw busy();
  }
  try {
    return await run();
  } finally {
    lock.close();
  }
}

async function tryLock(file: string): Promise<DatabaseSync | undefined> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database?.close();
    const { errcode } = error as { errcode?: number };
    if (errcode === SQLITE_BUSY) return undefined;
    // The system's error says why.
    if (errcode === SQLITE_CANTOPEN) await appendFile(file, '');
    throw error;
  }
}

function installing(): ParleyError {
  return new ParleyError('install-busy', localizable('This is being installed already, maybe in another window.'));
}
