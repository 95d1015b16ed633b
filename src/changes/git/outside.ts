// What a state says of files that it does not have: a file that is not in a state need not have been
// missing then.
import type { Stats } from 'node:fs';
import { copyFile, readFile, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { put } from './bareStore';

/** Beyond this, only folders are noted. */
const MAX_PATHS = 10_000;

export interface Outside {
  /**
   * Existing paths that were not read: ignored, unreadable, in repositories beyond the limit. A
   * slash at the end: a folder with everything in it.
   */
  readonly unread: readonly string[];
  /**
   * Files of the state that are older than the scan before the first one with them: they came from
   * elsewhere, or were ignored until then.
   */
  readonly arrived: readonly string[];
}

export const NOTHING_OUTSIDE: Outside = { unread: [], arrived: [] };

export function joinOutside(all: readonly Outside[]): Outside {
  const join = (key: keyof Outside): readonly string[] => [...new Set(all.flatMap((one) => one[key]))].sort();
  return { unread: bounded(join('unread')), arrived: join('arrived') };
}

export function outsideOf({ unread, arrived }: Outside, path: string): Outside {
  if (path === '') return { unread, arrived };
  return { unread: unread.map((one) => `${path}/${one}`), arrived: arrived.map((one) => `${path}/${one}`) };
}

export function writeOutside(outside: Outside): Buffer {
  const { unread, arrived } = outside;
  return unread.length + arrived.length === 0 ? Buffer.alloc(0) : Buffer.from(JSON.stringify({ unread, arrived }));
}

export function readOutside(content: Buffer | undefined): Outside {
  if (!content || content.length === 0) return NOTHING_OUTSIDE;
  const read: Partial<Record<keyof Outside, unknown>> = JSON.parse(content.toString('utf8'));
  const texts = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return { unread: texts(read.unread), arrived: texts(read.arrived) };
}

/** A slash at the end means a folder with everything in it. */
export class PathSet {
  readonly #paths: ReadonlySet<string>;

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths.map(folded));
  }

  /** Matches the path or a folder of it, in any spelling. */
  has(path: string): boolean {
    if (this.#paths.size === 0) return false;
    const wanted = folded(path);
    if (this.#paths.has(wanted) || this.#paths.has('')) return true;
    for (let slash = wanted.indexOf('/'); slash >= 0; slash = wanted.indexOf('/', slash + 1))
      if (this.#paths.has(wanted.slice(0, slash + 1))) return true;
    return false;
  }
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Replaces paths by their folders if there are too many: that says too much, never too little. */
function bounded(paths: readonly string[]): readonly string[] {
  let list = paths;
  while (list.length > MAX_PATHS)
    list = [...new Set(list.map((path) => path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1)))];
  return list;
}

const NOTES = z.object({ at: z.number(), arrived: z.array(z.string()) });

/** `at`: when the last scan began, in ms since 1970. `arrived`: see {@link Outside}. */
export type IndexNotes = z.infer<typeof NOTES>;

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

export async function copyNotes(from: string, to: string): Promise<void> {
  await copyFile(notesOf(from), notesOf(to)).catch(() => removeNotes(to));
}

export async function removeNotes(index: string): Promise<void> {
  await rm(notesOf(index), { force: true });
}

/**
 * Returns whether a file, or its content, existed before a time, wherever it was. From another
 * disk, only the time of the last change is kept. Times are rounded to the kernel's last tick or
 * second: a file as old as the scan was there too.
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
