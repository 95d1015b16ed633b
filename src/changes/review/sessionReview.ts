// Reviews what a session's agent changed: lists unreviewed files, and keeps and undoes them by
// hunk, file, turn or all.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, countOf } from '../lines/hunks';
import { mapLines, withHunks } from '../lines/placeHunks';
import type { FileChange, FileVersion, FolderStates, WorkingFiles } from '../model/fileChange';
import { keepTurn, mergeTurn } from './carry';
import { FileTexts, NO_LINES } from './fileTexts';
import { HunkLists } from './hunkLists';
import { fromStored, MAX_SETTLED, type StoredReview, toStored } from './keptReview';
import {
  type FinishedTurn,
  isSafePath,
  type KeepResult,
  type ReviewFile,
  type ReviewHunk,
  type ReviewProblem,
  type ReviewTarget,
  type Settled,
  type UndoResult,
} from './reviewFile';
import { type Change, changeOfReversal, type Reversal, revertedVersion } from './takeBack';
import { type UndoItem, type UndoObserver, undoInSteps, whyFailed } from './undoInSteps';
import { type FileState, type RedoScope, redoableIn, type UndoneFile, UndoneFiles } from './undoneFiles';
import { fileId, isSameVersion, UnreviewedFiles } from './waitingFiles';

interface ReviewOptions {
  readonly states: FolderStates;
  readonly files: WorkingFiles;
  readonly kept?: unknown;
  /** Replaces the stored state; handles its own errors. */
  save(kept: StoredReview): Promise<void>;
}

/**
 * A file is unreviewed while the agent's version differs from the last kept one in bytes, mode or
 * path. Keeping changes no file. Undoing changes nothing that the user edited, which is a conflict
 * instead. Operations run one after another, and the state is saved after each.
 */
export class SessionReview implements Disposable {
  readonly #states: FolderStates;
  readonly #working: WorkingFiles;
  readonly #save: (kept: StoredReview) => Promise<void>;
  readonly #unreviewed = new UnreviewedFiles();
  readonly #hunkLists = new HunkLists();
  readonly #undoneFiles = new UndoneFiles();
  readonly #onDidChange = new Emitter<void>();
  readonly #pathsInCheck = new Set<string>();
  #settled = new Map<string, Settled>();
  #queueTail: Promise<unknown> = Promise.resolve();

  readonly onDidChange: Event<void> = this.#onDidChange.event;

  constructor({ states, files, kept, save }: ReviewOptions) {
    this.#states = states;
    this.#working = files;
    this.#save = save;
    this.#load(kept);
  }

  get files(): readonly ReviewFile[] {
    return this.#unreviewed.files;
  }

  get isIncomplete(): boolean {
    return this.#unreviewed.isFull;
  }

  get kept(): StoredReview {
    return toStored(this.files, this.#settled, this.#undoneFiles.kept);
  }

  get settledPaths(): readonly string[] {
    return [...this.#settled.keys()].map((id) => join(...id.split('\0')));
  }

  stateOf(root: string, path: string): ReviewFile['state'] | Settled | undefined {
    const id = fileId(root, path);
    return this.#unreviewed.file(id)?.state ?? this.#settled.get(id);
  }

  /** Never includes edits of the user. A file that equals its kept version again is reviewed. */
  turnEnded(turn: FinishedTurn): Promise<void> {
    return this.#run(async () => {
      const texts = this.#textsByRoot();
      this.#undoneFiles.begin();
      for (const change of turn.changes) {
        const of = texts(change.root);
        await of.slices.pause();
        // Without an earlier version, there is nothing to undo.
        if (change.wasThere && !change.before) continue;
        await this.#addChange(of, change, isIn(turn.yours, change), isIn(turn.unnamed, change));
      }
    });
  }

