// Undoes many files in as few steps as possible.
import * as l10n from '@vscode/l10n';
import { ParleyError } from '../../base/errors';
import type { FileEdit, WorkingFile, WorkingFiles } from '../model/fileChange';
import type { FileTexts } from './fileTexts';
import { isSafePath, type ReviewFile, type ReviewProblem } from './reviewFile';
import { type Change, type Part, type Present, type Reversal, revertChange } from './takeBack';
import type { UndoneFile } from './undoneFiles';

const MAX_STEP_BYTES = 64 * 1024 * 1024;

export interface UndoItem {
  readonly change: Change;
  readonly part: Part;
  /** The unreviewed file to undo; absent: the change of a turn. */
  readonly file?: ReviewFile;
  /** The undo to revert, as a whole or not at all. */
  readonly redoes?: UndoneFile;
}

export interface UndoObserver {
  /** Called after the edits; after a partial conflict, for the other hunks. */
  undone(item: UndoItem, reversal: Reversal): Promise<void>;
  conflict(item: UndoItem, why: ReviewProblem['why']): void;
  failed(item: UndoItem, why: ReviewProblem['why']): void;
}

/** One step of the user's Undo unless the changes are very large or depend on each other. */
export async function undoInSteps(
  items: readonly UndoItem[],
  files: WorkingFiles,
  texts: (root: string) => FileTexts,
  observer: UndoObserver,
  label = l10n.t('Undo changes of the agent'),
): Promise<void> {
  const present = new PresentFiles(files);
  let step: { item: UndoItem; reversal: Reversal }[] = [];
  const applyStep = async (): Promise<void> => {
    const refused = await present.apply(label);
    for (const { item, reversal } of step) {
      await texts(item.change.root).slices.pause();
      if (reversal.edits.some((edit) => refused.has(edit.path))) observer.failed(item, 'refused');
      else await observer.undone(item, reversal);
    }
    step = [];
  };
  // Deletions first: they make room for former paths and folders. Failures are retried.
  let rest = [...items].sort(
    (one, two) => Number(one.change.before !== undefined) - Number(two.change.before !== undefined),
  );
  let blockedItems: { item: UndoItem; why: 'occupied' | 'outside' }[] = [];
  for (let isProgress = true; rest.length > 0 && isProgress; ) {
    isProgress = false;
    blockedItems = [];
    for (const item of rest) {
      const reversal = await computeReversal(texts(item.change.root), item, present).catch(whyFailed);
      if (reversal === 'outside') blockedItems.push({ item, why: reversal });
      else if (typeof reversal === 'string') observer.failed(item, reversal);
      else if (reversal.problem === 'occupied') blockedItems.push({ item, why: reversal.problem });
      else if (reversal.problem && item.redoes) observer.conflict(item, reversal.problem);
      else {
        isProgress = true;
        if (reversal.problem) observer.conflict(item, reversal.problem);
        present.add(reversal.edits);
        step.push({ item, reversal });
      }
      if (present.bytes > MAX_STEP_BYTES) await applyStep();
    }
    rest = blockedItems.map(({ item }) => item);
    // Links are looked up on disk.
    if (blockedItems.some(({ why }) => why === 'outside')) await applyStep();
  }
  await applyStep();
  for (const { item, why } of blockedItems) {
    if (why === 'occupied') observer.conflict(item, why);
    else observer.failed(item, why);
  }
}

export function whyFailed(error: unknown): 'not-kept' | 'refused' {
  const isGone = error instanceof ParleyError && ['state-gone', 'version-not-kept'].includes(error.code);
  return isGone ? 'not-kept' : 'refused';
}

async function computeReversal(texts: FileTexts, item: UndoItem, present: PresentFiles): Promise<Reversal | 'outside'> {
  const { root, path, oldPath } = item.change;
  await texts.slices.pause();
  const isSafe = (await isSafePath(root, path)) && (oldPath === undefined || (await isSafePath(root, oldPath)));
  return isSafe ? revertChange(texts, item.change, item.part, present) : 'outside';
}

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

  /** A second edit of a file continues from the first. */
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
