// Commands for the hunk at the cursor (next, previous, keep, undo) and the lenses above hunks.

import { l10n, Range, Selection, type TextEditor, TextEditorRevealType, Uri, window } from 'vscode';
import { Part } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { ReviewHunk } from '../../changes/review/reviewFile';
import { type Lens, Lenses } from '../ui/fileMarks';
import { comparedReview, openComparison } from './comparisons';
import { keepChanges, undoChanges } from './reviewActions';
import type { ReviewIndex, WaitingFile } from './reviewIndex';

const MAX_LENSES = 1_000;

export interface HunkArgument {
  /** Key of the session; default: chosen by the user if several changed the file. */
  readonly session?: string;
  /** Absolute; default: the active editor's file. */
  readonly path?: string;
  /** Id of the hunk; default: the one at the cursor. */
  readonly hunk?: string;
}

export class HunkLenses extends Part {
  readonly #index: ReviewIndex;

  constructor(index: ReviewIndex) {
    super();
    this.#index = index;
    const lenses = this.own(new Lenses(({ uri }) => this.#lensesOf(uri.fsPath)));
    this.own(index.onDidChange(() => lenses.refresh()));
  }

  async #lensesOf(path: string): Promise<readonly Lens[]> {
    const waiting = this.#index.at(path);
    const undone = await this.#undoneIn(path);
    if (!waiting) return undone;
    const hunks = (await hunksOf(waiting)) ?? [];
    const { key: session } = waiting.conversation;
    const lenses = hunks.slice(0, MAX_LENSES).flatMap(({ id, present: { start: line }, isConflict }) => {
      const argument: HunkArgument = { session, path, hunk: id };
      const keep = { line, title: l10n.t('Keep'), command: 'parley.changes.keepHunk', argument };
      if (!isConflict) return [keep, { line, title: l10n.t('Undo'), command: 'parley.changes.undoHunk', argument }];
      const title = l10n.t('Conflict: You Edited These Lines. Open Diff');
      return [{ line, title, command: 'parley.changes.openDiff', argument }, keep];
    });
    return [...lenses, ...undone];
  }

  async #undoneIn(path: string): Promise<readonly Lens[]> {
    const found = this.#index.undoneAt(path);
    const line = await found?.review.undoneAt(found.path).catch(() => undefined);
    if (!found || line === undefined) return [];
    const argument: HunkArgument = { session: found.conversation.key, path: found.path };
    return [{ line, title: l10n.t('Redo'), command: 'parley.changes.redo', argument }];
  }
}

/** @param isNamed the command named the file, rather than using the active editor */
type ChooseWaiting = (found: readonly WaitingFile[], isNamed: boolean) => Promise<WaitingFile>;

export class HunkCommands {
  readonly #index: ReviewIndex;
  readonly #choose: ChooseWaiting;

  constructor(index: ReviewIndex, choose: ChooseWaiting) {
    this.#index = index;
    this.#choose = choose;
  }

  async keepHunk(argument: HunkArgument = {}): Promise<void> {
    const { waiting, hunk } = await this.#hunk(argument);
    await keepChanges(waiting.conversation, { kind: 'hunk', id: waiting.file.id, hunk: hunk.id });
  }

  async undoHunk(argument: HunkArgument = {}): Promise<void> {
    const { waiting, hunk } = await this.#hunk(argument);
    await undoChanges(waiting.conversation, { kind: 'hunk', id: waiting.file.id, hunk: hunk.id });
  }

  async keepFile(argument: HunkArgument = {}): Promise<void> {
    const { conversation, file } = await this.#file(argument);
    await keepChanges(conversation, { kind: 'file', id: file.id });
  }

  async undoFile(argument: HunkArgument = {}): Promise<void> {
    const { conversation, file } = await this.#file(argument);
    await undoChanges(conversation, { kind: 'file', id: file.id });
  }

  async openDiff(argument: HunkArgument = {}): Promise<void> {
    const { conversation, file } = await this.#file(argument);
    await openComparison(comparedReview(conversation.key, file));
  }

  /** Goes to the next (1) or previous (-1) hunk, continuing in the next file to review. */
  async go(direction: 1 | -1): Promise<void> {
    const { files } = this.#index;
    if (files.length === 0) throw noHunks();
    const editor = window.activeTextEditor;
    const current = editor && this.#index.at(editor.document.uri.fsPath);
    if (editor && current) {
      const line = editor.selection.active.line;
      const starts = ((await hunksOf(current)) ?? []).map(({ present }) => present.start);
      const next = direction > 0 ? starts.find((one) => one > line) : starts.findLast((one) => one < line);
      if (next !== undefined) {
        reveal(editor, next);
        return;
      }
    }
    const at = current ? files.findIndex(({ path }) => path === current.path) : direction > 0 ? -1 : 0;
    const target = files[(at + direction + files.length) % files.length];
    if (!target) return;
    if (!target.file.left) {
      await this.openDiff({ path: target.path, session: target.conversation.key });
      return;
    }
    const opened = await window.showTextDocument(Uri.file(target.path), { preview: true });
    const hunks = (await hunksOf(target)) ?? [];
    reveal(opened, (direction > 0 ? hunks[0] : hunks.at(-1))?.present.start ?? 0);
  }

  async #file({ path, session }: HunkArgument): Promise<WaitingFile> {
    const wanted = path ?? window.activeTextEditor?.document.uri.fsPath;
    const all = wanted === undefined ? [] : this.#index.allAt(wanted);
    const found = session === undefined ? all : all.filter(({ conversation }) => conversation.key === session);
    if (found.length === 0) throw noHunks();
    return this.#choose(found, path !== undefined);
  }

  async #hunk({ hunk, ...of }: HunkArgument): Promise<{ waiting: WaitingFile; hunk: ReviewHunk }> {
    const waiting = await this.#file(of);
    const hunks = (await hunksOf(waiting)) ?? [];
    const line = window.activeTextEditor?.selection.active.line ?? 0;
    const found =
      hunk === undefined
        ? hunks.find(({ present: { start, count } }) => line >= start && line < start + Math.max(1, count))
        : hunks.find(({ id }) => id === hunk);
    if (!found) throw new ParleyError('no-changes', localizable('There is no change of the agent at the cursor.'));
    return { waiting, hunk: found };
  }
}

function hunksOf({ review, file }: WaitingFile): Promise<readonly ReviewHunk[] | undefined> {
  return review.hunks(file.id).catch(() => undefined);
}

function reveal(editor: TextEditor, line: number): void {
  const at = Math.min(line, editor.document.lineCount - 1);
  editor.selection = new Selection(at, 0, at, 0);
  editor.revealRange(new Range(at, 0, at, 0), TextEditorRevealType.InCenterIfOutsideViewport);
}

function noHunks(): ParleyError {
  return new ParleyError('no-changes', localizable('There are no changes to review here.'));
}
