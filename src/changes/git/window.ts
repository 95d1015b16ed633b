// The name of this process in a store, and whether another process is still there.
import { randomUUID } from 'node:crypto';

/** No other process has this name. */
export const WINDOW = `${process.pid}-${randomUUID()}`;

/** Whether the process with such a name may still run. */
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