  /**
   * In order; undefined without lines to compare. Throws ParleyError `state-gone`,
   * `version-not-kept`.
   */
  async hunks(id: string): Promise<readonly ReviewHunk[] | undefined> {
    const file = this.#unreviewed.file(id);
    if (!file) return undefined;
    const texts = new FileTexts(this.#states, file.root);
    const list = await this.#hunkLists.of(texts, file);
    if (!list) return undefined;
    const { others, isLost } = await this.#compareWithPresent(texts, file.path, file.left);
    const shown = mapLines(list, others);
    return list.map((hunk, index) => {
      const { start, count, isTouched } = shown[index]!;
      // A file is created or deleted as a whole.
      const isConflict = isLost || isTouched || (others.length > 0 && (!file.base || !file.left));
      return {
        id: hunk.id,
        base: { start: hunk.aStart, count: hunk.aCount },
        left: { start: hunk.bStart, count: hunk.bCount },
        present: { start, count },
        isConflict: isConflict ? (true as const) : undefined,
      };
    });
  }

  /** The first line of the file's last undo, from 0; undefined if it can't be redone. */
  async undoneAt(file: string): Promise<number | undefined> {
    const [one] = redoableIn(this.redoable, 'review', file);
    if (!one) return undefined;
    const { root, path, before, after } = one.undo;
    const texts = new FileTexts(this.#states, root);
    const [old, left] = [await texts.comparable(before), await texts.comparable(after)];
    if (!old || !left) return 0;
    const list = await compareLines(old, left, texts.slices);
    const { others } = await this.#compareWithPresent(texts, path, after);
    return mapLines(list, others)[0]?.start ?? 0;
  }

  /**
   * Changes no file. A turn is kept without changes of other turns; what can't be separated remains
   * unreviewed, as `entangled`.
   */
  keep(target: ReviewTarget): Promise<KeepResult> {
    return this.#run(async () => {
      const kept: { root: string; path: string }[] = [];
      const failed: ReviewProblem[] = [];
      const attempt = async (
        at: { root: string; path: string },
        work: () => Promise<ReviewProblem['why'] | undefined>,
      ) => {
        const { root, path } = at;
        const why = await work().catch(whyFailed);
        if (why) failed.push({ root, path, why });
        else kept.push({ root, path });
      };
      if (target.kind === 'turn') {
        const texts = this.#textsByRoot();
        for (const change of await this.#changesOf(target)) {
          if (this.#unreviewed.ends(change.root, change.path)) {
            await attempt(change, () => this.#keepChange(texts(change.root), change));
          } else kept.push({ root: change.root, path: change.path });
        }
      } else {
        const found = this.#filesOf(target);
        if (!found) failed.push({ ...targetLocation(target), why: 'gone' });
        for (const file of found ?? []) {
          await attempt(file, async () =>
            target.kind === 'hunk' ? this.#keepHunk(file, target.hunk) : this.#keepFile(file),
          );
        }
      }
      return { kept, failed };
    });
  }

  /**
   * Lines that the user edited stay byte for byte; what can't be undone without touching them is in
   * `conflicts`. `all` and `turn` skip files that the user saved during a turn. A turn is undone in
   * the present file, reviewed or not; later changes stay.
   */
  undo(target: ReviewTarget): Promise<UndoResult> {
    return this.#run(async () => {
      const result: MutableUndoResult = { undone: [], conflicts: [], failed: [] };
      const items = await this.#undoItems(target, result);
      const turnId = target.kind === 'turn' ? target.turnId : undefined;
      const texts = this.#textsByRoot();
      this.#undoneFiles.begin();
      await undoInSteps(items, this.#working, texts, {
        ...collecting(result),
        undone: async (item, reversal) => {
          if (!reversal.isWhole && !reversal.hunks?.length) return;
          const { root, path } = item.change;
          const before = this.#stateOf(root, path);
          await this.#recordUndo(texts(root), item, reversal);
          const after = this.#stateOf(root, path);
          if (reversal.edits.length > 0) {
            const undo = await changeOfReversal(texts(root), item.change, reversal);
            this.#undoneFiles.add({ root, path, before, after, undo, turnId, isLast: true }, reversal.edits);
          }
          result.undone.push(locationOf(item));
        },
        conflict: (item, why) => {
          result.conflicts.push({ ...locationOf(item), why });
          this.#unreviewed.describe(item.change.root, item.change.path, { isConflict: true });
        },
      });
      return result;
    });
  }

  /** The last undo of each file. */
  get redoable(): readonly UndoneFile[] {
    return this.#undoneFiles.redoable;
  }

  /**
   * Reverts undos by the rules of {@link undo}; each file as a whole.
   * @param file absolute; only its last undo, in any scope
   */
  redo(scope: RedoScope, file?: string): Promise<UndoResult> {
    return this.#run(async () => {
      const result: MutableUndoResult = { undone: [], conflicts: [], failed: [] };
      const items: UndoItem[] = [];
      for (const redoes of redoableIn(this.redoable, scope, file)) {
        if (this.#isInState(redoes, redoes.after)) items.push({ change: redoes.undo, part: {}, redoes });
        else result.conflicts.push({ root: redoes.root, path: redoes.path, why: 'entangled' });
      }
      const label = l10n.t('Redo changes of the agent');
      const observer = {
        ...collecting(result),
        undone: async (item: UndoItem, { edits }: Reversal) => {
          this.#setState(item.redoes!, item.redoes!.before);
          this.#undoneFiles.redone(item.redoes!, edits);
          result.undone.push(locationOf(item));
        },
      };
      await undoInSteps(items, this.#working, this.#textsByRoot(), observer, label);
      return result;
    });
  }

  restored(changes: readonly FileChange[]): Promise<void> {
    return this.#run(async () => {
      const texts = this.#textsByRoot();
      for (const change of changes) {
        const { root, path, oldPath, before, after } = change;
        const from = oldPath ?? path;
        this.#undoneFiles.forget(root, [path, oldPath]);
        const stateBefore = this.#stateOf(root, from);
        if (this.#unreviewed.ends(root, from) || this.#unreviewed.ends(root, path)) {
          const of = texts(root);
          const reversal: Change = {
            root,
            path: from,
            oldPath: oldPath !== undefined ? path : undefined,
            before: after,
            after: before,
          };
          const old = await of.comparable(reversal.before);
          const left = await of.comparable(reversal.after);
          const hunks = old && left ? await compareLines(old, left, of.slices) : undefined;
          await this.#revertChange(of, reversal, { hunks, isWhole: true });
          this.#unreviewed.setLeft(root, path, after, after);
        }
        const undo: Change = { root, path, oldPath, before, after };
        this.#undoneFiles.add({ root, path: from, before: stateBefore, after: this.#stateOf(root, from), undo }, []);
      }
    });
  }

  get undonePaths(): ReadonlySet<string> {
    return this.#undoneFiles.paths;
  }

  /** If the editor's Undo restored an undone change, the change is unreviewed again until Redo. */
  async editorChanged(path: string): Promise<void> {
    if (this.#pathsInCheck.has(path)) return;
    this.#pathsInCheck.add(path);
    const check = this.#queueTail.then(() => {
      this.#pathsInCheck.delete(path);
      return this.#undoneFiles.find(path, this.#working).catch(() => undefined);
    });
    this.#queueTail = check;
    const found = await check;
    if (!found) return;
    const { undone, from, to } = found;
    await this.#run(async () => {
      if (this.#isInState(undone, from)) this.#setState(undone, to);
    });
  }

  reset(kept: unknown): Promise<void> {
    return this.#run(async () => this.#load(kept));
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #load(kept: unknown): void {
    const { files, settled, undone } = fromStored(kept, this.#states.roots);
    this.#unreviewed.clear();
    this.#undoneFiles.reset(undone);
    for (const file of files) this.#unreviewed.add(file);
    this.#settled = settled;
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queueTail.then(async () => {
      try {
        return await work();
      } finally {
        await this.#count();
        await setImmediate();
        const { kept } = this;
        await setImmediate();
        await this.#save(kept);
        this.#onDidChange.fire();
      }
    });
    this.#queueTail = result.catch(() => undefined);
    return result;
  }

  /** `isLost`: the present file has no lines, or one of both is missing. */
  async #compareWithPresent(
    texts: FileTexts,
    path: string,
    version: FileVersion | undefined,
  ): Promise<{ readonly others: readonly LineHunk[]; readonly isLost: boolean }> {
    const { root } = texts;
    const now = (await isSafePath(root, path))
      ? await this.#working.read(join(root, path)).catch(() => undefined)
      : undefined;
    const present = now && now.mode !== '120000' ? await texts.linesOf(now.content) : NO_LINES;
    const left = (await texts.comparable(version)) ?? NO_LINES;
    const others = present ? await compareLines(left, present, texts.slices) : [];
    return { others, isLost: !present || (version === undefined) !== (now === undefined) };
  }

  #stateOf(root: string, path: string): FileState {
    return { file: this.#unreviewed.fileAt(root, path), settled: this.#settled.get(fileId(root, path)) };
  }

  #isInState({ root, path }: UndoneFile, { file }: FileState): boolean {
    const now = this.#stateOf(root, path).file;
    return isSameVersion(now?.base, file?.base) && isSameVersion(now?.left, file?.left);
  }

  #setState({ root, path }: UndoneFile, { file, settled }: FileState): void {
    const now = this.#unreviewed.fileAt(root, path);
    if (now) this.#unreviewed.remove(now);
    if (file) {
      this.#unreviewed.add(file);
      this.#unreviewed.recount(root, file.path);
    }
    if (settled) this.#markReviewed(root, path, settled);
    else this.#settled.delete(fileId(root, path));
  }

  #textsByRoot(): (root: string) => FileTexts {
    const known = new Map<string, FileTexts>();
    return (root) => {
      const found = known.get(root) ?? new FileTexts(this.#states, root);
      known.set(root, found);
      return found;
    };
  }

  async #addChange(texts: FileTexts, change: FileChange, isYours: boolean, isUnnamed: boolean): Promise<void> {
    const { root, path, oldPath, before, after, added, removed, isBinary } = change;
    const from = oldPath ?? path;
    this.#undoneFiles.forget(root, [path, oldPath]);
    const unreviewed = this.#unreviewed.ends(root, from);
    const ends = unreviewed
      ? await mergeTurn(texts, unreviewed, before, after).catch(() => ({ base: before, left: after }))
      : { base: before, left: after };
    const basePath = this.#unreviewed.basePath(root, from);
    const alsoYours = isYours || this.#unreviewed.isAlsoYours(root, from);
    const isNowUnnamed = isUnnamed || this.#unreviewed.isUnnamed(root, from);
    this.#unreviewed.setBase(root, basePath, ends.base, before);
    if (oldPath !== undefined) this.#unreviewed.moveLeft(root, oldPath, path, before);
    this.#unreviewed.setLeft(root, path, ends.left, oldPath === undefined ? before : undefined);
    this.#settled.delete(fileId(root, path));
    const count = { added, removed, isBinary: isBinary ?? false, base: before, left: after };
    this.#unreviewed.describe(root, path, { count, alsoYours, isUnnamed: isNowUnnamed, isConflict: false });
  }

  async #count(): Promise<void> {
    const texts = this.#textsByRoot();
    for (const { root, path, base, left } of this.#unreviewed.uncounted) {
      const ends = { base, left };
      await texts(root).slices.pause();
      const list = await this.#hunkLists.of(texts(root), ends).catch(() => undefined);
      const count = { ...countOf(list ?? []), isBinary: !list, ...ends };
      this.#unreviewed.describe(root, path, { count });
    }
  }

  #markReviewed(root: string, path: string, state: Settled): void {
    const id = fileId(root, path);
    this.#settled.delete(id);
    this.#settled.set(id, state);
    for (const oldest of this.#settled.keys()) {
      if (this.#settled.size <= MAX_SETTLED) break;
      this.#settled.delete(oldest);
    }
  }

  async #changesOf({ before, after, file }: Extract<ReviewTarget, { kind: 'turn' }>): Promise<readonly FileChange[]> {
    const changes = await this.#states.changes(before, after);
    return file ? changes.filter(({ root, path }) => root === file.root && path === file.path) : changes;
  }

  #filesOf(target: Exclude<ReviewTarget, { kind: 'turn' }>): readonly ReviewFile[] | undefined {
    if (target.kind === 'all') return this.files;
    const file = this.#unreviewed.file(target.id);
    return file && [file];
  }

  #keepFile({ root, path, oldPath, left }: ReviewFile): undefined {
    if (oldPath !== undefined) this.#unreviewed.setBase(root, oldPath, undefined, undefined);
    this.#unreviewed.setBase(root, path, left, left);
    this.#undoneFiles.partKept({ root, path }, left);
    this.#markReviewed(root, path, 'kept');
  }

  async #keepHunk(file: ReviewFile, id: string): Promise<ReviewProblem['why'] | undefined> {
    const { root, path, base, left } = file;
    const texts = new FileTexts(this.#states, root);
    const list = await this.#hunkLists.of(texts, file);
    const hunk = list?.find((one) => one.id === id);
    if (!hunk) return 'gone';
    if (!base || !left) {
      this.#keepFile(file);
      return undefined;
    }
    const [before, after] = [(await texts.lines(base))!, (await texts.lines(left))!];
    const next = await texts.keep(await withHunks(before, after, [hunk], texts.slices), base.mode, left);
    this.#hunkLists.afterKeep(root, file, next, new Set([id]));
    this.#unreviewed.setBase(root, this.#unreviewed.basePath(root, path), next, base);
    this.#undoneFiles.partKept(file, next);
    if (!this.#unreviewed.ends(root, path)) this.#markReviewed(root, path, 'kept');
    return undefined;
  }

  async #keepChange(texts: FileTexts, change: FileChange): Promise<ReviewProblem['why'] | undefined> {
    const { root, path, oldPath } = change;
    const ends = this.#unreviewed.ends(root, path)!;
    const { base, isEntangled } = await keepTurn(texts, ends, change);
    const basePath = this.#unreviewed.basePath(root, path);
    if (oldPath !== undefined && basePath === oldPath && !isEntangled) {
      this.#unreviewed.setBase(root, oldPath, undefined, undefined);
      this.#unreviewed.setBase(root, path, base, undefined);
    } else this.#unreviewed.setBase(root, basePath, base, ends.base);
    this.#undoneFiles.partKept(change, base);
    if (!this.#unreviewed.ends(root, path)) this.#markReviewed(root, path, 'kept');
    return isEntangled ? 'entangled' : undefined;
  }

  async #undoItems(
    target: ReviewTarget,
    result: { conflicts: ReviewProblem[]; failed: ReviewProblem[] },
  ): Promise<UndoItem[]> {
    if (target.kind === 'turn') return this.#turnItems(target, result.conflicts);
    const files = this.#filesOf(target);
    if (!files) {
      result.failed.push({ ...targetLocation(target), why: 'gone' });
      return [];
    }
    const items: UndoItem[] = [];
    for (const file of files) {
      const { root, path, oldPath, base, left } = file;
      const change: Change = { root, path, oldPath, before: base, after: left };
      if (target.kind === 'hunk') {
        const texts = new FileTexts(this.#states, root);
        const list = await this.#hunkLists.of(texts, file).catch(() => undefined);
        const hunk = list?.find((one) => one.id === target.hunk);
        if (hunk) items.push({ change, part: base && left ? { hunks: [hunk] } : {}, file });
        else result.failed.push({ root, path, why: 'gone' });
      } else if (target.kind === 'all' && file.alsoYours) result.conflicts.push({ root, path, why: 'yours' });
      else if (target.kind === 'all' && file.isUnnamed) result.conflicts.push({ root, path, why: 'unnamed' });
      else items.push({ change, part: {}, file });
    }
    return items;
  }

  async #turnItems(target: Extract<ReviewTarget, { kind: 'turn' }>, conflicts: ReviewProblem[]): Promise<UndoItem[]> {
    const items: UndoItem[] = [];
    for (const change of await this.#changesOf(target)) {
      const { root, path, oldPath, before, after, wasThere } = change;
      const unreviewed = this.#unreviewed.fileAt(root, path);
      if (wasThere && !before) conflicts.push({ root, path, why: 'was-there' });
      else if (unreviewed?.alsoYours && !target.file) conflicts.push({ root, path, why: 'yours' });
      else if (isIn(target.unnamed, change) && !target.file) conflicts.push({ root, path, why: 'unnamed' });
      else {
        // It may have been renamed since.
        const at = before && after && oldPath === undefined ? (unreviewed?.path ?? path) : path;
        items.push({ change: { root, path: at, oldPath, before, after }, part: {} });
      }
    }
    return items;
  }

  async #recordUndo(texts: FileTexts, { change, file }: UndoItem, reversal: Reversal): Promise<void> {
    const { root, path, oldPath } = change;
    if (!file) return this.#revertChange(texts, change, reversal);
    if (reversal.isWhole) {
      if (oldPath !== undefined) this.#unreviewed.setLeft(root, path, undefined, undefined);
      this.#unreviewed.setLeft(root, oldPath ?? path, file.base, file.base);
      this.#markReviewed(root, path, 'undone');
      return;
    }
    const left = (await revertedVersion(texts, file.left, change, reversal))!;
    this.#hunkLists.afterUndo(root, file, left, reversal.hunks ?? []);
    this.#unreviewed.setLeft(root, path, left, file.left);
    if (!reversal.problem) this.#unreviewed.describe(root, path, { isConflict: false });
    if (!this.#unreviewed.ends(root, path)) this.#markReviewed(root, path, 'undone');
  }

  async #revertChange(texts: FileTexts, change: Change, reversal: Pick<Reversal, 'hunks' | 'isWhole'>): Promise<void> {
    const { root, path, oldPath } = change;
    const ends = this.#unreviewed.ends(root, path);
    if (!ends) {
      if (reversal.isWhole) this.#markReviewed(root, path, 'undone');
      return;
    }
    const base = await revertedVersion(texts, ends.base, change, reversal);
    const left = await revertedVersion(texts, ends.left, change, reversal);
    const basePath = this.#unreviewed.basePath(root, path);
    const home = reversal.isWhole && oldPath !== undefined ? oldPath : path;
    this.#unreviewed.setLeft(root, path, left, ends.left);
    if (home !== path) {
      if (basePath === path) {
        this.#unreviewed.setBase(root, path, undefined, ends.base);
        this.#unreviewed.setBase(root, home, base, undefined);
      } else this.#unreviewed.setBase(root, basePath, base, ends.base);
      this.#unreviewed.moveLeft(root, path, home, left);
    } else this.#unreviewed.setBase(root, basePath, base, ends.base);
    if (!this.#unreviewed.ends(root, home)) this.#markReviewed(root, path, 'undone');
  }
}

function isIn(paths: ReadonlySet<string> | undefined, { root, path, oldPath }: FileChange): boolean {
  return paths !== undefined && [path, oldPath ?? path].some((one) => paths.has(join(root, one)));
}

type MutableUndoResult = { -readonly [K in keyof UndoResult]: UndoResult[K][number][] };

function collecting({ conflicts, failed }: MutableUndoResult): Pick<UndoObserver, 'conflict' | 'failed'> {
  return {
    conflict: (item, why) => conflicts.push({ ...locationOf(item), why }),
    failed: (item, why) => failed.push({ ...locationOf(item), why }),
  };
}

function locationOf({ change: { root, path } }: UndoItem): { root: string; path: string } {
  return { root, path };
}

function targetLocation(target: ReviewTarget): { root: string; path: string } {
  const [root = '', path = ''] = 'id' in target ? target.id.split('\0') : [];
  return { root, path };
}
