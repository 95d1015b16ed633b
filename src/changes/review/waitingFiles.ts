// The unreviewed files: for each path, the last kept version and the agent's version, and the two
// ends of renames. Pure.
import type { FileVersion } from '../model/fileChange';
import type { ReviewFile } from './reviewFile';

export const MAX_WAITING = 5000;

interface Cell {
  readonly root: string;
  readonly path: string;
  base?: FileVersion | undefined;
  left?: FileVersion | undefined;
  about: FileInfo;
}

interface FileInfo {
  readonly count: LineCount;
  readonly alsoYours: boolean;
  readonly isUnnamed: boolean;
  readonly isConflict: boolean;
}

export interface LineCount extends Ends {
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
}

export interface Ends {
  readonly base?: FileVersion | undefined;
  readonly left?: FileVersion | undefined;
}

const NO_COUNT: LineCount = { added: 0, removed: 0, isBinary: false };
const NO_INFO: FileInfo = { count: NO_COUNT, alsoYours: false, isUnnamed: false, isConflict: false };

export function fileId(root: string, path: string): string {
  return `${root}\0${path}`;
}

export function isSameVersion(one: FileVersion | undefined, two: FileVersion | undefined): boolean {
  return one?.oid === two?.oid && one?.mode === two?.mode;
}

/** A file with equal versions is reviewed and removed. */
export class UnreviewedFiles {
  readonly #cells = new Map<string, Cell>();
  /** New path of a rename → old path. */
  readonly #renameSources = new Map<string, string>();
  #files: readonly ReviewFile[] | undefined;
  #byId = new Map<string, ReviewFile>();
  #isFull = false;

  get isFull(): boolean {
    return this.#isFull;
  }

  get files(): readonly ReviewFile[] {
    this.#files ??= this.#list();
    return this.#files;
  }

