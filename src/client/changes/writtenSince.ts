// Finds which of changed files were changed after a point in time, by what the file system says.
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileChange } from '../../changes/model/fileChange';
import { isBelow } from '../requests/roots';
import { pathsOf } from './changedPaths';

/** The times of files are those of the kernel's last tick, which is up to so many ms ago. */
const TICK_MS = 10;
/** Files looked at together. */
const TOGETHER = 64;

/**
 * Returns the files (absolute paths) that were written, created, renamed or deleted since then.
 * @param at ms since 1970
 */
export async function writtenSince(changes: readonly FileChange[], at: number): Promise<readonly string[]> {
  const written: string[] = [];
  for (let from = 0; from < changes.length; from += TOGETHER) {
    const some = changes.slice(from, from + TOGETHER);
    const times = await Promise.all(some.map(timeOf));
    written.push(...some.filter((_, index) => isSince(times[index] ?? 0, at)).flatMap(pathsOf));
  }
  return written;
}

/**
 * Returns whether a file with this time may have been changed since then.
 * @param time of the file system, in ms since 1970
 * @param at ms since 1970
 */
export function isSince(time: number, at: number): boolean {
  return time >= at - TICK_MS;
}

/** When a change was made. A folder that is renamed has a new time, and the files in it have not. */
async function timeOf(change: FileChange): Promise<number> {
  const [path = '', oldPath] = pathsOf(change);
  const time = await changedAt(path);
  if (oldPath === undefined) return time;
  const folders: string[] = [];
  for (let place = dirname(path); !isBelow(place, oldPath); place = dirname(place)) folders.push(place);
  return Math.max(time, ...(await Promise.all(folders.map(changedAt))));
}

/** When a file was changed last; of one that is gone, when its folder was. */
async function changedAt(path: string): Promise<number> {
  for (let place = path; ; place = dirname(place)) {
    const found = await lstat(place).catch(() => undefined);
    if (found) return found.ctimeMs;
    if (dirname(place) === place) return 0;
  }
}
