// Records files around each undo for redo. If the editor's Undo restores the change, it is
// unreviewed again until the editor's Redo.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { FileEdit, FileVersion, WorkingFiles } from '../model/fileChange';
import type { ReviewFile, Settled } from './reviewFile';
import type { Change } from './takeBack';
import { fileId, isSameVersion } from './waitingFiles';

export const MAX_UNDONE = 5000;

export interface FileState {
  readonly file: ReviewFile | undefined;
  readonly settled: Settled | undefined;
}

export interface UndoneFile {
  readonly root: string;
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** What the undo changed; redo reverts this. */
  readonly undo: Change;
  readonly turnId?: string | undefined;
  /** Part of the last undo, with no turn since. */
  readonly isLast?: true | undefined;
}

export type RedoScope = 'review' | { readonly turnId: string };

export function redoableIn(all: readonly UndoneFile[], scope: RedoScope, file?: string): readonly UndoneFile[] {
  return all.filter(({ root, path, turnId, isLast }) => {
    if (file !== undefined) return join(root, path) === file;
    return scope === 'review' ? isLast : turnId === scope.turnId;
  });
}

interface RecordedUndo extends UndoneFile {
  /** Empty: the editor didn't make the edits, or restarted. */
  editHashes: readonly EditHashes[];
  isRestored: boolean;
}

/** Hashes before and after an edit; undefined: no file. */
interface EditHashes {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export class UndoneFiles {
  #undone: readonly RecordedUndo[] = [];
  #paths: ReadonlySet<string> = new Set();
  #redoable: readonly UndoneFile[] | undefined;

  get redoable(): readonly UndoneFile[] {
    const last = new Map(this.#unrestored.map((one) => [fileId(one.root, one.path), one]));
    this.#redoable ??= [...last.values()];
    return this.#redoable;
  }

  /** Input of {@link reset}. */
  get kept(): readonly UndoneFile[] {
    return this.#unrestored.map(({ editHashes: _editHashes, isRestored: _isRestored, ...one }) => one);
  }

  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** Starts another undo or turn. */
  begin(): void {
    this.#set(this.#undone.map((one) => (one.isLast ? { ...one, isLast: undefined } : one)));
  }

  /** Drops what the editor could redo so far. */
  add(undone: UndoneFile, edits: readonly FileEdit[]): void {
    const editHashes = hashEdits(edits);
    const touched = new Set(editHashes.map(({ path }) => path));
    const others = this.#undone.filter(
      (one) => !one.isRestored || !one.editHashes.some(({ path }) => touched.has(path)),
    );
    this.#set([...others, { ...undone, editHashes, isRestored: false }].slice(-MAX_UNDONE));
  }

  redone(undone: UndoneFile, edits: readonly FileEdit[]): void {
    const editHashes = hashEdits(edits).map(({ path, before, after }) => ({ path, before: after, after: before }));
    this.#set(this.#undone.map((one) => (one === undone ? { ...one, editHashes, isRestored: true } : one)));
  }

  /** The review's state before or after an undo, if the changed files match it. */
  async find(
    path: string,
    files: Pick<WorkingFiles, 'read'>,
  ): Promise<{ readonly undone: UndoneFile; readonly from: FileState; readonly to: FileState } | undefined> {
    const candidates = this.#undone.filter(({ editHashes }) => editHashes.some((one) => one.path === path));
    const present = new Map<string, string | undefined>();
    for (const undone of candidates.reverse()) {
      const { editHashes, isRestored, before, after } = undone;
      for (const { path } of editHashes)
        if (!present.has(path)) present.set(path, hashOf((await files.read(path))?.content));
      if (!editHashes.every((one) => present.get(one.path) === (isRestored ? one.after : one.before))) continue;
      undone.isRestored = !isRestored;
      this.#redoable = undefined;
      return isRestored ? { undone, from: before, to: after } : { undone, from: after, to: before };
    }
    return undefined;
  }

  /** A kept part stays kept, whatever is restored. */
  partKept({ root, path }: Pick<ReviewFile, 'root' | 'path'>, base: FileVersion | undefined): void {
    this.#set(
      this.#undone.flatMap((one) => {
        if (one.root !== root || one.path !== path) return [one];
        const [before, after] = [one.before.file, one.after.file];
        // For a rename or a reviewed file, it is unknown what else was kept with it.
        if (!before || !after || before.oldPath !== undefined || !isSameVersion(before.base, after.base)) return [];
        return [{ ...one, before: keptAs(before, base), after: keptAs(after, base) }];
      }),
    );
  }

  forget(root: string, paths: readonly (string | undefined)[]): void {
    if (this.#undone.length === 0) return;
    const isObsolete = ({ root: other, path, before, after }: UndoneFile): boolean =>
      other === root && [path, before.file?.oldPath, after.file?.path].some((one) => one && paths.includes(one));
    this.#set(this.#undone.filter((one) => !isObsolete(one)));
  }

  reset(undone: readonly UndoneFile[]): void {
    this.#set(undone.map((one) => ({ ...one, editHashes: [], isRestored: false })));
  }

  get #unrestored(): readonly RecordedUndo[] {
    return this.#undone.filter(({ isRestored }) => !isRestored);
  }

  #set(undone: readonly RecordedUndo[]): void {
    this.#undone = undone;
    this.#redoable = undefined;
    this.#paths = new Set(undone.flatMap(({ editHashes }) => editHashes.map(({ path }) => path)));
  }
}

function keptAs(file: ReviewFile, base: FileVersion | undefined): FileState {
  if (isSameVersion(base, file.left)) return { file: undefined, settled: 'kept' };
  const { base: _base, ...rest } = file;
  return { file: { ...rest, base }, settled: undefined };
}

function hashEdits(edits: readonly FileEdit[]): readonly EditHashes[] {
  // The editor's Undo restores neither modes nor links.
  return edits
    .filter(({ mode, expected, content }) => mode !== '120000' && !(expected && content?.equals(expected)))
    .map(({ path, expected, content }) => ({ path, before: hashOf(expected), after: hashOf(content) }));
}

function hashOf(content: Buffer | undefined): string | undefined {
  return content && `${content.length} ${createHash('sha256').update(content).digest('base64')}`;
}
