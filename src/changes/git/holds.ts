// Holds protect states from being collected: refs of the store, by session and name. They are plain
// files, which need no git.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';

const ROOT = 'refs/parley';
/** File systems allow 255 bytes. */
const MAX_NAME = 150;

export async function hold(store: string, session: string, name: string, state: string): Promise<void> {
  const folder = join(store, ROOT, refPart(session));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(store, `ref-${randomUUID()}`);
  try {
    await writeFile(temporary, `${state}\n`, { mode: 0o600 });
    await retryBusy(() => rename(temporary, join(folder, refPart(name))));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

export async function release(store: string, session: string, name?: string): Promise<void> {
  const folder = join(store, ROOT, refPart(session));
  await rm(name === undefined ? folder : join(folder, refPart(name)), { recursive: true, force: true });
}

export async function releaseOthers(store: string, sessions: readonly string[]): Promise<void> {
  const keptSessions = new Set(sessions.map(refPart));
  for (const session of await readdir(join(store, ROOT)).catch(() => [])) {
    if (!keptSessions.has(session)) await rm(join(store, ROOT, session), { recursive: true, force: true });
  }
}

export async function heldStates(store: string): Promise<readonly string[]> {
  const states = new Set<string>();
  for (const session of await readdir(join(store, ROOT)).catch(() => [])) {
    for (const name of await readdir(join(store, ROOT, session)).catch(() => [])) {
      const state = (await readFile(join(store, ROOT, session, name), 'latin1').catch(() => '')).trim();
      if (/^[0-9a-f]{40,64}$/.test(state)) states.add(state);
    }
  }
  return [...states];
}

function refPart(text: string): string {
  const part = Buffer.from(text)
    .toString('latin1')
    .replace(/[^a-z0-9_-]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return part !== '' && part.length <= MAX_NAME ? part : createHash('sha256').update(text).digest('hex');
}

export const WINDOW = `${process.pid}-${randomUUID()}`;

export function isAlive(window: string): boolean {
  const pid = Number(/^(\d+)-/.exec(window)?.[1]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
