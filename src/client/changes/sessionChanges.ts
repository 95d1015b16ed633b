// What the turns of a session change on disk: states of its folders at the start and the end of
// each turn, and the list of changes between them. Nothing here delays a prompt.
import { setImmediate } from 'node:timers/promises';
import { type Disposable, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { FileChange, Snapshot } from '../../changes/model/fileChange';
import type { FolderStates } from '../../changes/model/folderStore';
import type { SessionEvent, TurnChanges } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { ChangeServices } from './changeServices';
import { type ChangeTotal, foldersOf, gapOf, isSame, type RecordedTurn, statesOf, totalOf } from './recordedTurn';
import { StateSequence, type TakenState } from './stateSequence';
import { writtenSince } from './writtenSince';

/** How long a write of the agent waits for the first state of its turn, in milliseconds. */
const FIRST_STATE_MS = 2000;
/** Between two states that are taken while a turn runs, and while the user types, in milliseconds. */
const LIVE_PAUSE_MS = 2000;
const WARM_PAUSE_MS = 30_000;
/** Lists of changes that are kept at hand. */
const MAX_LISTS = 8;
/** Tool calls that change nothing on disk. */
const READING: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch', 'switch_mode']);

export interface SessionChangesOptions {
  /** Ours of the session. */
  readonly key: string;
  readonly roots: readonly string[];
  readonly model: SessionView;
  /** Absent: nothing is recorded. */
  readonly services?: ChangeServices | undefined;
  /** Returns whether the session is not another window's. */
  readonly isOurs: () => boolean;
  /** Returns whether the agent works in the folders of this machine, and they may be read. */
  readonly isAtWorkHere: () => boolean;
  readonly apply: (event: SessionEvent) => void;
  /** The list of a turn is another one than before. */
  readonly onChange: (turnId: string) => void;
  readonly now: () => number;
  readonly log: Log;
}

export class SessionChanges implements Disposable {
  readonly #options: SessionChangesOptions;
  readonly #abort = new AbortController();
  readonly #sequence: StateSequence;
  /** Turns of which the event with the end is still to come, by id. */
  readonly #recorded = new Map<string, RecordedTurn>();
  /** By turn. */
  readonly #lists = new Map<string, readonly FileChange[]>();
  /** Of lists that have changed, by turn. */
  readonly #versions = new Map<string, number>();
  #open: Promise<FolderStates> | undefined;
  /** The running turn. */
  #turn: RecordedTurn | undefined;
  /** The state at the end of the turn before, without what the next one wrote. */
  #lastEnd: TakenState | undefined;
  /** Ends when all states asked for so far have been dealt with, in order. */
  #work: Promise<void> = Promise.resolve();
  #look: Disposable | undefined;

  constructor(options: SessionChangesOptions) {
    this.#options = options;
    this.#sequence = new StateSequence(() => this.#states(), options.now);
  }

  /**
   * The user is about to send something, or the agent is about to work: takes a state that nobody
   * waits for, so that what the next turn writes at once is told apart.
   */
  warm(): void {
    if (this.#turn || !this.#isRecording || this.#sequence.waitMs(WARM_PAUSE_MS) > 0) return;
    void this.#inOrder(async () => {
      if (!this.#turn) await this.#sequence.take(this.#abort.signal);
    });
  }

  /** To be called with each event that happens, after it was applied. */
  happened(event: SessionEvent): void {
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

  /**
   * Resolves when the agent may write: the first state of the turn is there, or took too long.
   * Never rejects.
   * @param path of the file that is written, absolute; absent: a command is run
   */
  async beforeWrite(path?: string): Promise<void> {
    const turn = this.#turn;
    if (!turn) return;
    this.#mayWrite(turn);
    if (path !== undefined) this.#name([path]);
    if (turn.before) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIRST_STATE_MS);
    });
    await Promise.race([turn.hasBegun, patience]);
    clearTimeout(timer);
  }

  /**
   * The agent is about to start. Completes the turns of which the end was not seen, as their window
   * was killed: what is on disk now counts as their end.
   */
  starting(): void {
    if (!this.#isRecording) return;
    const { turns } = this.#options.model.state;
    const open = turns.filter(({ id, changes, endedAt }) => {
      if (!changes || endedAt === undefined || this.#recorded.has(id)) return false;
      return !isSettled(changes);
    });
    for (const turn of open) {
      const next = turns.slice(turns.indexOf(turn) + 1).find(({ changes }) => (changes?.folders.length ?? 0) > 0);
      void this.#inOrder(() => this.#recoverTurn(turn, next));
    }
    this.warm();
  }

  /** Resolves when all that has happened so far is recorded. Never rejects. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** What a turn changed; while it runs, so far. Undefined: nothing, or it is not known. */
  total(turnId: string): (ChangeTotal & Pick<TurnChanges, 'incomplete'> & { readonly version: number }) | undefined {
    const turn = this.#options.model.turn(turnId);
    const stored = turn?.changes;
    const version = this.version(turnId);
    if (stored && isSettled(stored)) {
      const { files, added, removed, incomplete } = stored;
      if (files === 0 && incomplete === undefined) return undefined;
      return { files, added, removed, version, ...(incomplete && { incomplete }) };
    }
    const recorded = this.#recorded.get(turnId);
    if (!recorded?.soFar || recorded.soFar.files.length === 0) return undefined;
    return { ...totalOf(recorded.soFar.files), version, ...(recorded.isLate && { incomplete: 'late' }) };
  }

  /** The session may be changed here: it is not another window's. */
  get isOurs(): boolean {
    return this.#options.isOurs();
  }

  /** Differs whenever the list of a turn does. */
  version(turnId: string): number {
    return this.#versions.get(turnId) ?? 0;
  }

  /** Returns whether the files can be restored to before a turn: it or a later one changed some. */
  canRestore({ number }: Pick<Turn, 'number'>): boolean {
    const { isOurs, services, model } = this.#options;
    if (!services || !isOurs()) return false;
    const { turns } = model.state;
    return number <= (turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0)?.number ?? 0);
  }

  /**
   * Returns what a turn changed, sorted by root and path; while it runs, so far.
   * @throws ParleyError `state-gone` where the states of the turn are no longer kept
   */
  async changesOf(turnId: string): Promise<readonly FileChange[]> {
    const known = this.#lists.get(turnId);
    if (known) return known;
    const recorded = this.#recorded.get(turnId);
    if (recorded) return recorded.soFar?.files ?? [];
    const { before, after } = this.#boundaries(turnId) ?? {};
    if (!before || !after) return [];
    const files = await (await this.#states()).changes(before, after, this.#abort.signal);
    this.#keepList(turnId, files);
    return files;
  }

  dispose(): void {
    this.#abort.abort();
    this.#look?.dispose();
  }

  get #isRecording(): boolean {
    const { services, isOurs, isAtWorkHere } = this.#options;
    return services?.isEnabled() === true && !this.#abort.signal.aborted && isOurs() && isAtWorkHere();
  }

  /** @throws Error where nothing is recorded */
  async #states(): Promise<FolderStates> {
    const { services, key, roots } = this.#options;
    if (!services) throw new Error('changes are not recorded');
    this.#open ??= services.openStates(key, roots);
    return this.#open;
  }

  #begin(turnId: string, startedAt: number): void {
    this.#look?.dispose();
    for (const before of this.#recorded.values()) before.followedAt ??= startedAt;
    this.#turn = undefined;
    if (!this.#isRecording) return;
    const earlier = this.#sequence.latest;
    const turn: RecordedTurn = { turnId, startedAt, hasBegun: Promise.resolve() };
    this.#turn = turn;
    this.#recorded.set(turnId, turn);
    turn.hasBegun = this.#inOrder(() => this.#takeFirst(turn, earlier));
  }

  async #takeFirst(turn: RecordedTurn, known: TakenState | undefined): Promise<void> {
    const lastEnd = this.#lastEnd;
    const earlier = lastEnd && lastEnd.began >= (known?.began ?? 0) ? lastEnd : known;
    const { snapshot } = await this.#sequence.take(this.#abort.signal);
    if (earlier) turn.before = await this.#asBefore(turn.startedAt, snapshot, earlier.snapshot);
    else {
      turn.before = snapshot;
      turn.isLate = true;
    }
    await this.#noteBegun(turn);
  }

  /** A state without what was written since a point in time, which is as it was in an earlier one. */
  async #asBefore(at: number, snapshot: Snapshot, earlier: Snapshot): Promise<Snapshot> {
    if (isSame(earlier, snapshot)) return snapshot;
    const states = await this.#states();
    const written = await writtenSince(await states.changes(earlier, snapshot, this.#abort.signal), at);
    return written.length === 0 ? snapshot : states.replaced(snapshot, earlier, written);
  }

  #mayWrite(turn: RecordedTurn): void {
    if (turn.mayWrite) return;
    turn.mayWrite = true;
    if (turn.before) void this.#inOrder(() => this.#noteBegun(turn));
  }

  /** Keeps the first state of a turn, so that its changes are known although the window is killed. */
  async #noteBegun(turn: RecordedTurn): Promise<void> {
    if (!turn.before || !turn.mayWrite || turn.isNoted || turn.hasEnded) return;
    turn.isNoted = true;
    await (await this.#states()).hold(turn.before, `${turn.turnId}/before`);
    this.#apply(turn.turnId, { folders: foldersOf(turn.before), files: 0, added: 0, removed: 0, ...lateness(turn) });
  }

  #toolCalled(toolCallId: string): void {
    const turn = this.#turn;
    const index = turn && this.#options.model.toolIndex(toolCallId);
    const entry = index === undefined ? undefined : this.#options.model.state.entries[index];
    if (!turn || entry?.kind !== 'tool') return;
    const { toolKind, status, locations, content } = entry;
    if (READING.has(toolKind)) return;
    this.#mayWrite(turn);
    this.#name([...locations, ...content.filter((part) => part.type === 'diff')].map(({ path }) => path));
    if (isEnded(status)) this.#lookSoon(turn);
  }

  /** Where there is no git, only files that are named are looked at. */
  #name(paths: readonly string[]): void {
    if (paths.length === 0) return;
    void this.#states().then((states) => {
      for (const path of paths) states.name(path);
    }, ignore);
  }

  #lookSoon(turn: RecordedTurn): void {
    if (this.#look) return;
    const timer = setTimeout(() => {
      this.#look = undefined;
      void this.#inOrder(() => this.#lookAt(turn));
    }, this.#sequence.waitMs(LIVE_PAUSE_MS));
    this.#look = toDisposable(() => {
      clearTimeout(timer);
      this.#look = undefined;
    });
  }

  async #lookAt(turn: RecordedTurn): Promise<void> {
    if (turn.hasEnded || !turn.before) return;
    const { snapshot } = await this.#sequence.take(this.#abort.signal);
    const files = await (await this.#states()).changes(turn.before, snapshot, this.#abort.signal);
    turn.soFar = { after: snapshot, files };
    this.#changed(turn.turnId);
  }

  #end(turnId: string): void {
    const turn = this.#turn;
    if (turn?.turnId !== turnId) return;
    this.#look?.dispose();
    this.#turn = undefined;
    turn.hasEnded = true;
    void this.#inOrder(() => this.#takeLast(turn)).then(() => this.#recorded.delete(turnId));
  }

  async #takeLast(turn: RecordedTurn): Promise<void> {
    const { before, turnId } = turn;
    if (!before) return;
    const taken = await this.#sequence.take(this.#abort.signal);
    // What the next turn wrote meanwhile is its own.
    const { followedAt } = turn;
    const after =
      followedAt === undefined
        ? taken.snapshot
        : await this.#asBefore(followedAt, taken.snapshot, turn.soFar?.after ?? before);
    this.#lastEnd = { ...taken, snapshot: after };
    await this.#settle(turnId, before, after, turn.isLate ? 'late' : gapOf(before, after), turn);
  }

  async #settle(
    turnId: string,
    before: Snapshot,
    after: Snapshot,
    incomplete: TurnChanges['incomplete'],
    { isNoted, mayWrite }: Pick<RecordedTurn, 'isNoted' | 'mayWrite'>,
  ): Promise<void> {
    const states = await this.#states();
    const files = isSame(before, after) ? [] : await states.changes(before, after, this.#abort.signal);
    // Where nothing was done, nothing can be missing.
    const reason = files.length > 0 || mayWrite ? incomplete : undefined;
    if (files.length === 0 && reason === undefined) {
      if (isNoted) this.#apply(turnId, { folders: [], files: 0, added: 0, removed: 0 });
      return;
    }
    if (!isNoted) await states.hold(before, `${turnId}/before`);
    await states.hold(after, `${turnId}/after`);
    this.#keepList(turnId, files);
    this.#apply(turnId, {
      folders: foldersOf(before, after),
      ...totalOf(files),
      ...(reason && { incomplete: reason }),
    });
  }

  async #recoverTurn({ id, changes }: Readonly<Turn>, next: Readonly<Turn> | undefined): Promise<void> {
    if (!changes) return;
    const { before } = statesOf(changes);
    const after = next?.changes ? statesOf(next.changes).before : undefined;
    try {
      const end = after ?? (await this.#sequence.take(this.#abort.signal)).snapshot;
      await this.#settle(id, before, end, 'interrupted', { isNoted: true });
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#apply(id, { folders: [], files: 0, added: 0, removed: 0 });
      throw error;
    }
  }

  /** The states around a turn that is over. */
  #boundaries(turnId: string): ReturnType<typeof statesOf> | undefined {
    const changes = this.#options.model.turn(turnId)?.changes;
    return changes && statesOf(changes);
  }

  #keepList(turnId: string, files: readonly FileChange[]): void {
    this.#lists.delete(turnId);
    this.#lists.set(turnId, files);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
  }

  #apply(turnId: string, changes: TurnChanges): void {
    if (this.#abort.signal.aborted || !this.#options.isOurs()) return;
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.apply({ type: 'turn_changes', turnId, ...changes });
  }

  #changed(turnId: string): void {
    this.#versions.set(turnId, this.version(turnId) + 1);
    this.#options.onChange(turnId);
  }

  /**
   * Runs a job after those before it, and not before what is being sent has left. Never rejects:
   * what fails is logged.
   */
  #inOrder(job: () => Promise<void>): Promise<void> {
    this.#work = this.#work
      .then(() => setImmediate())
      .then(() => (this.#abort.signal.aborted ? undefined : job()))
      .catch((error: unknown) => {
        if (!this.#abort.signal.aborted) this.#options.log.warn(`changes of session: ${messageOf(error)}`);
      });
    return this.#work;
  }
}

/** Returns whether the end of a turn is known. */
function isSettled({ folders }: TurnChanges): boolean {
  return folders.every(({ after }) => after !== undefined);
}

function lateness({ isLate }: RecordedTurn): Pick<TurnChanges, 'incomplete'> {
  return isLate ? { incomplete: 'late' } : {};
}

/** What goes wrong is said where the states are used. */
function ignore(): void {}
