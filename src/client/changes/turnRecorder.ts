// Records what the turns of a session change: takes states of the folders at the start and end of
// each turn, in order, and stores the difference in the transcript. Never delays a prompt.

import { lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { type Disposable, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { within } from '../../base/within';
import type { FileChange, FolderStates, Snapshot } from '../../changes/model/fileChange';
import type { FinishedTurn } from '../../changes/review/reviewFile';
import type { SessionEvent, TurnChanges } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { ToolEntry, Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { isBelow } from '../requests/roots';
import { isCoveredBy, pathsOf } from './changedPaths';
import type { UserEdits } from './changeServices';
import { type AgentCommand, NamedFiles } from './namedFiles';
import { foldersOf, gapOf, isSameSnapshot, isSettled, type RecordedTurn, statesOf, totalOf } from './recordedTurn';
import { ShownDiffs } from './shownDiffs';
import { StateSequence, type TakenState } from './stateSequence';

/** How long writes wait for the first state. */
const FIRST_STATE_MS = 2000;
const LIVE_PAUSE_MS = 2000;
const WARM_PAUSE_MS = 10_000;
/** The end of a turn is painted first, as starting git blocks this process for milliseconds. */
const PAINT_MS = 50;
const MAX_YOURS = 500;
/** The agent's immediate answer comes first: starting git blocks this process for milliseconds. */
const FIRST_DELAY_MS = 100;
const READING: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch', 'switch_mode']);

export interface TurnRecorderOptions {
  readonly model: SessionView;
  readonly cwd: string;
  readonly states: () => Promise<FolderStates>;
  readonly userEdits: UserEdits;
  readonly isRecording: () => boolean;
  readonly outlivesWindow: () => boolean;
  readonly storeChanges: (turnId: string, changes: TurnChanges) => void;
  readonly onLiveChanges: (turnId: string) => void;
  readonly onWritten: (toolCallId: string) => void;
  /** Rejections are logged. */
  readonly onEnd: (turn: FinishedTurn) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

export class TurnRecorder implements Disposable {
  readonly #options: TurnRecorderOptions;
  readonly #abort = new AbortController();
  readonly #sequence: StateSequence;
  /** Turns whose final event isn't stored yet. */
  readonly #recordings = new Map<string, RecordedTurn>();
  #turn: RecordedTurn | undefined;
  /** State at the end of the last turn, without what the next one wrote. */
  #lastTurnEnd: TakenState | undefined;
  readonly #namedPaths = new Set<string>();
  #queue: Promise<void> = Promise.resolve();
  #pendingLiveState: Disposable | undefined;

  constructor(options: TurnRecorderOptions) {
    this.#options = options;
    this.#sequence = new StateSequence(options.states, options.now);
  }

  recorded(turnId: string): RecordedTurn | undefined {
    return this.#recordings.get(turnId);
  }

  /** Takes a background state before the next turn, to recognize its early writes. */
  warm(): void {
    if (this.#sequence.waitMs(WARM_PAUSE_MS) === 0) void this.filesChanged();
  }

  /**
   * Takes a state after the user changed files, to separate this from the next turn. The disk shows
   * neither deletions nor that the agent rewrites what was undone. Never rejects.
   */
  async filesChanged(): Promise<void> {
    if (this.#turn || !this.#isRecording) return;
    await this.#enqueue(async () => {
      if (!this.#turn) await this.#sequence.take(this.#abort.signal);
    });
  }

  onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#begin(event.turnId, event.at);
        return;
      case 'turn_ended':
        this.#end(event.turnId);
        return;
      case 'tool_call':
        this.#toolCalled(event.toolCallId);
        return;
    }
  }

  /** See `SessionChanges.beforeWrite`. */
  async beforeWrite(what?: string | AgentCommand): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    this.#mayWrite(turn);
    if (typeof what === 'string') {
      turn.written.add(what);
      this.#nameInStates([what]);
    } else if (what) turn.commands.push(what);
    if (!turn.before) await within(FIRST_STATE_MS, turn.whenBegun);
  }

  /** Completes turns of a killed window. The present disk counts as the end of the last one. */
  recover(): void {
    if (!this.#isRecording) return;
    const { turns } = this.#options.model.state;
    for (const [index, turn] of turns.entries()) {
      const { id, changes, endedAt } = turn;
      if (!changes || endedAt === undefined || this.#recordings.has(id) || isSettled(changes)) continue;
      const next = turns.slice(index + 1).find((later) => (later.changes?.folders.length ?? 0) > 0);
      void this.#enqueue(() => this.#recoverTurn(turn, changes, next?.changes));
    }
  }

  /**
   * Records the running turn of an earlier window's agent, starting from the state in the journal.
   * Call before applying what the agent sent while no window was attached.
   */
  resume(): void {
    this.recover();
    const { turn } = this.#options.model.state;
    if (!turn || this.#turn || !this.#isRecording) return;
    const { id: turnId, startedAt, changes } = turn;
    if (!changes) {
      this.#begin(turnId, startedAt);
      return;
    }
    const diffs = new ShownDiffs();
    let mayWrite = false;
    for (const entry of this.#options.model.state.entries) {
      if (entry.kind !== 'tool' || entry.turnId !== turnId || READING.has(entry.toolKind)) continue;
      mayWrite = true;
      if (entry.status === 'completed') diffs.addDiffsOf(entry);
    }
    this.#turn = {
      ...newTurn(turnId, startedAt),
      before: statesOf(changes).before,
      isBeginStored: true,
      isResumed: true,
      mayWrite: mayWrite || undefined,
      isLate: changes.incomplete === 'late' || undefined,
      yoursBefore: changes.alsoYours,
      diffs,
    };
    this.#recordings.set(turnId, this.#turn);
    this.#scheduleLiveState(this.#turn);
  }

  /** Stores what only this window knows of the running turn. */
  leave(): void {
    const turn = this.#turn;
    if (!turn?.before || !turn.isBeginStored) return;
    const alsoYours = [...this.#yoursIn(turn)].slice(0, MAX_YOURS);
    if (alsoYours.length > 0) this.#storeChanges(turn.turnId, { ...begun(turn.before, turn.isLate), alsoYours });
  }

  settled(): Promise<void> {
    return this.#queue;
  }

  dispose(): void {
    this.#abort.abort();
    this.#pendingLiveState?.dispose();
  }

  get #isRecording(): boolean {
    return !this.#abort.signal.aborted && this.#options.isRecording();
  }

  #begin(turnId: string, startedAt: number): void {
    this.#pendingLiveState?.dispose();
    for (const before of this.#recordings.values()) before.followedAt ??= startedAt;
    this.#turn = undefined;
    this.#namedPaths.clear();
    if (!this.#isRecording) return;
    const earlier = this.#sequence.latest;
    const mark = this.#sequence.mark();
    const turn = newTurn(turnId, startedAt);
    this.#turn = turn;
    this.#recordings.set(turnId, turn);
    turn.whenBegun = this.#enqueue(() => this.#takeFirstState(turn, mark, earlier));
  }

  async #takeFirstState(turn: RecordedTurn, mark: number, latest: TakenState | undefined): Promise<void> {
    const lastTurnEnd = this.#lastTurnEnd;
    const earlier = lastTurnEnd && lastTurnEnd.began >= (latest?.began ?? 0) ? lastTurnEnd : latest;
    // With an earlier state, early writes can be recognized.
    const { signal } = this.#abort;
    const wait = turn.startedAt + FIRST_DELAY_MS - this.#options.now();
    if (earlier && wait > 0) await delay(Math.min(wait, FIRST_DELAY_MS), undefined, { signal });
    const taken = await this.#sequence.takeSince(mark, signal);
    const { snapshot } = taken;
    turn.lastState = taken;
    const before = await this.#stateBefore(turn, snapshot, earlier);
    turn.before = before ?? snapshot;
    if (!before || this.#sequence.isLateFor(turn.startedAt)) await this.#noteLateStart(turn);
    await this.#storeBegun(turn);
  }

  /** Without an earlier state, file times show whether the agent has already written. */
  async #noteLateStart(turn: RecordedTurn): Promise<void> {
    turn.isLate = true;
    const { newestRead } = await this.#options.states();
    if (isSince(newestRead, turn.startedAt)) turn.mayWrite = true;
  }

  /** Undefined if the previous state is no longer available. */
  async #stateBefore(
    turn: RecordedTurn,
    snapshot: Snapshot,
    earlier: TakenState | undefined,
  ): Promise<Snapshot | undefined> {
    if (!earlier) return undefined;
    try {
      const before = await this.#withoutEarlyWrites(turn.startedAt, snapshot, earlier.snapshot);
      turn.yoursBefore = await this.#lostUserEdits(before, snapshot, earlier.began);
      return before;
    } catch (error) {
      this.#options.log.warn(`state before a turn: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Returns the user's files that the turn wrote before any state had them; absolute paths. */
  async #lostUserEdits(before: Snapshot, snapshot: Snapshot, since: number): Promise<readonly string[]> {
    const edits = this.#options.userEdits.since(since);
    const replaced = edits.size > 0 ? await this.#changes(before, snapshot) : [];
    return replaced.flatMap(pathsOf).filter((path) => isCoveredBy(path, edits));
  }

  /** Takes what was written since `at` from an earlier state instead. */
  async #withoutEarlyWrites(at: number, snapshot: Snapshot, earlier: Snapshot): Promise<Snapshot> {
    if (isSameSnapshot(earlier, snapshot)) return snapshot;
    const states = await this.#options.states();
    const written = await writtenSince(await states.changes(earlier, snapshot, this.#abort.signal), at);
    return written.length === 0 ? snapshot : states.replaced(snapshot, earlier, written);
  }

  #mayWrite(turn: RecordedTurn): void {
    if (turn.mayWrite) return;
    turn.mayWrite = true;
    if (turn.before) void this.#enqueue(() => this.#storeBegun(turn));
  }

  /** Stored so that the changes survive if the window is killed. */
  async #storeBegun(turn: RecordedTurn): Promise<void> {
    const { turnId, before, isLate } = turn;
    const mayEndElsewhere = turn.mayWrite || this.#options.outlivesWindow();
    if (!before || !mayEndElsewhere || turn.isBeginStored || turn.hasEnded) return;
    turn.isBeginStored = true;
    await (await this.#options.states()).hold(before, `${turnId}/before`);
    this.#storeChanges(turnId, begun(before, isLate));
  }

  #toolCalled(toolCallId: string): void {
    const turn = this.#turn;
    const { model } = this.#options;
    const index = turn && model.toolIndex(toolCallId);
    const entry = index === undefined ? undefined : model.state.entries[index];
    if (!turn || entry?.kind !== 'tool') return;
    // Agents read a file before they change it.
    this.#nameInStates(placesOf(entry));
    if (READING.has(entry.toolKind)) return;
    this.#mayWrite(turn);
    if (!isEnded(entry.status)) return;
    if (entry.status === 'completed') turn.diffs.addDiffsOf(entry);
    this.#scheduleLiveState(turn);
  }

  /** Without git, only named files are read. */
  #nameInStates(all: readonly string[]): void {
    const paths = all.filter((path) => !this.#namedPaths.has(path));
    if (paths.length === 0) return;
    for (const path of paths) this.#namedPaths.add(path);
    void this.#options.states().then(
      (states) => {
        for (const path of paths) states.name(resolve(this.#options.cwd, path));
      },
      () => {},
    ); // errors are reported where the states are used
  }

  #scheduleLiveState(turn: RecordedTurn): void {
    if (this.#pendingLiveState) return;
    const wait = turn.before ? this.#sequence.waitMs(LIVE_PAUSE_MS) : LIVE_PAUSE_MS;
    const timer = setTimeout(() => {
      this.#pendingLiveState = undefined;
      void this.#enqueue(() => this.#takeLiveState(turn));
    }, wait);
    this.#pendingLiveState = toDisposable(() => {
      clearTimeout(timer);
      this.#pendingLiveState = undefined;
    });
  }

  async #takeLiveState(turn: RecordedTurn): Promise<void> {
    if (turn.hasEnded || !turn.before) return;
    const taken = await this.#sequence.take(this.#abort.signal);
    const files = await this.#changes(turn.before, taken.snapshot);
    turn.lastState = taken;
    turn.liveChanges = { files };
    await this.#compare(turn, files);
    this.#options.onLiveChanges(turn.turnId);
  }

  async #compare({ diffs }: RecordedTurn, files: readonly FileChange[]): Promise<void> {
    const { model, states, onWritten } = this.#options;
    const open = new Set<string>();
    for (let index = model.state.entries.length - 1; index >= 0; index--) {
      const entry = model.state.entries[index];
      if (entry?.kind === 'turn_end') break;
      if (entry?.kind === 'tool' && !isEnded(entry.status)) for (const path of placesOf(entry)) open.add(path);
    }
    for (const { toolCallId } of await diffs.compare(await states(), files, (path) => open.has(path)))
      onWritten(toolCallId);
  }

  #end(turnId: string): void {
    const turn = this.#turn;
    if (turn?.turnId !== turnId) return;
    this.#pendingLiveState?.dispose();
    this.#turn = undefined;
    turn.hasEnded = true;
    // It may have ended long before this window could look at the disk.
    if (turn.isResumed && !turn.lastState) turn.isUnseen = true;
    const mark = this.#sequence.mark();
    void this.#enqueue(() => this.#takeLastState(turn, mark)).then(() => this.#recordings.delete(turnId));
  }

  async #takeLastState(turn: RecordedTurn, mark: number): Promise<void> {
    const { before } = turn;
    if (!before) return;
    if (turn.followedAt === undefined) await delay(PAINT_MS, undefined, { signal: this.#abort.signal });
    const taken = await this.#sequence.takeSince(mark, this.#abort.signal);
    // Later writes belong to the next turn.
    const { followedAt, lastState } = turn;
    const earlier =
      lastState && followedAt !== undefined && lastState.ended <= followedAt ? lastState.snapshot : before;
    const after =
      followedAt === undefined ? taken.snapshot : await this.#withoutEarlyWrites(followedAt, taken.snapshot, earlier);
    this.#lastTurnEnd = { ...taken, snapshot: after };
    const unseen = turn.isUnseen && 'interrupted';
    await this.#settle(before, after, turn.isLate ? 'late' : (gapOf(before, after) ?? unseen), turn);
  }

  async #settle(
    before: Snapshot,
    after: Snapshot,
    incomplete: TurnChanges['incomplete'],
    turn: RecordedTurn,
  ): Promise<void> {
    const { turnId, isBeginStored, mayWrite, diffs } = turn;
    const states = await this.#options.states();
    const files = await this.#changes(before, after);
    // A turn that changed and wrote nothing is complete; without a list, extra changes don't
    // matter.
    const reason = files.length > 0 || (mayWrite && incomplete !== 'interrupted') ? incomplete : undefined;
    if (files.length === 0 && reason === undefined) {
      if (isBeginStored) this.#storeChanges(turnId, NOTHING);
      return;
    }
    if (!isBeginStored) await states.hold(before, `${turnId}/before`);
    await states.hold(after, `${turnId}/after`);
    await this.#compare(turn, files);
    const edits = this.#yoursIn(turn);
    const yours = new Set(files.flatMap(pathsOf).filter((path) => isCoveredBy(path, edits)));
    const unnamed = this.#unnamedIn(turn, files);
    this.#storeChanges(turnId, {
      folders: foldersOf(before, after),
      ...totalOf(files),
      incomplete: reason,
      writtenDifferently: diffs.found.length > 0 ? diffs.found : undefined,
      alsoYours: yours.size > 0 ? [...yours].slice(0, MAX_YOURS) : undefined,
      unnamed: unnamed.size > 0 ? [...unnamed].slice(0, MAX_YOURS) : undefined,
      hasMoreUnnamed: Math.max(unnamed.size, yours.size) > MAX_YOURS ? true : undefined,
    });
    if (!this.#abort.signal.aborted)
      await this.#options.onEnd({ turnId, before, after, changes: files, yours, unnamed });
  }

  async #recoverTurn(
    { id, startedAt }: Readonly<Turn>,
    changes: TurnChanges,
    next: TurnChanges | undefined,
  ): Promise<void> {
    try {
      const end = next ? statesOf(next).before : (await this.#sequence.take(this.#abort.signal)).snapshot;
      const turn = { ...newTurn(id, startedAt), isNoted: true as const };
      await this.#settle(statesOf(changes).before, end, 'interrupted', turn);
    } catch (error) {
      // The recovery would fail at each start.
      this.#storeChanges(id, NOTHING);
      throw error;
    }
  }

  #yoursIn({ startedAt, yoursBefore = [] }: RecordedTurn): ReadonlySet<string> {
    return new Set([...yoursBefore, ...this.#options.userEdits.since(startedAt)]);
  }

  #unnamedIn({ turnId, written, commands }: RecordedTurn, files: readonly FileChange[]): ReadonlySet<string> {
    const { model, cwd } = this.#options;
    const named = new NamedFiles(cwd, [cwd, ...files.map(({ root }) => root)]);
    for (const path of written) named.addPath(path);
    for (const command of commands) named.addCommand(command);
    for (const entry of model.state.entries)
      if (entry.kind === 'tool' && entry.turnId === turnId && !READING.has(entry.toolKind)) named.addCall(entry);
    return new Set(files.flatMap(pathsOf).filter((path) => !named.has(path)));
  }

  async #changes(before: Snapshot, after: Snapshot): Promise<readonly FileChange[]> {
    if (isSameSnapshot(before, after)) return [];
    return (await this.#options.states()).changes(before, after, this.#abort.signal);
  }

  #storeChanges(turnId: string, changes: TurnChanges): void {
    if (!this.#abort.signal.aborted) this.#options.storeChanges(turnId, changes);
  }

  /** Runs jobs one after another, after outgoing messages have been sent. Failures are logged. */
  #enqueue(job: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue
      .then(() => setImmediate())
      .then(() => (this.#abort.signal.aborted ? undefined : job()))
      .catch((error: unknown) => {
        if (!this.#abort.signal.aborted) this.#options.log.warn(`changes of session: ${messageOf(error)}`);
      });
    return this.#queue;
  }
}

function newTurn(turnId: string, startedAt: number): RecordedTurn {
  const whenBegun = Promise.resolve();
  return { turnId, startedAt, whenBegun, written: new Set(), commands: [], diffs: new ShownDiffs() };
}

function begun(before: Snapshot, isLate: true | undefined): TurnChanges {
  return { folders: foldersOf(before), files: 0, added: 0, removed: 0, incomplete: isLate ? 'late' : undefined };
}

const NOTHING: TurnChanges = { folders: [], files: 0, added: 0, removed: 0 };

function placesOf({ locations, content }: ToolEntry): readonly string[] {
  return [...locations, ...content.filter((part) => part.type === 'diff')].map(({ path }) => path);
}

/** File times lag by up to a kernel tick. */
const TICK_MS = 10;
const PARALLEL_READS = 64;

/**
 * Returns absolute paths written, created, renamed or deleted since a time.
 * @param at ms since 1970
 */
async function writtenSince(changes: readonly FileChange[], at: number): Promise<readonly string[]> {
  const written: string[] = [];
  for (let from = 0; from < changes.length; from += PARALLEL_READS) {
    const part = changes.slice(from, from + PARALLEL_READS);
    const times = await Promise.all(part.map(timeOf));
    written.push(...part.filter((_, index) => isSince(times[index] ?? 0, at)).flatMap(pathsOf));
  }
  return written;
}

/**
 * @param time of the file system, ms since 1970
 * @param at ms since 1970
 */
function isSince(time: number, at: number): boolean {
  return time >= at - TICK_MS;
}

/** Renaming a folder changes its time, but not those of its files. */
async function timeOf(change: FileChange): Promise<number> {
  const [path = '', oldPath] = pathsOf(change);
  const time = await changedAt(path);
  if (oldPath === undefined) return time;
  const folders: string[] = [];
  for (let place = dirname(path); !isBelow(place, oldPath); place = dirname(place)) folders.push(place);
  return Math.max(time, ...(await Promise.all(folders.map(changedAt))));
}

/** For a deleted file, returns its folder's time. */
async function changedAt(path: string): Promise<number> {
  for (let place = path; ; place = dirname(place)) {
    const found = await lstat(place).catch(() => undefined);
    if (found) return found.ctimeMs;
    if (dirname(place) === place) return 0;
  }
}
