// Fuzzy search over the files and folders of a workspace. Never blocks for over a few milliseconds.
import { setImmediate as otherWork } from 'node:timers/promises';
import fuzzysort from 'fuzzysort';
import { RANKS, rankOfPath } from './rank';

export interface FoundPath {
  readonly path: string;
  readonly isFolder: boolean;
}

const SLICE = 8000;
/** Further paths of the same rank are not sorted. */
const MAX_RANKED = 300;

export class FileList {
  readonly #paths: readonly string[];
  readonly #lower: readonly string[];
  /** Index of the first folder. */
  readonly #firstFolder: number;

  private constructor(paths: readonly string[], lower: readonly string[], firstFolder: number) {
    this.#paths = paths;
    this.#lower = lower;
    this.#firstFolder = firstFolder;
  }

  /** @param files with `/`; their folders are added */
  static async of(files: readonly string[]): Promise<FileList> {
    const folders = new Set<string>();
    const lower: string[] = [];
    for (const [index, path] of files.entries()) {
      if (index % SLICE === SLICE - 1) await otherWork();
      lower.push(lowerOf(path));
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const folder = path.slice(0, end);
        if (folders.has(folder)) break;
        folders.add(folder);
      }
    }
    const all = [...folders];
    return new FileList([...files, ...all], [...lower, ...all.map(lowerOf)], files.length);
  }

  get size(): number {
    return this.#paths.length;
  }

  has(path: string): boolean {
    return this.#paths.includes(path);
  }

  /** Returns the best paths with the letters of `query` in order; the shortest if empty. */
  async search(
    query: string,
    limit: number,
    signal: AbortSignal,
    only?: 'file' | 'folder',
  ): Promise<readonly FoundPath[]> {
    const wanted = query.toLowerCase().replaceAll('\\', '/');
    const ranked: string[][] = Array.from({ length: RANKS.none }, () => []);
    const isFolder = new Set<string>();
    const start = only === 'folder' ? this.#firstFolder : 0;
    const last = only === 'file' ? this.#firstFolder : this.#paths.length;
    for (let from = start; from < last; from += SLICE) {
      if (from > start) await otherWork();
      signal.throwIfAborted();
      const end = Math.min(from + SLICE, last);
      for (let index = from; index < end; index++) {
        const path = this.#paths[index] ?? '';
        const rank = rankOfPath(path, this.#lower[index] ?? '', wanted);
        const same = ranked[rank];
        if (!same || same.length >= MAX_RANKED) continue;
        same.push(path);
        if (index >= this.#firstFolder) isFolder.add(path);
      }
    }
    const found: FoundPath[] = [];
    for (const [rank, same] of ranked.entries()) {
      if (found.length >= limit) break;
      const isName = rank <= RANKS.word && !wanted.includes('/');
      for (const path of sorted(same, wanted, isName ? nameOf : (path) => path))
        found.push({ path, isFolder: isFolder.has(path) });
    }
    return found.slice(0, limit);
  }
}

function lowerOf(path: string): string {
  const lower = path.toLowerCase();
  return lower === path ? path : lower;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function sorted(paths: readonly string[], wanted: string, textOf: (path: string) => string): readonly string[] {
  const scored = fuzzysort.go(wanted, paths.map(textOf), { limit: 0, threshold: 0 });
  const scores = new Map(scored.map(({ target, score }) => [target, score]));
  // Its cache grows without limit.
  fuzzysort.cleanup();
  const scoreOf = (path: string): number => scores.get(textOf(path)) ?? 0;
  return [...paths].sort((a, b) => scoreOf(b) - scoreOf(a) || a.length - b.length || (a < b ? -1 : 1));
}
