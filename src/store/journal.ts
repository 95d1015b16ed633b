// The journal: sessions with their events, queue and drafts, in one SQLite file shared by all
// windows. Essential data (a queued message, a draft, the end of a turn) is on disk when the call
// returns; streamed text follows within 50 ms.
import { rmSync } from 'node:fs';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { Emitter, type Event } from '../base/event';
import type { Log } from '../base/log';
import type { TimedEvent } from '../session/events/event';
import { Backing, type JournalState } from './backing';
import { ChangeSignal } from './changeSignal';
import { EventBuffer } from './events/eventBuffer';
import { type EventQuery, readEvents, readSize, readTail } from './events/eventPages';
import { appendRows, dropCleared, type EventPage } from './events/eventRows';
import { pathIn } from './file/journalFile';
import { type Machine, thisMachine } from './file/machine';
import { numberOf, type Sql } from './file/sql';
import { problemOf } from './file/sqlError';
import { INDEX_STEP, type IndexLimits, indexNew, indexRest } from './search/indexing';
import { lastOf, type SearchResult, type SearchSteps, search } from './search/search';
import { isSessionHeld, type JournalPort, sessionHeld, unknownSession } from './sessions/journalPort';
import {
  abandoned,
  type Claim,
  claim,
  type LeaseContext,
  ownerOf,
  release,
  renewalMs,
  renewLease,
} from './sessions/leases';
import { Ownership } from './sessions/ownership';
import { QuestionStore } from './sessions/questionStore';
import { QueueStore } from './sessions/queueStore';
import type { NewSession, SessionPatch, SessionRecord } from './sessions/records';
import { type Pruned, type PruneOptions, prune } from './sessions/retention';
import { SessionMarkStore } from './sessions/sessionMarks';
import {
  deleteSession,
  hasSession,
  listSessions,
  newestFirst,
  patchSession,
  readSession,
  type SessionQuery,
  saveSession,
} from './sessions/sessionRows';
import { type SideTable, writeNotes } from './sessions/sideNotes';
import { SideStore } from './sessions/sideStore';
import { readStream, type StreamedSession, StreamLog } from './streamLog';
import { later, type ReadProgress, WriteBuffer } from './writeBuffer';

const INDEX_AFTER_MS = 60_000;
/** Limits for indexing before a search; usually enough for everything new. */
const INDEX_IN_SEARCH: IndexLimits = { rows: 100, chars: 64 * 1024 };

const MAX_LAST_STEPS = 20;

export interface JournalOptions {
  readonly folder: string;
  readonly log: Log;
  readonly now: () => number;
  /** How long chunks are collected before they are appended, in ms (50). */
  readonly flushMs?: number;
  /** How long a write waits for another window's, in ms (100). Blocks the thread. */
  readonly busyMs?: number;
  /** Maximum bytes in memory while the disk cannot be used (64 MiB). */
  readonly maxMemoryBytes?: number;
  readonly isShared?: (folder: string) => boolean;
  readonly schedule?: (run: () => void, ms: number) => Disposable;
  readonly machine?: Machine;
}

export class Journal implements Disposable {
  readonly queue: QueueStore;
  readonly side: SideStore;
  readonly marks: SessionMarkStore;
  readonly questions: QuestionStore;
  readonly #options: JournalOptions;
  readonly #log: Log;
  readonly #schedule: (run: () => void, ms: number) => Disposable;
  readonly #backing: Backing;
  readonly #signal: ChangeSignal;
  readonly #didChangeElsewhere = new Emitter<void>();
  #revision = 0;
  readonly #stream: StreamLog;
  readonly #buffer: WriteBuffer;
  readonly #records = new Map<string, SessionRecord>();
  readonly #ownership: Ownership;
  #indexTimer: Disposable | undefined;
  #closed = false;

  /** Never throws: if the file can't be used, `state` says why and data stays in memory. */
  static open(options: JournalOptions): Journal {
    return new Journal(options);
  }

