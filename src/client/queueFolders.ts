// A folder for the writes of this window that wait for a resource server, and what windows that have ended left in theirs.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Disposable, DisposableStore } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { ResourceStore } from '../distributed/resources';
import { WriteQueue } from '../distributed/writeQueue';

export interface QueueFoldersOptions {
  /** Of one resource server. */
  readonly root: string;
  /** Of the process that the window lives in. */
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly log: Log;
}

/** Opens the queue of this window, and sends what others left before it is forgotten. @throws ParleyError `store-error` */
export async function openQueue(
  store: ResourceStore,
  options: QueueFoldersOptions,
): Promise<{ readonly queue: WriteQueue; readonly disposable: Disposable }> {
  const { root, pid, isAlive, log } = options;
  const lifetime = new DisposableStore();
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    if (!/^\d{1,10}$/.test(name) || Number(name) === pid || isAlive(Number(name))) continue;
    const folder = join(root, name);
    const left = await WriteQueue.open(store, { folder, log }).catch((error: unknown) => {
      log.warn(`What waits for the resource server in ${name} cannot be read: ${messageOf(error)}`);
      return undefined;
    });
    if (!left) continue;
    const forget = (): void => {
      left.dispose();
      void rm(folder, { recursive: true, force: true }).catch(() => {});
    };
    if (left.size === 0) forget();
    else {
      lifetime.add(left);
      lifetime.add(left.onDidFlush(forget));
    }
  }
  const queue = await WriteQueue.open(store, { folder: join(root, String(pid)), log });
  lifetime.add(queue);
  return { queue, disposable: lifetime };
}
