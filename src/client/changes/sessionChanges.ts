// What a session has changed on disk: the lists of its turns, what waits for review, and the files
// as they were before.

import { normalize } from 'node:path';
import type { Disposable } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import type { FileChange } from '../../changes/model/fileChange';
import type { FolderStates } from '../../changes/model/folderStore';
import type { Settled } from '../../changes/review/keptReview';
import type { ReviewFile } from '../../changes/review/reviewFile';
import type { SessionReview } from '../../changes/review/sessionReview';
import type { SessionEvent, TurnChanges } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Turn } from '../../session/model/state';
import { pathOf } from './changedPaths';
import type { ChangeServices } from './changeServices';
import type { AgentCommand } from './namedFiles';
import { type ChangeTotal, isSettled, statesOf, totalOf, unnamedOf } from './recordedTurn';
import { ReviewOfSession } from './reviewOfSession';
import { shownText, textOf } from './shownDiffs';
import { TurnRecorder } from './turnRecorder';
import { UserWork } from './userWork';

/** How long the end of a session waits for the end of its last turn, in milliseconds. */
const CLOSING_MS = 2000;
/** Lists of changes that are kept at hand. */
const MAX_LISTS = 8;

export interface SessionChangesOptions {
  /** Ours of the session. */
  readonly key: string;
  readonly roots: readonly string[];
  /** Absolute; where the agent works. */
  readonly cwd: string;
  readonly model: SessionView;
  /** Absent: nothing is recorded. */
  readonly services?: ChangeServices | undefined;
  /** Returns whether the session is not another window's. */
  readonly isOurs: () => boolean;
  /** Returns whether the agent works in the folders of this machine, and they may be read. */
  readonly isAtWorkHere: () => boolean;
  /** Returns whether the agent may go on without its window. */
  readonly outlivesWindow: () => boolean;
  readonly apply: (event: SessionEvent) => void;
  /** What is shown of a turn has changed; absent: what waits for review has. */
  readonly onChange: (turnId?: string) => void;
  /** A tool call was found to have written something else than it says. */
  readonly onWritten: (toolCallId: string) => void;
  readonly now: () => number;
  readonly log: Log;
}

/** A file that the agent changed, and what became of the change. */
export interface ReviewedFile {
  /** Absolute. */
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly state: ReviewFile['state'] | Settled;
}

