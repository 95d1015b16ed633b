// The review of what the agent of one session changed: which files wait, and keeping and undoing
// them by hunk, file, turn and as a whole.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import type { LineHunk } from '../../base/lineHunks';
import { compareLines, countOf } from '../lines/hunks';
import { shownLines, withHunks } from '../lines/placeHunks';
import type { FileChange, FileVersion, FolderStates, WorkingFiles } from '../model/fileChange';
import { carry, keepTurn } from './carry';
import { FileTexts, NO_LINES } from './fileTexts';
import { HunkLists } from './hunkLists';
import { fromKept, type KeptReview, MAX_SETTLED, toKept } from './keptReview';
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
import { alsoTakenBack, type Change, changeBy, type TakingBack } from './takeBack';
import { type UndoItem, type UndoObserver, undoInSteps, whyFailed } from './undoInSteps';
import { type RedoScope, redoableIn, type Standing, type UndoneFile, UndoneFiles } from './undoneFiles';
import { fileId, isSameVersion, WaitingFiles } from './waitingFiles';

interface ReviewOptions {
  readonly states: FolderStates;
  readonly files: WorkingFiles;
  readonly kept?: unknown;
  /** Replaces the stored state; handles its own errors. */
  save(kept: KeptReview): Promise<void>;
}

/**
 * Reviews what the agent of one session changed. A file waits while what the agent left differs
 * from what was last kept, in bytes, mode or path. Keeping changes no file. Undoing changes nothing
 * that the user edited: that is a conflict. Operations run one after another, and the state is
 * saved after each.
 */
export class SessionReview implements Disposable {
  readonly #states: FolderStates;
  readonly #working: WorkingFiles;
  readonly #save: (kept: KeptReview) => Promise<void>;
  readonly #waiting = new WaitingFiles();
  readonly #lists = new HunkLists();
  readonly #undoneFiles = new UndoneFiles();
  readonly #onDidChange = new Emitter<void>();
  readonly #looking = new Set<string>();
  #settled = new Map<string, Settled>();
  #last: Promise<unknown> = Promise.resolve();

  readonly onDidChange: Event<void> = this.#onDidChange.event;

  constructor({ states, files, kept, save }: ReviewOptions) {
    this.#states = states;
    this.#working = files;
    this.#save = save;
    this.#load(kept);
  }

  get files(): readonly ReviewFile[] {
    return this.#waiting.files;
  }

  get isIncomplete(): boolean {
    return this.#waiting.isFull;
  }

  get kept(): KeptReview {
    return toKept(this.files, this.#settled, this.#undoneFiles.kept);
  }

  get settledPaths(): readonly string[] {
    return [...this.#settled.keys()].map((id) => join(...id.split('\0')));
  }

  stateOf(root: string, path: string): ReviewFile['state'] | Settled | undefined {
    const id = fileId(root, path);
    return this.#waiting.file(id)?.state ?? this.#settled.get(id);
  }

  /**
   * Takes in a turn's changes. Edits that the user made before the turn are never undone. A file
   * that is again as kept no longer waits.
   */
  turnEnded(turn: FinishedTurn): Promise<void> {
    return this.#run(async () => {
      const texts = this.#textsByRoot();
      this.#undoneFiles.begin();
      for (const change of turn.changes) {
        const of = texts(change.root);
        await of.slices.pause();
        // Without an earlier version, there is nothing to undo.
        if (change.wasThere && !change.before) continue;
        await this.#follow(of, change, isIn(turn.yours, change), isIn(turn.unnamed, change));
      }
    });
  }

