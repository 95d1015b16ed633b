// Remembers files around each undo, so that what waited waits again when the editor's Undo brings the
// change back, and no longer when its Redo takes the change away again.
import { createHash } from 'node:crypto';
import type { FileEdit, FileVersion, WorkingFiles } from '../model/fileChange';
import type { Settled } from './keptReview';
import type { ReviewFile } from './reviewFile';
import { isSameVersion } from './waitingFiles';

const MAX_UNDONE = 5000;

export interface Standing {
  readonly file: ReviewFile | undefined;
  readonly settled: Settled | undefined;
}

export interface UndoneFile {
  readonly root: string;
  readonly path: string;
  readonly before: Standing;
  readonly after: Standing;
}

interface Remembered extends UndoneFile {
  readonly contents: readonly AroundEdit[];
  isBack: boolean;
}

/** Hashes before and after an edit; undefined: no file. */
interface AroundEdit {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export class UndoneFiles {
  #undone: readonly Remembered[] = [];
  #paths: ReadonlySet<string> = new Set();

  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** What the editor could redo until then is forgotten. */
  add(undone: UndoneFile, edits: readonly FileEdit[]): void {
    // The editor's Undo restores neither modes nor links.
    const contents = edits
      .filter(({ mode, expected, content }) => mode !== '120000' && !(expected && content?.equals(expected)))
      .map(({ path, expected, content }) => ({ path, before: nameOf(expected), after: nameOf(content) }));
    if (contents.length === 0) return;
    const touched = new Set(contents.map(({ path }) => path));
    const others = this.#undone.filter((one) => !one.isBack || !one.contents.some(({ path }) => touched.has(path)));
    this.#set([...others, { ...undone, contents, isBack: false }].slice(-MAX_UNDONE));
  }

  /** Returns the review's state before or after an undo, if the changed file is as it was then. */
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

  /** A kept part stays kept, whatever is brought back. */
  kept({ root, path }: Pick<ReviewFile, 'root' | 'path'>, base: FileVersion | undefined): void {
    this.#set(
      this.#undone.flatMap((one) => {
        if (one.root !== root || one.path !== path) return [one];
        const [before, after] = [one.before.file, one.after.file];
        // Of a rename, or a file that doesn't wait, it is unknown what else was kept with it.
        if (!before || !after || before.oldPath !== undefined || !isSameVersion(before.base, after.base)) return [];
        return [{ ...one, before: keptAs(before, base), after: keptAs(after, base) }];
      }),
    );
  }

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
