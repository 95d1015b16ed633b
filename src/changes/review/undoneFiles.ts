// Remembers files around each undo, so that what waited waits again when the editor's Undo brings the
// change back, and no longer when its Redo takes the change away again.
import { createHash } from 'node:crypto';
import type { FileVersion } from '../model/fileChange';
import type { FileEdit, WorkingFiles } from '../model/workingFiles';
import type { Settled } from './keptReview';
import type { ReviewFile } from './reviewFile';
import { isSameVersion } from './waitingFiles';

/** Undone files that are remembered: the newest. */
const MAX_UNDONE = 5000;

/** What a review says of a file. */
export interface Standing {
  /** Absent: it does not wait. */
  readonly file: ReviewFile | undefined;
  /** Absent: not known. */
  readonly settled: Settled | undefined;
}

/** What is remembered of one undone file. */
export interface UndoneFile {
  readonly root: string;
  /** Relative to `root`: the path that it was undone at. */
  readonly path: string;
  readonly before: Standing;
  readonly after: Standing;
}

interface Remembered extends UndoneFile {
  readonly contents: readonly AroundEdit[];
  /** The change was brought back. */
  isBack: boolean;
}

/** A file before and after an edit: what names the content; undefined: there is no file. */
interface AroundEdit {
  /** Absolute. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Knows the contents of files before and after an undo. */
export class UndoneFiles {
  /** The newest last. */
  #undone: readonly Remembered[] = [];
  #paths: ReadonlySet<string> = new Set();

  /** Absolute paths of files that the editor's Undo may bring back. */
  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** A file was undone by these edits. What the editor could redo until then is forgotten. */
  add(undone: UndoneFile, edits: readonly FileEdit[]): void {
    // Neither a mode nor a link comes back by the editor's Undo.
    const contents = edits
      .filter(({ mode, expected, content }) => mode !== '120000' && !(expected && content?.equals(expected)))
      .map(({ path, expected, content }) => ({ path, before: nameOf(expected), after: nameOf(content) }));
    if (contents.length === 0) return;
    const touched = new Set(contents.map(({ path }) => path));
    const others = this.#undone.filter((one) => !one.isBack || !one.contents.some(({ path }) => touched.has(path)));
    this.#set([...others, { ...undone, contents, isBack: false }].slice(-MAX_UNDONE));
  }

  /**
   * Finds what a file that changed in the editor was before or after an undo.
   * @param path absolute
   * @returns what the review says then, and what it says now where nothing else happened
   */
  async find(
    path: string,
    files: Pick<WorkingFiles, 'read'>,
  ): Promise<{ readonly undone: UndoneFile; readonly from: Standing; readonly to: Standing } | undefined> {
    const known = this.#undone.filter(({ contents }) => contents.some((one) => one.path === path));
    const present = new Map<string, string | undefined>();
    for (const undone of known.reverse()) {
      const { contents, isBack, before, after } = undone;
      for (const { path } of contents)
        if (!present.has(path)) present.set(path, nameOf((await files.read(path))?.content));
      if (!contents.every((one) => present.get(one.path) === (isBack ? one.after : one.before))) continue;
      undone.isBack = !isBack;
      return isBack ? { undone, from: before, to: after } : { undone, from: after, to: before };
    }
    return undefined;
  }

  /** A part of a file that waits was kept: that stays so, whatever is brought back. */
  kept({ root, path }: Pick<ReviewFile, 'root' | 'path'>, base: FileVersion | undefined): void {
    this.#set(
      this.#undone.flatMap((one) => {
        if (one.root !== root || one.path !== path) return [one];
        const [before, after] = [one.before.file, one.after.file];
        // Of a rename, or a file that does not wait, it is not known what else was kept with it.
        if (!before || !after || before.oldPath !== undefined || !isSameVersion(before.base, after.base)) return [];
        return [{ ...one, before: keptAs(before, base), after: keptAs(after, base) }];
      }),
    );
  }

  /** Files were changed by the agent or a restore. */
  forget(root: string, paths: readonly (string | undefined)[]): void {
    if (this.#undone.length === 0) return;
    const isGone = ({ root: other, path, before, after }: UndoneFile): boolean =>
      other === root && [path, before.file?.oldPath, after.file?.path].some((one) => one && paths.includes(one));
    this.#set(this.#undone.filter((one) => !isGone(one)));
  }

  clear(): void {
    this.#set([]);
  }

  #set(undone: readonly Remembered[]): void {
    this.#undone = undone;
    this.#paths = new Set(undone.flatMap(({ contents }) => contents.map(({ path }) => path)));
  }
}

function keptAs(file: ReviewFile, base: FileVersion | undefined): Standing {
  if (isSameVersion(base, file.left)) return { file: undefined, settled: 'kept' };
  const { base: _base, ...rest } = file;
  return { file: { ...rest, base }, settled: undefined };
}

function nameOf(content: Buffer | undefined): string | undefined {
  return content && `${content.length} ${createHash('sha256').update(content).digest('base64')}`;
}
