// Tracks what a session has changed on disk: the changes of each turn, the files waiting for
// review, and earlier contents of files.
import { normalize } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import type { FileChange, FolderStates, WorkingFiles } from '../../changes/model/fileChange';
import type { FinishedTurn, ReviewFile, Settled } from '../../changes/review/reviewFile';
import { SessionReview } from '../../changes/review/sessionReview';
import type { ChangesWorkView } from '../../panel/contract';
import type { SessionEvent, TurnChanges } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Turn } from '../../session/model/state';
import { pathOf } from './changedPaths';
import type { ChangeServices, ReviewStorage } from './changeServices';
import type { AgentCommand } from './namedFiles';
import { type ChangeTotal, isSettled, statesOf, totalOf, unnamedOf } from './recordedTurn';
import { textAfter, textOf } from './shownDiffs';
import { TurnRecorder } from './turnRecorder';

const CLOSING_MS = 2000;
const MAX_LISTS = 8;

export interface SessionChangesOptions {
  readonly key: string;
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly model: SessionView;
  /** Absent: nothing is recorded. */
  readonly services?: ChangeServices | undefined;
  readonly isOurs: () => boolean;
  /** Returns whether the agent works in readable folders of this machine. */
  readonly isAtWorkHere: () => boolean;
  readonly outlivesWindow: () => boolean;
  readonly apply: (event: SessionEvent) => void;
  /** `turnId` is undefined if the files waiting for review have changed. */
  readonly onChange: (turnId?: string) => void;
  readonly onWritten: (toolCallId: string) => void;
  readonly now: () => number;
  readonly log: Log;
}

export interface ReviewedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly state: ReviewFile['state'] | Settled;
}

export class SessionChanges implements Disposable {
  readonly work: UserWork;
  readonly #options: SessionChangesOptions;
  readonly #recorder: TurnRecorder;
  readonly #review: ReviewOfSession | undefined;
  readonly #lists = new Map<string, readonly FileChange[]>();
  readonly #versions = new Map<string, number>();
  #reviewVersion = 0;
  #undoneTurns: ReadonlySet<string> = new Set();
  #states: Promise<FolderStates> | undefined;

