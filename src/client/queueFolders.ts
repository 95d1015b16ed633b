// A folder for the writes of this window that wait for a resource server, and what windows that have ended left in theirs.
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Disposable, DisposableStore } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { ResourceStore } from '../distributed/resources';
import { WriteQueue } from '../distributed/writeQueue';

export interface QueueFoldersOptions {
  /** Of one resource server. */
  readonly root: string;
  /** The process that the window lives in. */
  readonly pid: number;
  /** When that process began, as {@link startOf} has it. */
  readonly startOf: (pid: number) => string | undefined;
  readonly isAlive: (pid: number) => boolean;
  readonly log: Log;
}

/** Opens the queue of this window, and sends what others left before it is forgotten. @throws ParleyError `store-error` */
export async function openQueue(
  store: ResourceStore,
  options: QueueFoldersOptions,
): Promise<{ readonly queue: WriteQueue; readonly disposable: Disposable }> {
  const { root, log } = options;
  const own = nameOf(options.pid, options);
  const lifetime = new DisposableStore();
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    if (name === own || !isLeft(name, options)) continue;
    const folder = join(root, name);
    const left = await WriteQueue.open(store, { folder, log }).catch((error: unknown) => {
      log.warn(`What waits for the resource server in ${name} cannot be read: ${messageOf(error)}`);
      return undefined;
    });
    if (!left) continue;
    const forget = (): void => {
      left.dispose();
      // What the server refused, or is damaged, is still there; then the folder stays, and the next window tries again.
      void rmdir(folder).catch((error: unknown) => log.debug(`resource queue: ${name} stays: ${messageOf(error)}`));
    };
    if (left.size === 0) forget();
    else {
      lifetime.add(left);
      lifetime.add(left.onDidFlush(forget));
    }
  }
  const queue = await WriteQueue.open(store, { folder: join(root, own), log });
  lifetime.add(queue);
  return { queue, disposable: lifetime };
}

type Processes = Pick<QueueFoldersOptions, 'isAlive' | 'startOf'>;

/** A folder is named by its process and when that began, where the system tells: numbers of processes are given again. */
function nameOf(pid: number, { startOf }: Processes): string {
  const start = startOf(pid);
  return start !== undefined && /^\d{1,20}$/.test(start) ? `${pid}-${start}` : String(pid);
}

/** Whether a folder is that of a window that is gone. */
function isLeft(name: string, processes: Processes): boolean {
  const [, pid, start] = /^(\d{1,10})(?:-(\d{1,20}))?$/.exec(name) ?? [];
  if (pid === undefined) return false;
  return !processes.isAlive(Number(pid)) || (start !== undefined && name !== nameOf(Number(pid), processes));
}
