// Compares two files byte by byte.
import { lstat, readFile } from 'node:fs/promises';

/** Bytes of files that are compared; larger ones count as different. */
const MAX_SIZE = 64 * 1024 * 1024;

/**
 * Returns whether two plain files have the same bytes. One file under two names is no copy of itself:
 * a folder on the way may be a link to the other.
 * @throws the file system's error
 */
export async function isSamePlainFile(one: string, other: string): Promise<boolean> {
  const [stats, others] = [await lstat(one, { bigint: true }), await lstat(other, { bigint: true })];
  if (!stats.isFile() || !others.isFile() || stats.size !== others.size || stats.size > MAX_SIZE) return false;
  if (stats.dev === others.dev && stats.ino === others.ino) return false;
  return (await readFile(one)).equals(await readFile(other));
}
