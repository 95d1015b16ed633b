// Lets one window at a time install something, or change the entries of the user's agents.
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

const AGAIN_MS = 50;
/** SQLITE_BUSY and SQLITE_CANTOPEN. */
const BUSY = 5;
const CANNOT_OPEN = 14;

export interface LockOptions {
  /** How long to wait for another window, ms. Default 0. */
  readonly waitMs?: number;
  readonly busy?: () => ParleyError;
}

/**
 * Holds a lock: an empty SQLite database, which the system frees with the process. Nothing else may
 * open the file: on POSIX, closing it would free the lock.
 * @throws ParleyError `install-busy` or that of `busy`; errors of `run`, the system or SQLite
 */
export async function withLock<T>(
  file: string,
  run: () => Promise<T>,
  { waitMs = 0, busy = installing }: LockOptions = {},
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  let lock: DatabaseSync | undefined;
  for (const until = Date.now() + waitMs; ; await delay(AGAIN_MS)) {
    lock = await take(file);
    if (lock) break;
    if (Date.now() >= until) throw busy();
  }
  try {
    return await run();
  } finally {
    lock.close();
  }
}

async function take(file: string): Promise<DatabaseSync | undefined> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec('BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database?.close();
    const { errcode } = error as { errcode?: number };
    if (errcode === BUSY) return undefined;
    // The system's error says why.
    if (errcode === CANNOT_OPEN) await appendFile(file, '');
    throw error;
  }
}

function installing(): ParleyError {
  return new ParleyError('install-busy', localizable('This is being installed already, maybe in another window.'));
}
