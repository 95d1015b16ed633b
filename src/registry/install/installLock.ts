// Lets one window at a time install something, or change the entries of the user's agents.

import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** How often the holder renews the lock, and after which time the lock is stale, in ms. */
const SIGN_MS = 5_000;
const GONE_MS = 60_000;

/** Between two attempts to take a lock that is waited for, in ms. */
const AGAIN_MS = 50;

export interface LockOptions {
  /** How long a lock that another window holds is waited for, in ms (0). */
  readonly waitMs?: number;
  /** What is thrown where it is still held then. */
  readonly busy?: () => ParleyError;
}

/**
 * Runs a function while holding the lock. A lock is taken over if the process of its holder has
 * ended or has not renewed it for a minute.
 * @throws ParleyError `install-busy` or what `busy` gives; what `run` throws
 */
export async function withLock<T>(
  file: string,
  run: () => Promise<T>,
  { waitMs = 0, busy = installing }: LockOptions = {},
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  for (const until = Date.now() + waitMs; !(await takeOver(file)); await delay(AGAIN_MS))
    if (Date.now() >= until) throw busy();
  const sign = setInterval(() => {
    const now = new Date();
    void utimes(file, now, now).catch(() => {});
  }, SIGN_MS);
  sign.unref();
  try {
    return await run();
  } finally {
    clearInterval(sign);
    await rm(file, { force: true });
  }
}

/** @returns false while another window holds the lock */
async function takeOver(file: string): Promise<boolean> {
  if (await take(file)) return true;
  if (await isHeld(file)) return false;
  await rm(file, { force: true });
  return take(file);
}

async function take(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(String(process.pid)).finally(() => handle.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const [pid, { mtimeMs }] = [Number(await readFile(file, 'utf8')), await stat(file)];
    if (Date.now() - mtimeMs > GONE_MS) return false;
    // A holder that has not written its process id yet has just started.
    return !Number.isInteger(pid) || pid <= 0 || process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function installing(): ParleyError {
  return new ParleyError('install-busy', localizable('This is being installed already, maybe in another window.'));
}
