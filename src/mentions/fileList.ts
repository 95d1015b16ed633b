// The files and folders of a workspace, searched by a few letters. One search never keeps the
// processor for more than a few milliseconds, however many files there are.
import { setImmediate as otherWork } from 'node:timers/promises';
import fuzzysort from 'fuzzysort';

export interface FoundPath {
  /** With `/`, without one at its end. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Paths that are looked at in one go. */
const SLICE = 8000;
/** Paths of one rank that are compared closely; more of them are as good as these. */
const MAX_RANKED = 300;
/** How well a path fits, best first. */
const RANKS = 4;

export class FileList {
  readonly #paths: readonly string[];
  /** In lower case; the same strings where nothing differs. */
  readonly #lower: readonly string[];
  /** Paths from here on are folders. */
  readonly #firstFolder: number;

  private constructor(paths: readonly string[], lower: readonly string[], firstFolder: number) {
    this.#paths = paths;
    this.#lower = lower;
    this.#firstFolder = firstFolder;
  }

  /** @param files their paths, with `/`; folders are those that hold them */
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

  /** Files and folders together. */
  get size(): number {
    return this.#paths.length;
  }

  /** Returns whether a path is a file or a folder of the list. */
  has(path: string): boolean {
    return this.#paths.includes(path);
  }

  /**
   * The paths that hold the letters of `query` in their order, best first.
   * @param most how many
   * @throws the reason of `signal`
   */
  async search(query: string, most: number, signal: AbortSignal): Promise<readonly FoundPath[]> {
    const wanted = query.toLowerCase().replaceAll('\\', '/');
    if (wanted === '') return [];
    const ranked: string[][] = Array.from({ length: RANKS }, () => []);
    const isFolder = new Set<string>();
    for (let from = 0; from < this.#paths.length; from += SLICE) {
      if (from > 0) await otherWork();
      signal.throwIfAborted();
      const end = Math.min(from + SLICE, this.#paths.length);
      for (let index = from; index < end; index++) {
        const rank = rankOf(this.#lower[index] ?? '', wanted);
        const same = ranked[rank];
        if (!same || same.length >= MAX_RANKED) continue;
        const path = this.#paths[index] ?? '';
        same.push(path);
        if (index >= this.#firstFolder) isFolder.add(path);
      }
    }
    const found: FoundPath[] = [];
    for (const [rank, same] of ranked.entries()) {
      if (found.length >= most) break;
      const isName = rank < 2 && !wanted.includes('/');
      for (const path of sorted(same, wanted, isName ? nameOf : (whole) => whole))
        found.push({ path, isFolder: isFolder.has(path) });
    }
    return found.slice(0, most);
  }
}

function lowerOf(path: string): string {
  const lower = path.toLowerCase();
  return lower === path ? path : lower;
}

/** 0: the name begins with it; 1: the name holds it; 2: the path does; 3: its letters; 4: not. */
function rankOf(path: string, wanted: string): number {
  const name = path.lastIndexOf('/') + 1;
  const at = path.indexOf(wanted, wanted.includes('/') ? 0 : name);
  if (at === name) return 0;
  if (at > name) return 1;
  if (at >= 0 || path.includes(wanted)) return 2;
  let next = 0;
  for (let index = 0; index < path.length && next < wanted.length; index++)
    if (path.charCodeAt(index) === wanted.charCodeAt(next)) next += 1;
  return next === wanted.length ? 3 : RANKS;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** @param textOf what of a path is compared */
function sorted(paths: readonly string[], wanted: string, textOf: (path: string) => string): readonly string[] {
  const scored = fuzzysort.go(wanted, paths.map(textOf), { limit: 0, threshold: 0 });
  const scores = new Map(scored.map(({ target, score }) => [target, score]));
  // It keeps everything that it has ever compared.
  fuzzysort.cleanup();
  const scoreOf = (path: string): number => scores.get(textOf(path)) ?? 0;
  return [...paths].sort((a, b) => scoreOf(b) - scoreOf(a) || a.length - b.length || (a < b ? -1 : 1));
}
