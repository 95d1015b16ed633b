// Notes beside the index of a scan: when it was read last, and which of its files came from elsewhere.
import type { Stats } from 'node:fs';
import { copyFile, readFile, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { put } from './bareStore';

const NOTES = z.object({ at: z.number(), arrived: z.array(z.string()) });

/** `at`: when the last scan began, in ms since 1970. `arrived`: see `Outside`; relative to the top level. */
export type IndexNotes = z.infer<typeof NOTES>;

/** Returns the notes of an index; undefined where nothing is known of the time before. */
export async function readNotes(index: string): Promise<IndexNotes | undefined> {
  try {
    return NOTES.parse(JSON.parse(await readFile(notesOf(index), 'utf8')));
  } catch {
    return undefined;
  }
}

export function writeNotes(index: string, notes: IndexNotes): Promise<void> {
  return put(notesOf(index), Buffer.from(JSON.stringify(notes)));
}

/** The index is a copy of another one. */
export async function copyNotes(from: string, to: string): Promise<void> {
  await copyFile(notesOf(from), notesOf(to)).catch(() => removeNotes(to));
}

/** The index is gone, or not what it was. */
export async function removeNotes(index: string): Promise<void> {
  await rm(notesOf(index), { force: true });
}

/**
 * Returns whether a file, or what it has, was there before a time, wherever it was. One that comes from
 * another disk keeps only the time of its last change. Times are those of the kernel's last tick, or of
 * the last second: what is as old as the scan was there too.
 * @param at ms since 1970
 */
export function isOlder(stats: Pick<Stats, 'birthtimeMs' | 'ctimeMs' | 'mtimeMs'>, at: number): boolean {
  const { birthtimeMs, ctimeMs, mtimeMs } = stats;
  // Not every file system knows when a file was made.
  return Math.min(birthtimeMs > 0 ? birthtimeMs : ctimeMs, ctimeMs, mtimeMs) <= at;
}

function notesOf(index: string): string {
  return `${index}.notes`;
}