  private constructor(options: JournalOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#schedule = options.schedule ?? later;
    const { folder, log, now, busyMs = 100, maxMemoryBytes = 64 * 1024 * 1024 } = options;
    const refill = (sql: Sql): void => this.#restoreRecords(sql);
    const onWritten = (): void => this.#signal.touch();
    this.#backing = new Backing({ ...options, busyMs, maxMemoryBytes, schedule: this.#schedule, refill, onWritten });
    this.#signal = new ChangeSignal({
      path: pathIn(folder),
      isShared: () => this.#backing.isShared,
      schedule: this.#schedule,
      onChange: () => this.#checkRevision(),
    });
    this.#stream = new StreamLog(folder, options.machine ?? thisMachine);
    this.#ownership = new Ownership({
      schedule: this.#schedule,
      renewalMs: () => renewalMs(this.#context().machine, this.#backing.isShared),
      renew: (key, windowId) =>
        this.#quietly(() => this.#backing.write(key, (sql) => renewLease(sql, key, windowId, this.#context()))),
    });
    this.#backing.onDidChangeState(() => {
      this.#signal.watch();
      this.#ownership.restart();
    });
    this.#buffer = new WriteBuffer({
      backing: this.#backing,
      ownership: this.#ownership,
      stream: this.#stream,
      log,
      schedule: this.#schedule,
      streamMs: options.flushMs ?? 50,
      quietly: (run) => this.#quietly(run),
    });
    this.#ownership.onDidLose((key) => {
      this.#buffer.forget(key);
      this.#records.delete(key);
    });
    const port: JournalPort = {
      write: (key, change) => this.#write(key, change),
      read: (key, query) => this.#backing.read(key, query),
      note: (key, table, json) => this.#note(key, table, json),
      noted: (key, table) => this.#buffer.noted(key, table),
      now,
    };
    this.queue = new QueueStore(port);
    this.side = new SideStore(port);
    const ownerOf = (key: string): string | undefined => this.owner(key)?.windowId;
    this.marks = new SessionMarkStore(this.#backing, ownerOf);
    this.questions = new QuestionStore(this.#backing, ownerOf);
    this.#importStreams();
  }

  /** Fires after another window has written to the file, and soon after it was opened. */
  readonly onDidChangeElsewhere: Event<void> = this.#didChangeElsewhere.event;

  get state(): JournalState {
    return this.#backing.state;
  }

  get onDidChangeState(): Event<JournalState> {
    return this.#backing.onDidChangeState;
  }

  /**
   * Fires with the key of a session that another window took over because this one seemed dead,
   * before the write that detects it fails.
   */
  get onDidLoseSession(): Event<string> {
    return this.#ownership.onDidLose;
  }

  /** Tries the disk again. @returns whether everything is on disk */
  retry(): boolean {
    return this.#backing.retry();
  }

  /** Adds or updates a session. Call it before saving anything else of the session. */
  saveSession(session: NewSession): void {
    this.#buffer.flush(session.key);
    this.#backing.write(session.key, (sql) => {
      saveSession(sql, session, this.#options.now());
      this.#cacheRecord(sql, session.key);
    });
  }

  /** @throws ParleyError `journal-unknown-session`, `session-held`, `journal-full` */
  updateSession(key: string, patch: SessionPatch): void {
    // An older title in the buffer would replace the new one.
    if (patch.title !== undefined) this.#buffer.flush(key);
    this.#write(key, (sql) => {
      patchSession(sql, key, patch, this.#options.now());
      this.#cacheRecord(sql, key);
    });
  }

  session(key: string): SessionRecord | undefined {
    this.#buffer.flush(key);
    return this.#backing.read(key, (sql) => readSession(sql, key));
  }

  sessions(query: SessionQuery): readonly SessionRecord[] {
    this.flush();
    const found = this.#backing.readBoth(
      (sql) => listSessions(sql, query),
      (session) => session.key,
    );
    return [...found].sort(newestFirst).slice(0, query.limit);
  }

  /** @throws ParleyError `session-held` if another window owns it */
  deleteSession(key: string): void {
    const owner = this.owner(key);
    if (owner && owner.windowId !== this.#ownership.of(key)) throw sessionHeld();
    this.#buffer.forget(key);
    this.#backing.delete(key, (sql) => deleteSession(sql, key));
    this.#ownership.end(key);
    this.#records.delete(key);
  }

  /**
   * Appends events. Turn boundaries, prompts and permissions survive the process when this returns;
   * others after `flushMs`, a flood after a second. Other windows see them within 30 s. Never
   * throws: `state` counts lost events.
   * @param progress survives with these events
   */
  append(key: string, events: readonly TimedEvent[], progress?: ReadProgress): void {
    if (this.#closed) {
      this.#log.warn(`journal: ${events.length} events of ${key} came after its end`);
      return;
    }
    const timed = events.map((event) => (Number.isFinite(event.at) ? event : { ...event, at: this.#options.now() }));
    this.#buffer.append(key, timed, progress);
    if (events.some(({ event }) => event.type === 'turn_ended')) this.#indexSoon(INDEX_AFTER_MS);
  }

  flush(): void {
    this.#buffer.flush();
  }

  events(key: string, query: EventQuery = {}): EventPage {
    this.#buffer.flush(key);
    return readEvents(this.#backing, key, query);
  }

  readSize(key: string): number {
    this.#buffer.flush(key);
    return readSize(this.#backing, key);
  }

  tail(key: string, entries: number): ReturnType<typeof readTail> {
    this.#buffer.flush(key);
    return readTail(this.#backing, key, entries);
  }

  /**
   * Writes events and changes of a session in one transaction. `queue-` errors go to `onFailed`.
   * @throws as {@link updateSession}
   */
  together(
    key: string,
    events: readonly TimedEvent[],
    changes: readonly (() => void)[],
    onFailed: (error: ParleyError) => void,
    progress?: ReadProgress,
  ): void {
    const run = (): void => {
      for (const change of changes) {
        try {
          change();
        } catch (error) {
          if (!(error instanceof ParleyError) || !error.code.startsWith('queue-')) throw error;
          onFailed(error);
        }
      }
    };
    if (!this.#buffer.commit(key, events, run, progress)) throw sessionHeld();
  }

  /** @throws ParleyError `session-held` if another window has taken over one of our sessions */
  requireOwn(key: string): void {
    if (this.#backing.read(key, (sql) => this.#ownership.mayWrite(sql, key))) return;
    this.#ownership.lose(key);
    throw sessionHeld();
  }

  /**
   * Finds sessions in short steps, best match first; see {@link search}.
   * @throws ParleyError `journal-unreadable`, `journal-closed`
   */
  *search(text: string, limit: number): SearchSteps {
    this.flush();
    if (this.#index(INDEX_IN_SEARCH)) this.#indexSoon(this.#options.flushMs ?? 50);
    yield undefined;
    const { inMemory, others, isHeld } = this.#backing.places;
    // Memory has little data, and only briefly, so it is searched in one step.
    const first = inMemory((sql) => lastOf(search((query) => query(sql), text, limit))) ?? [];
    const whole = (found: readonly SearchResult[]): readonly SearchResult[] =>
      [...first, ...found.filter(({ session }) => !isHeld(session.key))].slice(0, limit);
    const steps = search(others, text, limit);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return whole(value);
      yield value && whole(value);
    }
  }

  /**
   * Makes a window the only writer of a session, until `release`.
   * @returns the owner if it is another live window
   * @throws ParleyError `journal-unknown-session`
   */
  claim(key: string, windowId: string): Claim {
    this.#buffer.flush(key);
    this.#importStreams(key);
    const result = this.#backing.write(key, (sql) => {
      if (!hasSession(sql, key)) throw unknownSession(key);
      this.#cacheRecord(sql, key);
      return claim(sql, key, windowId, this.#context());
    });
    if (result.kind !== 'owned') {
      this.#records.delete(key);
      return result;
    }
    this.#ownership.begin(key, windowId);
    // A dead process may have left a last message that is not indexed.
    if (!this.#buffer.hasWritten(key)) this.#quietly(() => this.#indexRest(key));
    return result;
  }

  owner(key: string): Extract<Claim, { kind: 'heldBy' }> | undefined {
    return this.#backing.read(key, (sql) => ownerOf(sql, key, this.#context()));
  }

  abandoned(): readonly SessionRecord[] {
    this.flush();
    const found = this.#backing.readBoth(
      (sql) => abandoned(sql, this.#context()).flatMap((key) => readSession(sql, key) ?? []),
      (session) => session.key,
    );
    return [...found].sort(newestFirst);
  }

  heartbeat(): readonly string[] {
    return this.#ownership.renewAll();
  }

  release(key: string, windowId: string): void {
    this.#buffer.flush(key);
    this.#backing.write(key, (sql) => release(sql, key, windowId));
    this.#ownership.end(key);
    this.#records.delete(key);
    this.#buffer.release(key);
  }

  /**
   * Deletes old sessions one at a time, so that other work can run.
   * @throws the reason of the signal
   */
  async prune(options: PruneOptions, signal: AbortSignal): Promise<Pruned> {
    this.flush();
    const file = (): Sql | undefined => (this.#closed ? undefined : this.#backing.file);
    const context = (): LeaseContext => this.#context();
    const pruned = await prune({ file, context, quietly: (run) => this.#quietly(run) }, options, signal);
    if (pruned.keys.length > 0) this.#signal.touch();
    return pruned;
  }

  dispose(): void {
    if (this.#closed) return;
    this.flush();
    for (const [key, windowId] of this.#ownership.all) {
      for (let step = 0; step < MAX_LAST_STEPS && this.#quietly(() => this.#indexRest(key)); step++);
      this.#quietly(() => this.#backing.write(key, (sql) => release(sql, key, windowId)));
    }
    this.#closed = true;
    this.#signal.dispose();
    this.#didChangeElsewhere.dispose();
    this.#buffer.dispose();
    this.#indexTimer?.dispose();
    this.#backing.dispose();
    if (this.#backing.state.kind === 'durable') this.#quietly(() => this.#stream.clear());
    this.#quietly(() => this.#stream.dispose());
    this.#ownership.dispose();
  }

  #write<T>(key: string, change: (sql: Sql) => T): T {
    if (this.#backing.isInside) return this.#backing.write(key, change);
    this.#buffer.settle(key);
    try {
      return this.#backing.write(
        key,
        (sql) => {
          if (!hasSession(sql, key)) throw unknownSession(key);
          if (!this.#ownership.mayWrite(sql, key)) throw sessionHeld();
          return change(sql);
        },
        true,
      );
    } catch (error) {
      if (isSessionHeld(error)) this.#ownership.lose(key);
      throw error;
    }
  }

  #note(key: string, table: SideTable, json: string): void {
    const isDirect = this.#backing.isInside || this.#backing.state.kind === 'memory';
    if (!isDirect) {
      this.requireOwn(key);
      if (this.#buffer.note(key, table, json)) return;
    }
    this.#write(key, (sql) => writeNotes(sql, key, new Map([[table, json]])));
  }

  #importStreams(only?: string): void {
    const { machine } = this.#context();
    for (const { path, pid, started } of this.#stream.others()) {
      this.#quietly(() => {
        const isGone = !machine.isAlive(pid) || (machine.startOf(pid) ?? '') !== started;
        let isNeeded = !isGone;
        for (const session of readStream(path)) {
          const isTaken = (only === undefined ? isGone : only === session.key) && this.#importSession(session);
          isNeeded ||= !isTaken;
        }
        if (!isNeeded) rmSync(path, { force: true });
      });
    }
  }

  #importSession({ key, written, rows, notes }: StreamedSession): boolean {
    if (this.#backing.state.kind === 'memory') return false;
    const buffer = new EventBuffer();
    buffer.add(key, rows);
    return this.#backing.write(key, (sql) => {
      const owner = ownerOf(sql, key, this.#context());
      if (owner && owner.windowId !== this.#ownership.of(key)) return false;
      const writtenBefore = numberOf(sql.get('SELECT written FROM sessions WHERE key = ?', key)?.written);
      // The session was deleted, or a newer file has replaced this one.
      if (writtenBefore === undefined || writtenBefore > written) return true;
      this.#log.info(`journal: ${rows.length} rows of ${key} were taken over from a process that is gone`);
      appendRows(sql, key, buffer.take().get(key) ?? []);
      writeNotes(sql, key, notes);
      sql.run('UPDATE sessions SET written = max(written, ?) WHERE key = ?', written + 1, key);
      return true;
    });
  }

  #checkRevision(): void {
    const revision = this.#quietly(() => this.#backing.file?.pragma('data_version')) ?? 0;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#didChangeElsewhere.fire();
  }

  /**
   * Deletes events before `cleared` once a later turn has ended, as the agent may die during the
   * replay.
   * @returns whether there are more
   */
  #dropCleared(): boolean {
    let hasMore = false;
    for (const [key, rows] of this.#buffer.replayed()) {
      rows.hasCleared = this.#quietly(() => this.#write(key, (sql) => dropCleared(sql, key))) === true;
      hasMore ||= rows.hasCleared;
    }
    return hasMore;
  }

  #indexSoon(afterMs: number): void {
    this.#indexTimer?.dispose();
    this.#indexTimer = this.#schedule(() => {
      this.#indexTimer = undefined;
      const hasMore = this.#dropCleared();
      if (this.#index(INDEX_STEP) || hasMore) this.#indexSoon(this.#options.flushMs ?? 50);
    }, afterMs);
  }

  #index(limits: IndexLimits): boolean {
    const sql = this.#backing.file;
    return this.#quietly(() => sql && indexNew(sql, limits)) === true;
  }

  #indexRest(key: string): boolean {
    const sql = this.#backing.file;
    return sql !== undefined && indexRest(sql, key, INDEX_STEP);
  }

  #cacheRecord(sql: Sql, key: string): void {
    const session = readSession(sql, key);
    if (session) this.#records.set(key, session);
  }

  #restoreRecords(sql: Sql): void {
    for (const [key, session] of this.#records) {
      if (hasSession(sql, key)) continue;
      saveSession(sql, session, session.createdAt);
      const windowId = this.#ownership.of(key);
      if (windowId !== undefined) claim(sql, key, windowId, this.#context());
    }
  }

  #quietly<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.#log.warn(`journal: ${problemOf(error) ?? 'failed'}: ${messageOf(error)}`);
      return undefined;
    }
  }

  #context(): LeaseContext {
    return {
      now: this.#options.now(),
      machine: this.#options.machine ?? thisMachine,
      owns: (key, windowId) => this.#ownership.of(key) === windowId,
    };
  }
}