  file(id: string): ReviewFile | undefined {
    if (!this.#files) this.#files = this.#list();
    return this.#byId.get(id);
  }

  /** By present or former path. */
  fileAt(root: string, path: string): ReviewFile | undefined {
    return this.file(fileId(root, path)) ?? this.files.find((file) => file.root === root && file.oldPath === path);
  }

  ends(root: string, path: string): Ends | undefined {
    const cell = this.#cells.get(fileId(root, path));
    if (!cell) return undefined;
    const old = this.#renameSource(root, path);
    return old === undefined ? cell : { base: this.#cells.get(fileId(root, old))?.base, left: cell.left };
  }

  isAlsoYours(root: string, path: string): boolean {
    return this.#cells.get(fileId(root, path))?.about.alsoYours ?? false;
  }

  isUnnamed(root: string, path: string): boolean {
    return this.#cells.get(fileId(root, path))?.about.isUnnamed ?? false;
  }

  basePath(root: string, path: string): string {
    return this.#renameSource(root, path) ?? path;
  }

  setLeft(root: string, path: string, left: FileVersion | undefined, known: FileVersion | undefined): void {
    const cell = this.#cell(root, path, known);
    if (cell) cell.left = left;
    this.#removeIfReviewed(root, path);
  }

  setBase(root: string, path: string, base: FileVersion | undefined, known: FileVersion | undefined): void {
    const cell = this.#cell(root, path, known);
    if (cell) cell.base = base;
    this.#removeIfReviewed(root, path);
  }

  moveLeft(root: string, from: string, to: string, known: FileVersion | undefined): void {
    const source = this.#cell(root, from, known);
    const target = this.#cell(root, to, undefined);
    if (!source || !target) {
      this.#removeIfReviewed(root, from);
      return;
    }
    const origin = this.basePath(root, from);
    target.left = source.left;
    target.about = source.about;
    source.left = undefined;
    this.#renameSources.delete(fileId(root, from));
    if (origin !== to) this.#renameSources.set(fileId(root, to), origin);
    for (const path of [from, to, origin]) this.#removeIfReviewed(root, path);
  }

  get uncounted(): readonly ReviewFile[] {
    return this.files.filter(({ id, base, left }) => {
      const { count } = this.#cells.get(id)!.about;
      return count.base?.oid !== base?.oid || count.left?.oid !== left?.oid;
    });
  }

  describe(root: string, path: string, about: Partial<FileInfo>): void {
    const cell = this.#cells.get(fileId(root, path));
    if (cell) cell.about = { ...cell.about, ...about };
    this.#files = undefined;
  }

  add(file: ReviewFile): void {
    const { root, path, oldPath, base, left, added, removed, isBinary, alsoYours, isUnnamed, state } = file;
    const about: FileInfo = {
      count: { added, removed, isBinary: isBinary ?? false, base, left },
      alsoYours: alsoYours ?? false,
      isUnnamed: isUnnamed ?? false,
      isConflict: state === 'conflict',
    };
    this.#cells.set(fileId(root, path), { root, path, base: oldPath === undefined ? base : undefined, left, about });
    if (oldPath !== undefined) {
      this.#cells.set(fileId(root, oldPath), { root, path: oldPath, base, about: NO_INFO });
      this.#renameSources.set(fileId(root, path), oldPath);
    }
    this.#files = undefined;
  }

  recount(root: string, path: string): void {
    this.describe(root, path, { count: NO_COUNT });
  }

  remove({ root, path, oldPath }: Pick<ReviewFile, 'root' | 'path' | 'oldPath'>): void {
    this.#cells.delete(fileId(root, path));
    this.#renameSources.delete(fileId(root, path));
    if (oldPath !== undefined) this.#cells.delete(fileId(root, oldPath));
    this.#files = undefined;
  }

  clear(): void {
    this.#cells.clear();
    this.#renameSources.clear();
    this.#files = undefined;
    this.#isFull = false;
  }

  #cell(root: string, path: string, known: FileVersion | undefined): Cell | undefined {
    const id = fileId(root, path);
    const found = this.#cells.get(id);
    if (found) return found;
    if (this.#cells.size >= MAX_WAITING) {
      this.#isFull = true;
      return undefined;
    }
    const cell: Cell = { root, path, base: known, left: known, about: NO_INFO };
    this.#cells.set(id, cell);
    return cell;
  }

  /** Undefined if something else is at one of the paths by now. */
  #renameSource(root: string, path: string): string | undefined {
    const id = fileId(root, path);
    const old = this.#renameSources.get(id);
    if (old === undefined) return undefined;
    const cell = this.#cells.get(id);
    const source = this.#cells.get(fileId(root, old));
    if (cell?.left && !cell.base && source?.base && !source.left) return old;
    this.#renameSources.delete(id);
    return undefined;
  }

  #removeIfReviewed(root: string, path: string): void {
    this.#files = undefined;
    const id = fileId(root, path);
    const cell = this.#cells.get(id);
    if (cell && isSameVersion(cell.base, cell.left)) this.#cells.delete(id);
  }

  #list(): readonly ReviewFile[] {
    const sources = new Map<string, string>();
    for (const { root, path } of this.#cells.values()) {
      const old = this.#renameSource(root, path);
      if (old !== undefined) sources.set(fileId(root, old), path);
    }
    const files: ReviewFile[] = [];
    for (const [id, cell] of this.#cells) {
      if (sources.has(id)) continue;
      const { root, path, left } = cell;
      const oldPath = this.#renameSources.get(id);
      const base = oldPath === undefined ? cell.base : this.#cells.get(fileId(root, oldPath))?.base;
      const { count, alsoYours, isUnnamed, isConflict } = cell.about;
      const { added, removed, isBinary } = count;
      files.push({
        id,
        root,
        path,
        oldPath,
        base,
        left,
        added,
        removed,
        isBinary: isBinary || undefined,
        alsoYours: alsoYours || undefined,
        isUnnamed: isUnnamed || undefined,
        state: isConflict ? 'conflict' : 'unreviewed',
      });
    }
    files.sort((one, two) => (one.id < two.id ? -1 : 1));
    this.#byId = new Map(files.map((file) => [file.id, file]));
    return files;
  }
}