  /**
   * Lists the hunks of a file, in order, with their lines in the present file; undefined if it has
   * no lines to compare, or doesn't wait.
   * @throws ParleyError `state-gone`, `version-not-kept`
   */
  async hunks(id: string): Promise<readonly ReviewHunk[] | undefined> {
    const file = this.#waiting.file(id);
    if (!file) return undefined;
    const texts = new FileTexts(this.#states, file.root);
    const list = await this.#lists.of(texts, file);
    if (!list) return undefined;
    const { others, isLost } = await this.#since(texts, file.path, file.left);
    const shown = shownLines(list, others);
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

  /**
   * Returns the line in the present file, from 0, at which its last undo begins; undefined if it
   * can't be redone.
   * @param file absolute
   * @throws ParleyError as {@link hunks}
   */
  async undoneAt(file: string): Promise<number | undefined> {
    const [one] = redoableIn(this.redoable, 'review', file);
    if (!one) return undefined;
    const { root, path, before, after } = one.undo;
    const texts = new FileTexts(this.#states, root);
    const [old, left] = [await texts.comparable(before), await texts.comparable(after)];
    if (!old || !left) return 0;
    const list = await compareLines(old, left, texts.slices);
    const { others } = await this.#since(texts, path, after);
    return shownLines(list, others)[0]?.start ?? 0;
  }

  /**
   * Accepts what the agent left; changes no file. A turn is kept without what other turns changed;
   * what can't be told apart still waits, as `entangled`.
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
          if (this.#waiting.ends(change.root, change.path)) {
            await attempt(change, () => this.#keepChange(texts(change.root), change));
          } else kept.push({ root: change.root, path: change.path });
        }
      } else {
        const found = this.#filesOf(target);
        if (!found) failed.push({ ...placeOf(target), why: 'gone' });
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
   * Takes back what the agent changed. Lines that the user edited stay byte for byte; what can't be
   * undone without touching them is in `conflicts`. `all` and `turn` leave out files that the user
   * saved during a turn. Of a turn, its change is taken out of the present file, kept or not; later
   * changes stay.
   */
  undo(target: ReviewTarget): Promise<UndoResult> {
    return this.#run(async () => {
      const result: Undoing = { undone: [], conflicts: [], failed: [] };
      const items = await this.#undoItems(target, result);
      const turnId = target.kind === 'turn' ? target.turnId : undefined;
      const texts = this.#textsByRoot();
      this.#undoneFiles.begin();
      await undoInSteps(items, this.#working, texts, {
        ...collecting(result),
        undone: async (item, back) => {
          if (!back.isWhole && !back.hunks?.length) return;
          const { root, path } = item.change;
          const before = this.#standing(root, path);
          await this.#undone(texts(root), item, back);
          const after = this.#standing(root, path);
          if (back.edits.length > 0) {
            const undo = await changeBy(texts(root), item.change, back);
            this.#undoneFiles.add({ root, path, before, after, undo, turnId, isLast: true }, back.edits);
          }
          result.undone.push(placeIn(item));
        },
        conflict: (item, why) => {
          result.conflicts.push({ ...placeIn(item), why });
          this.#waiting.describe(item.change.root, item.change.path, { isConflict: true });
        },
      });
      return result;
    });
  }

  /** The last undo of each file that {@link redo} can take back. */
  get redoable(): readonly UndoneFile[] {
    return this.#undoneFiles.redoable;
  }

  /**
   * Undoes undos, by the rules of {@link undo}; each file as a whole.
   * @param scope the last undo of the review, or the undo of a turn
   * @param file only the last undo of this file, absolute, of whatever scope
   */
  redo(scope: RedoScope, file?: string): Promise<UndoResult> {
    return this.#run(async () => {
      const result: Undoing = { undone: [], conflicts: [], failed: [] };
      const items: UndoItem[] = [];
      for (const redoes of redoableIn(this.redoable, scope, file)) {
        if (this.#stands(redoes, redoes.after)) items.push({ change: redoes.undo, part: {}, redoes });
        else result.conflicts.push({ root: redoes.root, path: redoes.path, why: 'entangled' });
      }
      const label = l10n.t('Redo changes of the agent');
      const observer = {
        ...collecting(result),
        undone: async (item: UndoItem, { edits }: TakingBack) => {
          this.#stand(item.redoes!, item.redoes!.before);
          this.#undoneFiles.redone(item.redoes!, edits);
          result.undone.push(placeIn(item));
        },
      };
      await undoInSteps(items, this.#working, this.#textsByRoot(), observer, label);
      return result;
    });
  }

