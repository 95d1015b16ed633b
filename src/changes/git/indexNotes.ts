// Notes beside the index of a scan: when it was read last, and which of its files came from elsewhere.
import { copyFile, readFile, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { put } from './bareStore';

/** The times of files are those of the kernel's last tick, which is up to so many ms ago. */
const TICK_MS = 10;
/** Some file systems have times of whole seconds, or of every other. */
const COARSE_MS = 2000;

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

/** Returns whether a file was there before a time, wherever it was. @param at ms since 1970 */
export function isOlder(
  { birthtimeMs, ctimeMs }: { readonly birthtimeMs: number; readonly ctimeMs: number },
  at: number,
): boolean {
  // Not every file system knows when a file was made.
  const born = birthtimeMs > 0 ? Math.min(birthtimeMs, ctimeMs) : ctimeMs;
  return born < at - (born % 1000 === 0 ? COARSE_MS : TICK_MS);
}

function notesOf(index: string): string {
  return `${index}.notes`;
}
