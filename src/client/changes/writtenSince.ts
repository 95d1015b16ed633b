// Finds which of changed files were changed after a point in time, by what the file system says.
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileChange } from '../../changes/model/fileChange';
import { isBelow } from '../requests/roots';
import { pathsOf } from './changedPaths';

/** File times lag by up to a kernel tick, ms. */
const TICK_MS = 10;
const TOGETHER = 64;

/**
 * Absolute paths written, created, renamed or deleted since then.
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
 * @param time of the file system
 * @param at both in ms since 1970
 */
export function isSince(time: number, at: number): boolean {
  return time >= at - TICK_MS;
}

/** Renaming a folder changes its time, but not those of its files. */
async function timeOf(change: FileChange): Promise<number> {
  const [path = '', oldPath] = pathsOf(change);
  const time = await changedAt(path);
  if (oldPath === undefined) return time;
  const folders: string[] = [];
  for (let place = dirname(path); !isBelow(place, oldPath); place = dirname(place)) folders.push(place);
  return Math.max(time, ...(await Promise.all(folders.map(changedAt))));
}

/** Of a deleted file, its folder's time. */
async function changedAt(path: string): Promise<number> {
  for (let place = path; ; place = dirname(place)) {
    const found = await lstat(place).catch(() => undefined);
    if (found) return found.ctimeMs;
    if (dirname(place) === place) return 0;
  }
}