  /** Follows a restore. @param changes what it changed on disk */
  restored(changes: readonly FileChange[]): Promise<void> {
    return this.#run(async () => {
      const texts = this.#textsByRoot();
      for (const change of changes) {
        const { root, path, oldPath, before, after } = change;
        const from = oldPath ?? path;
        this.#undoneFiles.forget(root, [path, oldPath]);
        const standing = this.#standing(root, from);
        if (this.#waiting.ends(root, from) || this.#waiting.ends(root, path)) {
          const of = texts(root);
          const back: Change = {
            root,
            path: from,
            oldPath: oldPath !== undefined ? path : undefined,
            before: after,
            after: before,
          };
          const old = await of.comparable(back.before);
          const left = await of.comparable(back.after);
          const hunks = old && left ? await compareLines(old, left, of.slices) : undefined;
          await this.#followUndo(of, back, { hunks, isWhole: true });
          this.#waiting.setLeft(root, path, after, after);
        }
        const undo: Change = { root, path, oldPath, before, after };
        this.#undoneFiles.add({ root, path: from, before: standing, after: this.#standing(root, from), undo }, []);
      }
    });
  }

  get undonePaths(): ReadonlySet<string> {
    return this.#undoneFiles.paths;
  }

  /**
   * A file of {@link undonePaths} changed in the editor: if its Undo brought an undone change back,
   * the change waits again until its Redo.
   */
  async editorChanged(path: string): Promise<void> {
    if (this.#looking.has(path)) return;
    this.#looking.add(path);
    const looking = this.#last.then(() => {
      this.#looking.delete(path);
      return this.#undoneFiles.find(path, this.#working).catch(() => undefined);
    });
    this.#last = looking;
    const found = await looking;
    if (!found) return;
    const { undone, from, to } = found;
    await this.#run(async () => {
      if (this.#stands(undone, from)) this.#stand(undone, to);
    });
  }

  reset(kept: unknown): Promise<void> {
    return this.#run(async () => this.#load(kept));
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #load(kept: unknown): void {
    const { files, settled, undone } = fromKept(kept, this.#states.roots);
    this.#waiting.clear();
    this.#undoneFiles.reset(undone);
    for (const file of files) this.#waiting.add(file);
    this.#settled = settled;
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(async () => {
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
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** Returns how a file differs from a version. `isLost`: it has no lines, or one of both is missing. */
  async #since(
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

  #standing(root: string, path: string): Standing {
    return { file: this.#waiting.fileAt(root, path), settled: this.#settled.get(fileId(root, path)) };
  }

  #stands({ root, path }: UndoneFile, { file }: Standing): boolean {
    const now = this.#standing(root, path).file;
    return isSameVersion(now?.base, file?.base) && isSameVersion(now?.left, file?.left);
  }

  #stand({ root, path }: UndoneFile, { file, settled }: Standing): void {
    const now = this.#waiting.fileAt(root, path);
    if (now) this.#waiting.remove(now);
    if (file) {
      this.#waiting.add(file);
      this.#waiting.recount(root, file.path);
    }
    if (settled) this.#settle(root, path, settled);
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

  async #follow(texts: FileTexts, change: FileChange, isYours: boolean, isUnnamed: boolean): Promise<void> {
    const { root, path, oldPath, before, after, added, removed, isBinary } = change;
    const from = oldPath ?? path;
    this.#undoneFiles.forget(root, [path, oldPath]);
    const waits = this.#waiting.ends(root, from);
    const ends = waits
      ? await carry(texts, waits, before, after).catch(() => ({ base: before, left: after }))
      : { base: before, left: after };
    const basePath = this.#waiting.basePath(root, from);
    const alsoYours = isYours || this.#waiting.isAlsoYours(root, from);
    const isNowUnnamed = isUnnamed || this.#waiting.isUnnamed(root, from);
    this.#waiting.setBase(root, basePath, ends.base, before);
    if (oldPath !== undefined) this.#waiting.moveLeft(root, oldPath, path, before);
    this.#waiting.setLeft(root, path, ends.left, oldPath === undefined ? before : undefined);
    this.#settled.delete(fileId(root, path));
    const count = { added, removed, isBinary: isBinary ?? false, base: before, left: after };
    this.#waiting.describe(root, path, { count, alsoYours, isUnnamed: isNowUnnamed, isConflict: false });
  }

  async #count(): Promise<void> {
    const texts = this.#textsByRoot();
    for (const { root, path, base, left } of this.#waiting.uncounted) {
      const ends = { base, left };
      await texts(root).slices.pause();
      const list = await this.#lists.of(texts(root), ends).catch(() => undefined);
      const count = { ...countOf(list ?? []), isBinary: !list, ...ends };
      this.#waiting.describe(root, path, { count });
    }
  }

  #settle(root: string, path: string, state: Settled): void {
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
    const file = this.#waiting.file(target.id);
    return file && [file];
  }

  #keepFile({ root, path, oldPath, left }: ReviewFile): undefined {
    if (oldPath !== undefined) this.#waiting.setBase(root, oldPath, undefined, undefined);
    this.#waiting.setBase(root, path, left, left);
    this.#undoneFiles.partKept({ root, path }, left);
    this.#settle(root, path, 'kept');
  }

  async #keepHunk(file: ReviewFile, id: string): Promise<ReviewProblem['why'] | undefined> {
    const { root, path, base, left } = file;
    const texts = new FileTexts(this.#states, root);
    const list = await this.#lists.of(texts, file);
    const hunk = list?.find((one) => one.id === id);
    if (!hunk) return 'gone';
    if (!base || !left) {
      this.#keepFile(file);
      return undefined;
    }
    const [before, after] = [(await texts.lines(base))!, (await texts.lines(left))!];
    const next = await texts.keep(await withHunks(before, after, [hunk], texts.slices), base.mode, left);
    this.#lists.kept(root, file, next, new Set([id]));
    this.#waiting.setBase(root, this.#waiting.basePath(root, path), next, base);
    this.#undoneFiles.partKept(file, next);
    if (!this.#waiting.ends(root, path)) this.#settle(root, path, 'kept');
    return undefined;
  }

  async #keepChange(texts: FileTexts, change: FileChange): Promise<ReviewProblem['why'] | undefined> {
    const { root, path, oldPath } = change;
    const ends = this.#waiting.ends(root, path)!;
    const { base, isEntangled } = await keepTurn(texts, ends, change);
    const basePath = this.#waiting.basePath(root, path);
    if (oldPath !== undefined && basePath === oldPath && !isEntangled) {
      this.#waiting.setBase(root, oldPath, undefined, undefined);
      this.#waiting.setBase(root, path, base, undefined);
    } else this.#waiting.setBase(root, basePath, base, ends.base);
    this.#undoneFiles.partKept(change, base);
    if (!this.#waiting.ends(root, path)) this.#settle(root, path, 'kept');
    return isEntangled ? 'entangled' : undefined;
  }

  async #undoItems(
    target: ReviewTarget,
    result: { conflicts: ReviewProblem[]; failed: ReviewProblem[] },
  ): Promise<UndoItem[]> {
    if (target.kind === 'turn') return this.#turnItems(target, result.conflicts);
    const files = this.#filesOf(target);
    if (!files) {
      result.failed.push({ ...placeOf(target), why: 'gone' });
      return [];
    }
    const items: UndoItem[] = [];
    for (const file of files) {
      const { root, path, oldPath, base, left } = file;
      const change: Change = { root, path, oldPath, before: base, after: left };
      if (target.kind === 'hunk') {
        const texts = new FileTexts(this.#states, root);
        const list = await this.#lists.of(texts, file).catch(() => undefined);
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
      const waits = this.#waiting.fileAt(root, path);
      if (wasThere && !before) conflicts.push({ root, path, why: 'was-there' });
      else if (waits?.alsoYours && !target.file) conflicts.push({ root, path, why: 'yours' });
      else if (isIn(target.unnamed, change) && !target.file) conflicts.push({ root, path, why: 'unnamed' });
      else {
        // It may have been renamed since.
        const at = before && after && oldPath === undefined ? (waits?.path ?? path) : path;
        items.push({ change: { root, path: at, oldPath, before, after }, part: {} });
      }
    }
    return items;
  }

  async #undone(texts: FileTexts, { change, file }: UndoItem, back: TakingBack): Promise<void> {
    const { root, path, oldPath } = change;
    if (!file) return this.#followUndo(texts, change, back);
    if (back.isWhole) {
      if (oldPath !== undefined) this.#waiting.setLeft(root, path, undefined, undefined);
      this.#waiting.setLeft(root, oldPath ?? path, file.base, file.base);
      this.#settle(root, path, 'undone');
      return;
    }
    const left = (await alsoTakenBack(texts, file.left, change, back))!;
    this.#lists.undone(root, file, left, back.hunks ?? []);
    this.#waiting.setLeft(root, path, left, file.left);
    if (!back.problem) this.#waiting.describe(root, path, { isConflict: false });
    if (!this.#waiting.ends(root, path)) this.#settle(root, path, 'undone');
  }

  async #followUndo(texts: FileTexts, change: Change, back: Pick<TakingBack, 'hunks' | 'isWhole'>): Promise<void> {
    const { root, path, oldPath } = change;
    const ends = this.#waiting.ends(root, path);
    if (!ends) {
      if (back.isWhole) this.#settle(root, path, 'undone');
      return;
    }
    const base = await alsoTakenBack(texts, ends.base, change, back);
    const left = await alsoTakenBack(texts, ends.left, change, back);
    const basePath = this.#waiting.basePath(root, path);
    const home = back.isWhole && oldPath !== undefined ? oldPath : path;
    this.#waiting.setLeft(root, path, left, ends.left);
    if (home !== path) {
      if (basePath === path) {
        this.#waiting.setBase(root, path, undefined, ends.base);
        this.#waiting.setBase(root, home, base, undefined);
      } else this.#waiting.setBase(root, basePath, base, ends.base);
      this.#waiting.moveLeft(root, path, home, left);
    } else this.#waiting.setBase(root, basePath, base, ends.base);
    if (!this.#waiting.ends(root, home)) this.#settle(root, path, 'undone');
  }
}

function isIn(paths: ReadonlySet<string> | undefined, { root, path, oldPath }: FileChange): boolean {
  return paths !== undefined && [path, oldPath ?? path].some((one) => paths.has(join(root, one)));
}

type Undoing = { -readonly [K in keyof UndoResult]: UndoResult[K][number][] };

function collecting({ conflicts, failed }: Undoing): Pick<UndoObserver, 'conflict' | 'failed'> {
  return {
    conflict: (item, why) => conflicts.push({ ...placeIn(item), why }),
    failed: (item, why) => failed.push({ ...placeIn(item), why }),
  };
}

function placeIn({ change: { root, path } }: UndoItem): { root: string; path: string } {
  return { root, path };
}

function placeOf(target: ReviewTarget): { root: string; path: string } {
  const [root = '', path = ''] = 'id' in target ? target.id.split('\0') : [];
  return { root, path };
}