  constructor(options: SessionChangesOptions) {
    const { key, model, services, now, log } = options;
    const states = () => this.states();
    this.#options = options;
    this.work = new UserWork(
      () => options.onChange(),
      async (kind) => {
        if (kind !== 'keep') await this.#recorder.filesChanged();
      },
    );
    this.#review =
      services &&
      new ReviewOfSession({
        key,
        log,
        states,
        files: services.files,
        storage: services.reviews,
        onChange: () => this.#reviewChanged(),
      });
    this.#recorder = new TurnRecorder({
      model,
      cwd: options.cwd,
      states,
      userEdits: services?.userEdits ?? { since: () => new Set() },
      isRecording: () => this.#isRecording,
      outlivesWindow: options.outlivesWindow,
      storeChanges: (turnId, changes) => this.#storeChanges(turnId, changes),
      onLiveChanges: (turnId) => this.#changed(turnId),
      onWritten: options.onWritten,
      onEnd: async (turn) => {
        this.#cacheList(turn.turnId, turn.changes);
        await this.#review?.turnEnded(turn);
      },
      now,
      log,
    });
  }

  get isOurs(): boolean {
    return this.#options.isOurs();
  }

  get isReviewed(): boolean {
    return this.#review !== undefined && this.#isRecording;
  }

  get review(): SessionReview | undefined {
    return this.#review?.current;
  }

  /** @throws ParleyError `not-reviewed` if changes can't be kept or undone here */
  async loadReview(): Promise<SessionReview> {
    if (!this.#review || !this.#isRecording) throw notRecorded();
    return this.#review.load();
  }

  /** @throws ParleyError `not-reviewed` if no states are recorded here */
  async states(): Promise<FolderStates> {
    const { services, key, roots } = this.#options;
    if (!services) throw notRecorded();
    this.#states ??= services.openStates(key, roots);
    return this.#states;
  }

  onRestored(): void {
    if (this.#isRecording) void this.#review?.loadIfWaiting();
  }

  recover(): void {
    this.#recorder.recover();
  }

  /** Call before applying what the agent sent while no window was attached. */
  resume(): void {
    this.#recorder.resume();
  }

  /** Detaches; the agent keeps running. Waits briefly for ended turns to be recorded. */
  async leave(): Promise<void> {
    this.#recorder.leave();
    await this.settledSoon();
  }

  /** Call before sending a prompt and when the agent is ready. */
  warm(): void {
    this.#recorder.warm();
  }

  onEvent(event: SessionEvent): void {
    this.#recorder.onEvent(event);
  }

  /**
   * Resolves when the agent may write: the first state was taken, or is late. Never rejects.
   * @param what an absolute path or a command; absent: unknown
   */
  beforeWrite(what?: string | AgentCommand): Promise<void> {
    return this.#recorder.beforeWrite(what);
  }

  /** Never rejects. */
  settled(): Promise<void> {
    return this.#recorder.settled();
  }

  /** Like {@link settled}, but no longer than a closing window can wait. */
  async settledSoon(): Promise<void> {
    await within(CLOSING_MS, this.#recorder.settled());
  }

  /** Undefined if nothing changed or the turn is unknown. */
  total(turnId: string): (ChangeTotal & { readonly incomplete: TurnChanges['incomplete'] | undefined }) | undefined {
    const stored = this.#options.model.turn(turnId)?.changes;
    if (stored && isSettled(stored)) {
      const { files, added, removed, incomplete } = stored;
      return files === 0 && incomplete === undefined ? undefined : { files, added, removed, incomplete };
    }
    const { liveChanges, isLate } = this.#recorder.recorded(turnId) ?? {};
    if (!liveChanges || liveChanges.files.length === 0) return undefined;
    return { ...totalOf(liveChanges.files), incomplete: isLate && 'late' };
  }

  isWrittenDifferently(turnId: string, toolCallId: string, path: string): boolean {
    const stored = this.#options.model.turn(turnId)?.changes?.writtenDifferently;
    const found = stored ?? this.#recorder.recorded(turnId)?.diffs.found ?? [];
    return found.some((diff) => diff.toolCallId === toolCallId && diff.path === path);
  }

  /**
   * Returns a file's text as a diff shows it, and as it is after the turn (so far).
   * @throws ParleyError `state-gone`, or `file-not-found` if the turn did not change it
   */
  async written(
    turnId: string,
    diff: { readonly path: string; readonly oldText?: string; readonly newText: string },
  ): Promise<{ readonly shown: string; readonly written: string }> {
    const path = normalize(diff.path);
    const change = (await this.changesOf(turnId)).find((each) => pathOf(each) === path);
    const states = await this.states();
    const written = change && (await textOf(states, change, change.after));
    if (!change || written === undefined)
      throw new ParleyError('file-not-found', localizable("The turn didn't change this file."));
    return { shown: textAfter(diff, await textOf(states, change, change.before)), written };
  }

  /** @throws ParleyError `state-gone` */
  async unnamedOf(turnId: string): Promise<ReadonlySet<string>> {
    const stored = this.#options.model.turn(turnId)?.changes;
    if (!stored?.unnamed && !stored?.hasMoreUnnamed) return new Set();
    return unnamedOf(stored, stored.hasMoreUnnamed ? await this.changesOf(turnId) : []);
  }

  waiting(): ChangeTotal | undefined {
    const files = this.review?.files ?? [];
    return files.length === 0 ? undefined : totalOf(files);
  }

  /** Sorted by path. Kept and undone files have the line counts of their last turn, if cached. */
  reviewed(): readonly ReviewedFile[] {
    const { review } = this;
    if (!review) return [];
    const lines = new Map([...this.#lists.values()].flat().map((file) => [pathOf(file), file]));
    const { settled, roots } = review.kept;
    const waiting = review.files.map(({ added, removed, state, ...file }) => ({
      path: pathOf(file),
      added,
      removed,
      state,
    }));
    const others = settled.map(([root, name, state]) => {
      const path = pathOf({ root: roots[root] ?? '', path: name });
      const { added, removed } = lines.get(path) ?? { added: 0, removed: 0 };
      return { path, added, removed, state };
    });
    return [...waiting, ...others].sort((one, two) => (one.path < two.path ? -1 : 1));
  }

  version(turnId?: string): number {
    return turnId === undefined ? this.#reviewVersion : (this.#versions.get(turnId) ?? 0);
  }

  canRestore({ number }: Pick<Turn, 'number'>): boolean {
    if (!this.#options.services || !this.isOurs) return false;
    const { turns } = this.#options.model.state;
    return number <= (turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0)?.number ?? 0);
  }

  /** Sorted by root and path; so far if the turn is running. @throws ParleyError `state-gone` */
  async changesOf(turnId: string): Promise<readonly FileChange[]> {
    const cached = this.#lists.get(turnId);
    if (cached) return cached;
    const recorded = this.#recorder.recorded(turnId);
    if (recorded) return recorded.liveChanges?.files ?? [];
    const changes = this.#options.model.turn(turnId)?.changes;
    const { before, after } = changes ? statesOf(changes) : {};
    if (!before || !after) return [];
    const files = await (await this.states()).changes(before, after);
    this.#cacheList(turnId, files);
    return files;
  }

  dispose(): void {
    this.#recorder.dispose();
    this.#review?.dispose();
    this.work.cancel();
    void this.#states?.then(
      (states) => states.dispose(),
      () => undefined,
    );
  }

  get #isRecording(): boolean {
    const { services, isOurs, isAtWorkHere } = this.#options;
    return services?.isEnabled() === true && isOurs() && isAtWorkHere();
  }

  #storeChanges(turnId: string, changes: TurnChanges): void {
    if (!this.isOurs) return;
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.apply({ type: 'turn_changes', turnId, ...changes });
  }

  #cacheList(turnId: string, files: readonly FileChange[]): void {
    this.#lists.delete(turnId);
    this.#lists.set(turnId, files);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Lists show review states, and turns what can be redone, so visible ones are outdated now. */
  #reviewChanged(): void {
    this.#reviewVersion++;
    this.#options.onChange();
    const before = this.#undoneTurns;
    this.#undoneTurns = new Set(this.review?.redoable.flatMap(({ turnId }) => turnId ?? []));
    for (const turnId of new Set([...this.#lists.keys(), ...before, ...this.#undoneTurns])) this.#changed(turnId);
  }

  #changed(turnId: string): void {
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.onChange(turnId);
  }
}

function notRecorded(): ParleyError {
  return new ParleyError('not-reviewed', localizable("Changes of this session aren't recorded."));
}

export type Progress = (done: number, total: number) => void;

export class UserWork {
  readonly #onChange: () => void;
  readonly #onEnd: (kind: ChangesWorkView['kind']) => Promise<void>;
  #work: { readonly view: ChangesWorkView; readonly abort: AbortController } | undefined;

  /** @param onEnd awaited only by the caller of {@link run}; never rejects */
  constructor(onChange: () => void, onEnd: (kind: ChangesWorkView['kind']) => Promise<void>) {
    this.#onChange = onChange;
    this.#onEnd = onEnd;
  }

  get view(): ChangesWorkView | undefined {
    return this.#work?.view;
  }

  /** @throws ParleyError `changes-busy`; whatever `run` throws */
  async run<T>(
    kind: ChangesWorkView['kind'],
    run: (progress: Progress, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#work)
      throw new ParleyError('changes-busy', localizable('Another operation on the changed files is still running.'));
    const abort = new AbortController();
    const show = (view: ChangesWorkView): void => {
      this.#work = { view, abort };
      this.#onChange();
    };
    show({ kind });
    try {
      return await run((done, total) => show({ kind, done, total }), abort.signal);
    } finally {
      this.#work = undefined;
      this.#onChange();
      await this.#onEnd(kind);
    }
  }

  cancel(): void {
    this.#work?.abort.abort();
  }
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return !list?.length;
}

interface ReviewOfSessionOptions {
  readonly key: string;
  readonly states: () => Promise<FolderStates>;
  readonly files: WorkingFiles;
  readonly storage: ReviewStorage;
  readonly onChange: () => void;
  readonly log: Log;
}

class ReviewOfSession implements Disposable {
  readonly #options: ReviewOfSessionOptions;
  #loading: Promise<SessionReview> | undefined;
  #review: SessionReview | undefined;
  #isDisposed = false;

  constructor(options: ReviewOfSessionOptions) {
    this.#options = options;
  }

  get current(): SessionReview | undefined {
    return this.#review;
  }

  /** Loads the stored review if files are waiting. Never rejects. */
  async loadIfWaiting(): Promise<void> {
    const { key, storage, log } = this.#options;
    try {
      if ((await storage.read(key)) !== undefined && !this.#isDisposed) await this.load();
    } catch (error) {
      log.warn(`review of session: ${messageOf(error)}`);
    }
  }

  load(): Promise<SessionReview> {
    this.#loading ??= this.#load();
    this.#loading.catch(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async turnEnded(turn: FinishedTurn): Promise<void> {
    await (await this.load()).turnEnded(turn);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#review?.dispose();
  }

  async #load(): Promise<SessionReview> {
    const { states, files, onChange } = this.#options;
    const review = new SessionReview({
      states: await states(),
      files,
      kept: await this.#read(),
      save: (review) =>
        this.#save(JSON.stringify(review), [review.files, review.settled, review.undone].every(isEmpty)),
    });
    this.#review = review;
    review.onDidChange(onChange);
    if (this.#isDisposed) review.dispose();
    else onChange();
    return review;
  }

  /** Treats a damaged file as missing: the waiting files are still on disk. */
  async #read(): Promise<unknown> {
    const { key, storage, log } = this.#options;
    try {
      const text = await storage.read(key);
      return text === undefined ? undefined : JSON.parse(text);
    } catch (error) {
      log.warn(`review of session: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #save(text: string, isEmpty: boolean): Promise<void> {
    const { key, storage, log } = this.#options;
    try {
      await (isEmpty ? storage.remove(key) : storage.write(key, text));
    } catch (error) {
      log.error(`review of session: ${messageOf(error)}`);
    }
  }
}