export class SessionChanges implements Disposable {
  /** The work on changed files that the user started. */
  readonly work: UserWork;
  readonly #options: SessionChangesOptions;
  readonly #recorder: TurnRecorder;
  readonly #review: ReviewOfSession | undefined;
  /** By turn. */
  readonly #lists = new Map<string, readonly FileChange[]>();
  /** Of lists that have changed, by turn. */
  readonly #versions = new Map<string, number>();
  #reviewVersion = 0;
  #open: Promise<FolderStates> | undefined;

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
      note: (turnId, changes) => this.#note(turnId, changes),
      onLook: (turnId) => this.#changed(turnId),
      onWritten: options.onWritten,
      onEnd: async (turn) => {
        this.#keepList(turn.turnId, turn.changes);
        await this.#review?.turnEnded(turn);
      },
      now,
      log,
    });
  }

  /** The session may be changed here: it is not another window's. */
  get isOurs(): boolean {
    return this.#options.isOurs();
  }

  /** Changes can be kept and undone here. */
  get isReviewed(): boolean {
    return this.#review !== undefined && this.#isRecording;
  }

  /** The review; undefined where it was not read yet. */
  get review(): SessionReview | undefined {
    return this.#review?.current;
  }

  /**
   * Returns the review.
   * @throws ParleyError `not-reviewed` where changes cannot be kept and undone here
   */
  async loadReview(): Promise<SessionReview> {
    if (!this.#review || !this.#isRecording) throw notRecorded();
    return this.#review.load();
  }

  /**
   * Returns the states of the session's folders.
   * @throws ParleyError `not-reviewed` where they are not kept
   */
  async states(): Promise<FolderStates> {
    const { services, key, roots } = this.#options;
    if (!services) throw notRecorded();
    this.#open ??= services.openStates(key, roots);
    return this.#open;
  }

  /** The session was brought back: reads what waited for review. */
  recalled(): void {
    if (this.#isRecording) void this.#review?.loadKept();
  }

  /** The agent is about to start. */
  starting(): void {
    this.#recorder.recover();
    this.#recorder.warm();
  }

  /** The agent of an earlier window goes on; to be called before what it has said meanwhile happens. */
  resume(): void {
    this.#recorder.resume();
  }

  /** The window closes while the agent keeps running. Waits a short time for ended turns to be recorded. */
  async leave(): Promise<void> {
    this.#recorder.leave();
    await this.settledSoon();
  }

  /** The user is about to send something, or the agent is ready. */
  warm(): void {
    this.#recorder.warm();
  }

  /** To be called with each event that happens, after it was applied. */
  happened(event: SessionEvent): void {
    this.#recorder.happened(event);
  }

  /**
   * Resolves when the agent may write: the state before is known, or took too long. Never rejects.
   * @param what the file that is written, absolute, or the command that is run; absent: not known
   */
  beforeWrite(what?: string | AgentCommand): Promise<void> {
    return this.#recorder.beforeWrite(what);
  }

  /** Resolves when all that has happened so far is recorded. Never rejects. */
  settled(): Promise<void> {
    return this.#recorder.settled();
  }

  /** As {@link settled}, but no longer than a window that closes can wait. */
  async settledSoon(): Promise<void> {
    await within(CLOSING_MS, this.#recorder.settled());
  }

  /** What a turn changed; while it runs, so far. Undefined: nothing, or it is not known. */
  total(turnId: string): (ChangeTotal & { readonly incomplete: TurnChanges['incomplete'] | undefined }) | undefined {
    const stored = this.#options.model.turn(turnId)?.changes;
    if (stored && isSettled(stored)) {
      const { files, added, removed, incomplete } = stored;
      return files === 0 && incomplete === undefined ? undefined : { files, added, removed, incomplete };
    }
    const { soFar, isLate } = this.#recorder.recorded(turnId) ?? {};
    if (!soFar || soFar.files.length === 0) return undefined;
    return { ...totalOf(soFar.files), incomplete: isLate && 'late' };
  }

  /** Returns whether a file was not what a diff shows after the call of the diff. */
  isWrittenDifferently(turnId: string, toolCallId: string, path: string): boolean {
    const stored = this.#options.model.turn(turnId)?.changes?.writtenDifferently;
    const found = stored ?? this.#recorder.recorded(turnId)?.shown.found ?? [];
    return found.some((one) => one.toolCallId === toolCallId && one.path === path);
  }

  /**
   * Returns a file as a diff shows it, and as it was after the turn (so far).
   * @throws ParleyError `state-gone`, `file-not-found` where the turn did not change the file
   */
  async written(
    turnId: string,
    diff: { readonly path: string; readonly oldText?: string; readonly newText: string },
  ): Promise<{ readonly shown: string; readonly written: string }> {
    const path = normalize(diff.path);
    const change = (await this.changesOf(turnId)).find((one) => pathOf(one) === path);
    const states = await this.states();
    const written = change && (await textOf(states, change, change.after));
    if (!change || written === undefined)
      throw new ParleyError('file-not-found', localizable("The turn didn't change this file."));
    return { shown: shownText(diff, await textOf(states, change, change.before)), written };
  }

  /**
   * Returns which files of an ended turn the agent did not name: absolute paths.
   * @throws ParleyError `state-gone`
   */
  async unnamedOf(turnId: string): Promise<ReadonlySet<string>> {
    const stored = this.#options.model.turn(turnId)?.changes;
    if (!stored?.unnamed && !stored?.hasMoreUnnamed) return new Set();
    return unnamedOf(stored, stored.hasMoreUnnamed ? await this.changesOf(turnId) : []);
  }

  /** What waits for review; undefined: nothing. */
  waiting(): ChangeTotal | undefined {
    const files = this.review?.files ?? [];
    return files.length === 0 ? undefined : totalOf(files);
  }

  /**
   * Returns the files that wait for review, and those that were kept or undone, sorted by their
   * absolute path. Lines of the latter are those of their last turn, where that is at hand.
   */
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

  /** Differs whenever the list of a turn does, or of what waits for review. */
  version(turnId?: string): number {
    return turnId === undefined ? this.#reviewVersion : (this.#versions.get(turnId) ?? 0);
  }

  /** Returns whether the files can be restored to before a turn: it or a later one changed some. */
  canRestore({ number }: Pick<Turn, 'number'>): boolean {
    if (!this.#options.services || !this.isOurs) return false;
    const { turns } = this.#options.model.state;
    return number <= (turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0)?.number ?? 0);
  }

  /**
   * Returns what a turn changed, sorted by root and path; while it runs, so far.
   * @throws ParleyError `state-gone` where the states of the turn are no longer kept
   */
  async changesOf(turnId: string): Promise<readonly FileChange[]> {
    const known = this.#lists.get(turnId);
    if (known) return known;
    const recorded = this.#recorder.recorded(turnId);
    if (recorded) return recorded.soFar?.files ?? [];
    const changes = this.#options.model.turn(turnId)?.changes;
    const { before, after } = changes ? statesOf(changes) : {};
    if (!before || !after) return [];
    const files = await (await this.states()).changes(before, after);
    this.#keepList(turnId, files);
    return files;
  }

  dispose(): void {
    this.#recorder.dispose();
    this.#review?.dispose();
    this.work.cancel();
    void this.#open?.then(
      (states) => states.dispose(),
      () => undefined,
    );
  }

  get #isRecording(): boolean {
    const { services, isOurs, isAtWorkHere } = this.#options;
    return services?.isEnabled() === true && isOurs() && isAtWorkHere();
  }

  #note(turnId: string, changes: TurnChanges): void {
    if (!this.isOurs) return;
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.apply({ type: 'turn_changes', turnId, ...changes });
  }

  #keepList(turnId: string, files: readonly FileChange[]): void {
    this.#lists.delete(turnId);
    this.#lists.set(turnId, files);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Lists show what became of each file: those that someone may see are other ones now. */
  #reviewChanged(): void {
    this.#reviewVersion++;
    this.#options.onChange();
    for (const turnId of this.#lists.keys()) this.#changed(turnId);
  }

  #changed(turnId: string): void {
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.onChange(turnId);
  }
}

function notRecorded(): ParleyError {
  return new ParleyError('not-reviewed', localizable("Changes of this session aren't recorded."));
}
