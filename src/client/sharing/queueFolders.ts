// The folder for this window's pending writes to a storage server, and the folders that ended
// windows left.
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { ResourceStore } from '../../distributed/model/resources';
import { takeOver, WriteQueue } from '../../distributed/stores/writeQueue';

export interface QueueFoldersOptions {
  /** Of one storage server. */
  readonly root: string;
  /** The process that the window lives in. */
  readonly pid: number;
  /** When that process began, as {@link startOf} has it. */
  readonly startOf: (pid: number) => string | undefined;
  readonly isAlive: (pid: number) => boolean;
  readonly log: Log;
}

/**
 * Opens the queue of this window, with what windows that are gone left in theirs.
 * @throws ParleyError `store-error`
 */
export async function openQueue(store: ResourceStore, options: QueueFoldersOptions): Promise<WriteQueue> {
  const { root, log } = options;
  const own = nameOf(options.pid, options);
  const folder = join(root, own);
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    if (name === own || !isLeft(name, options)) continue;
    try {
      await takeOver(join(root, name), folder);
      await rmdir(join(root, name));
    } catch (error) {
      log.warn(`What waits for the storage server in ${name} stays there: ${messageOf(error)}`);
    }
  }
  return WriteQueue.open(store, { folder, log });
}

type Processes = Pick<QueueFoldersOptions, 'isAlive' | 'startOf'>;

/**
 * A folder is named by its process and when that began, where the system tells: numbers of
 * processes are given again.
 */
function nameOf(pid: number, { startOf }: Processes): string {
  const start = startOf(pid);
  return start !== undefined && /^\d{1,20}$/.test(start) ? `${pid}-${start}` : String(pid);
}

/** Returns whether a folder is that of a window that is gone. */
function isLeft(name: string, processes: Processes): boolean {
  const [, pid, start] = /^(\d{1,10})(?:-(\d{1,20}))?$/.exec(name) ?? [];
  if (pid === undefined) return false;
  return !processes.isAlive(Number(pid)) || (start !== undefined && name !== nameOf(Number(pid), processes));
}
