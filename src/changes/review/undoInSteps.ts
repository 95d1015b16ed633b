// Undoes many files at once, in as few steps as can be.
import * as l10n from '@vscode/l10n';
import { ParleyError } from '../../base/errors';
import type { FileEdit, WorkingFile, WorkingFiles } from '../model/fileChange';
import type { FileTexts } from './fileTexts';
import { isSafePath, type ReviewFile, type ReviewProblem } from './reviewFile';
import { type Change, type Part, type Present, type TakingBack, takeBack } from './takeBack';
import type { UndoneFile } from './undoneFiles';

const MAX_STEP_BYTES = 64 * 1024 * 1024;

export interface UndoItem {
  readonly change: Change;
  readonly part: Part;
  /** The waiting file that is undone; absent: the change of a turn. */
  readonly file?: ReviewFile;
  /** The undo that is undone: as a whole, or not at all. */
  readonly redoes?: UndoneFile;
}

export interface UndoObserver {
  /** Called after the edits; in a partial conflict, for the other parts. */
  undone(item: UndoItem, back: TakingBack): Promise<void>;
  conflict(item: UndoItem, why: ReviewProblem['why']): void;
  failed(item: UndoItem, why: ReviewProblem['why']): void;
}

/**
 * Takes changes back, as one step of the user's Undo unless they are very large or depend on each
 * other.
 * @param texts by root
 */
export async function undoInSteps(
  items: readonly UndoItem[],
  files: WorkingFiles,
  texts: (root: string) => FileTexts,
  observer: UndoObserver,
  label = l10n.t('Undo changes of the agent'),
): Promise<void> {
  const present = new PresentFiles(files);
  let step: { item: UndoItem; back: TakingBack }[] = [];
  const finish = async (): Promise<void> => {
    const refused = await present.apply(label);
    for (const { item, back } of step) {
      await texts(item.change.root).slices.pause();
      if (back.edits.some((edit) => refused.has(edit.path))) observer.failed(item, 'refused');
      else await observer.undone(item, back);
    }
    step = [];
  };
  // Deletions first: they make room for former paths and folders. Failures are tried again.
  let rest = [...items].sort(
    (one, two) => Number(one.change.before !== undefined) - Number(two.change.before !== undefined),
  );
  let later: { item: UndoItem; why: 'occupied' | 'outside' }[] = [];
  for (let isProgress = true; rest.length > 0 && isProgress; ) {
    isProgress = false;
    later = [];
    for (const item of rest) {
      const back = await workOut(texts(item.change.root), item, present).catch(whyFailed);
      if (back === 'outside') later.push({ item, why: back });
      else if (typeof back === 'string') observer.failed(item, back);
      else if (back.problem === 'occupied') later.push({ item, why: back.problem });
      else if (back.problem && item.redoes) observer.conflict(item, back.problem);
      else {
        isProgress = true;
        if (back.problem) observer.conflict(item, back.problem);
        present.add(back.edits);
        step.push({ item, back });
      }
      if (present.bytes > MAX_STEP_BYTES) await finish();
    }
    rest = later.map(({ item }) => item);
    // Links are looked up on disk.
    if (later.some(({ why }) => why === 'outside')) await finish();
  }
  await finish();
  for (const { item, why } of later) {
    if (why === 'occupied') observer.conflict(item, why);
    else observer.failed(item, why);
  }
}

export function whyFailed(error: unknown): 'not-kept' | 'refused' {
  const isGone = error instanceof ParleyError && ['state-gone', 'version-not-kept'].includes(error.code);
  return isGone ? 'not-kept' : 'refused';
}

async function workOut(texts: FileTexts, item: UndoItem, present: PresentFiles): Promise<TakingBack | 'outside'> {
  const { root, path, oldPath } = item.change;
  await texts.slices.pause();
  const isSafe = (await isSafePath(root, path)) && (oldPath === undefined || (await isSafePath(root, oldPath)));
  return isSafe ? takeBack(texts, item.change, item.part, present) : 'outside';
}

/** Collects edits; what is read is as if they were made. */
class PresentFiles implements Present {
  readonly #files: WorkingFiles;
  readonly #edits = new Map<string, FileEdit>();
  #bytes = 0;

  constructor(files: WorkingFiles) {
    this.#files = files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async read(path: string): Promise<WorkingFile | undefined> {
    const edit = this.#edits.get(path);
    if (!edit) return this.#files.read(path);
    return edit.content && { content: edit.content, mode: edit.mode ?? '100644', isDirty: false };
  }

  /** Adds edits; a second one of a file continues from the first. */
  add(edits: readonly FileEdit[]): void {
    for (const edit of edits) {
      const first = this.#edits.get(edit.path);
      this.#edits.set(edit.path, first ? { ...edit, expected: first.expected } : edit);
      this.#bytes += (edit.expected?.length ?? 0) + (edit.content?.length ?? 0);
    }
  }

  async apply(label: string): Promise<ReadonlySet<string>> {
    const edits = [...this.#edits.values()];
    this.#edits.clear();
    this.#bytes = 0;
    return new Set(edits.length > 0 ? await this.#files.apply(edits, label) : []);
  }
}
