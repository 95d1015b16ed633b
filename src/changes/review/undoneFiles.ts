// Remembers files around each undo, so that it can be redone, and so that what waited waits again
// when the editor's Undo brings the change back, and no longer when its Redo takes it away again.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { FileEdit, FileVersion, WorkingFiles } from '../model/fileChange';
import type { ReviewFile, Settled } from './reviewFile';
import type { Change } from './takeBack';
import { fileId, isSameVersion } from './waitingFiles';

export const MAX_UNDONE = 5000;

export interface Standing {
  readonly file: ReviewFile | undefined;
  readonly settled: Settled | undefined;
}

export interface UndoneFile {
  readonly root: string;
  readonly path: string;
  readonly before: Standing;
  readonly after: Standing;
  /** What the undo changed. To redo is to take this back. */
  readonly undo: Change;
  /** The turn that was undone, if it was one. */
  readonly turnId?: string | undefined;
  /** Undone by the last undo, and no turn has ended since. */
  readonly isLast?: true | undefined;
}

/** What was undone last, or of a turn. */
export type RedoScope = 'review' | { readonly turnId: string };

/** @param file absolute */
export function redoableIn(all: readonly UndoneFile[], scope: RedoScope, file?: string): readonly UndoneFile[] {
  return all.filter(({ root, path, turnId, isLast }) => {
    if (file !== undefined) return join(root, path) === file;
    return scope === 'review' ? isLast : turnId === scope.turnId;
  });
}

interface Remembered extends UndoneFile {
  /** Empty: the editor didn't make the edits, or is another one now. */
  contents: readonly AroundEdit[];
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
  #redoable: readonly UndoneFile[] | undefined;

  /** The last undo of each file. */
  get redoable(): readonly UndoneFile[] {
    const last = new Map(this.#notBack.map((one) => [fileId(one.root, one.path), one]));
    this.#redoable ??= [...last.values()];
    return this.#redoable;
  }

  /** What {@link reset} takes. */
  get kept(): readonly UndoneFile[] {
    return this.#notBack.map(({ contents: _contents, isBack: _isBack, ...one }) => one);
  }

  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** Another undo, or the end of a turn. */
  begin(): void {
    this.#set(this.#undone.map((one) => (one.isLast ? { ...one, isLast: undefined } : one)));
  }

  /** What the editor could redo until then is forgotten. */
  add(undone: UndoneFile, edits: readonly FileEdit[]): void {
    const contents = aroundEdits(edits);
    const touched = new Set(contents.map(({ path }) => path));
    const others = this.#undone.filter((one) => !one.isBack || !one.contents.some(({ path }) => touched.has(path)));
    this.#set([...others, { ...undone, contents, isBack: false }].slice(-MAX_UNDONE));
  }

  /** The editor's Undo can take the redo back. */
  redone(undone: UndoneFile, edits: readonly FileEdit[]): void {
    const contents = aroundEdits(edits).map(({ path, before, after }) => ({ path, before: after, after: before }));
    this.#set(this.#undone.map((one) => (one === undone ? { ...one, contents, isBack: true } : one)));
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
      this.#redoable = undefined;
      return isBack ? { undone, from: before, to: after } : { undone, from: after, to: before };
    }
    return undefined;
  }

  /** A kept part stays kept, whatever is brought back. */
  partKept({ root, path }: Pick<ReviewFile, 'root' | 'path'>, base: FileVersion | undefined): void {
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

  reset(undone: readonly UndoneFile[]): void {
    this.#set(undone.map((one) => ({ ...one, contents: [], isBack: false })));
  }

  get #notBack(): readonly Remembered[] {
    return this.#undone.filter(({ isBack }) => !isBack);
  }

  #set(undone: readonly Remembered[]): void {
    this.#undone = undone;
    this.#redoable = undefined;
    this.#paths = new Set(undone.flatMap(({ contents }) => contents.map(({ path }) => path)));
  }
}

function keptAs(file: ReviewFile, base: FileVersion | undefined): Standing {
  if (isSameVersion(base, file.left)) return { file: undefined, settled: 'kept' };
  const { base: _base, ...rest } = file;
  return { file: { ...rest, base }, settled: undefined };
}

function aroundEdits(edits: readonly FileEdit[]): readonly AroundEdit[] {
  // The editor's Undo restores neither modes nor links.
  return edits
    .filter(({ mode, expected, content }) => mode !== '120000' && !(expected && content?.equals(expected)))
    .map(({ path, expected, content }) => ({ path, before: nameOf(expected), after: nameOf(content) }));
}

function nameOf(content: Buffer | undefined): string | undefined {
  return content && `${content.length} ${createHash('sha256').update(content).digest('base64')}`;
}
