// What a state records about files that it lacks: such a file may have existed nevertheless.
import type { Stats } from 'node:fs';
import { copyFile, readFile, rm } from 'node:fs/promises';
import * as z from 'zod/mini';
import { put } from './bareStore';

const MAX_PATHS = 10_000;

export interface Outside {
  /**
   * Existing paths that were ignored, unreadable or over the limit. A trailing slash covers a
   * folder.
   */
  readonly unread: readonly string[];
  /**
   * Files that appeared but are older than the previous scan: from elsewhere, or ignored until
   * then.
   */
  readonly arrived: readonly string[];
}

export const NOTHING_OUTSIDE: Outside = { unread: [], arrived: [] };

export function joinOutside(all: readonly Outside[]): Outside {
  const join = (key: keyof Outside): readonly string[] => [...new Set(all.flatMap((one) => one[key]))].sort();
  return { unread: limitPaths(join('unread')), arrived: join('arrived') };
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

export class PathSet {
  readonly #paths: ReadonlySet<string>;

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths.map(normalized));
  }

  /** Matches the path or one of its folders, in any spelling. */
  has(path: string): boolean {
    if (this.#paths.size === 0) return false;
    const wanted = normalized(path);
    if (this.#paths.has(wanted) || this.#paths.has('')) return true;
    for (let slash = wanted.indexOf('/'); slash >= 0; slash = wanted.indexOf('/', slash + 1))
      if (this.#paths.has(wanted.slice(0, slash + 1))) return true;
    return false;
  }
}

function normalized(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Replaces too many paths by their folders, which covers too much but never too little. */
function limitPaths(paths: readonly string[]): readonly string[] {
  let list = paths;
  while (list.length > MAX_PATHS)
    list = [...new Set(list.map((path) => path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1)))];
  return list;
}

const NOTES = z.object({ at: z.number(), arrived: z.array(z.string()) });

/** `at`: start of the last scan, in ms since 1970. `arrived`: see {@link Outside}. */
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
 * Whether a file or its content existed before a time, anywhere. From another disk, only the
 * modification time is preserved. Times are rounded to the kernel's last tick or second, so equal
 * times count as older.
 * @param at ms since 1970
 */
export function isOlder(stats: Pick<Stats, 'birthtimeMs' | 'ctimeMs' | 'mtimeMs'>, at: number): boolean {
  const { birthtimeMs, ctimeMs, mtimeMs } = stats;
  // Some file systems don't know the creation time.
  return Math.min(birthtimeMs > 0 ? birthtimeMs : ctimeMs, ctimeMs, mtimeMs) <= at;
}

function notesOf(index: string): string {
  return `${index}.notes`;
}
