// What lasts: sessions with their events, turns, queue, drafts and decisions, in one SQLite file that all windows share. The client applies an event and appends
// it here; what must not be lost (a queued message, a draft, a decision, the ends of turns) is on the disk when the call returns.
import type { Disposable } from '../base/disposable';
import { toDisposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import type { Event } from '../base/event';
import type { Log } from '../base/log';
import type { SessionEvent, TimedEvent } from '../session/event';
import { Backing, type JournalState } from './backing';
import { EventBuffer, type PendingRow } from './eventBuffer';
import { type EventQuery, readEvents } from './eventPages';
import { appendRows, dropCleared, type EventPage, type Tail } from './eventRows';
import { beat, type Claim, claim, type LeaseContext, ownerOf, release } from './leases';
import { type Machine, thisMachine } from './machine';
import { Ownership } from './ownership';
import type { JournalPort } from './port';
import { QueueStore } from './queueStore';
import type { NewSession, SessionPatch, SessionRecord, TurnRecord } from './records';
import { type Pruned, type PruneOptions, prune } from './retention';
import { type SearchResult, search } from './search';
import { indexBacklog, indexSession } from './searchText';
import {
  deleteSession,
  hasSession,
  listSessions,
  newestFirst,
  patchSession,
  readSession,
  type SessionQuery,
  saveSession,
} from './sessionRows';
import { SideStore } from './sideStore';
import type { Sql } from './sql';
import { problemOf } from './sqlError';
import { readTurns } from './turnRows';

/** Rows that wait at most; more are written at once. */
const MAX_WAITING = 500;
/** Events that others act on: they do not wait for the timer. */
const AT_ONCE: ReadonlySet<SessionEvent['type']> = new Set([
  'prompt_sent',
  'turn_started',
  'turn_ended',
  'turn_reason',
  'cancel_requested',
  'permission_asked',
  'permission_closed',
  'elicitation_asked',
  'elicitation_closed',
  'cleared',
]);

export interface JournalOptions {
  /** Folder of the extension's global storage; made where it is missing. */
  readonly folder: string;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long chunks wait to be written together, in milliseconds (50). */
  readonly flushMs?: number;
  /** How long a write waits for another window's, in milliseconds (2,000). */
  readonly busyMs?: number;
  /** What is kept in memory while the disk cannot be used, in bytes (64 MiB). */
  readonly maxMemoryBytes?: number;
  /** Timers, so that tests can hold them. */
  readonly schedule?: (run: () => void, ms: number) => Disposable;
  /** Which process this is, so that tests can be another one. */
  readonly machine?: Machine;
}

export class Journal implements Disposable {
  readonly queue: QueueStore;
  /** Drafts, scroll positions, decisions. */
  readonly side: SideStore;
  readonly #options: JournalOptions;
  readonly #log: Log;
  readonly #schedule: (run: () => void, ms: number) => Disposable;
  readonly #backing: Backing;
  readonly #buffer = new EventBuffer();
  readonly #tails = new Map<string, Tail>();
  /** Sessions that this process began or owns. */
  readonly #live = new Map<string, SessionRecord>();
  readonly #ownership: Ownership;
  #flushTimer: Disposable | undefined;
  #indexTimer: Disposable | undefined;
  #closed = false;

  /** Opens the journal, or begins one. Never throws: where the file cannot be used, `state` says why and everything is kept in memory until it can. */
  static open(options: JournalOptions): Journal {
    return new Journal(options);
  }

  private constructor(options: JournalOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#schedule = options.schedule ?? later;
    const { folder, log, now, busyMs = 2000, maxMemoryBytes = 64 * 1024 * 1024 } = options;
    const refill = (sql: Sql): void => this.#refill(sql);
    this.#backing = new Backing({ folder, log, now, busyMs, maxMemoryBytes, schedule: this.#schedule, refill });
    // Rows that could grow may be elsewhere now.
    this.#backing.onDidChangeState(() => this.#tails.clear());
    this.#ownership = new Ownership({
      schedule: this.#schedule,
      beat: (key, windowId) =>
        this.#quietly(() => this.#backing.write(key, (sql) => beat(sql, key, windowId, this.#context()))),
    });
    this.#ownership.onDidLose((key) => {
      this.#buffer.forget(key);
      this.#live.delete(key);
      this.#tails.delete(key);
    });
    const port: JournalPort = {
      write: (key, change) => this.#write(key, change),
      read: (key, query) => this.#backing.read(key, query),
      now,
    };
    this.queue = new QueueStore(port);
    this.side = new SideStore(port);
  }

  /** Where things are kept now, with the words for the user. */
  get state(): JournalState {
    return this.#backing.state;
  }

  get onDidChangeState(): Event<JournalState> {
    return this.#backing.onDidChangeState;
  }

  /** A session of ours was taken over by another window, which thought us gone. Nothing more of it is written here until it is claimed again; told before the write that showed it fails. */
  get onDidLoseSession(): Event<string> {
    return this.#ownership.onDidLose;
  }

  /** Tries the disk again now, after the user made room. @returns whether everything is on the disk */
  retry(): boolean {
    return this.#backing.retry();
  }

  /** Adds a session or renews what is known of it. It must be known before anything else of it is kept. */
  saveSession(session: NewSession): void {
    this.flush();
    this.#backing.write(session.key, (sql) => {
      saveSession(sql, session, this.#options.now());
      this.#remember(sql, session.key);
    });
  }

  /** Changes what is known of a session. @throws ParleyError `journal-unknown-session`, `session-held`, `journal-full` */
  updateSession(key: string, patch: SessionPatch): void {
    this.#write(key, (sql) => {
      patchSession(sql, key, patch, this.#options.now());
      this.#remember(sql, key);
    });
  }

  session(key: string): SessionRecord | undefined {
    this.flush();
    return this.#backing.read(key, (sql) => readSession(sql, key));
  }

  /** A page of the history, newest first. */
  sessions(query: SessionQuery): readonly SessionRecord[] {
    this.flush();
    const found = this.#backing.readBoth(
      (sql) => listSessions(sql, query),
      (session) => session.key,
    );
    return [...found].sort(newestFirst).slice(0, query.limit);
  }

  /** Removes a session with everything that belongs to it. @throws ParleyError `session-held` where another window owns it */
  deleteSession(key: string): void {
    this.#buffer.forget(key);
    const owner = this.owner(key);
    if (owner && owner.windowId !== this.#ownership.of(key)) throw held();
    this.#backing.delete(key, (sql) => deleteSession(sql, key));
    this.#ownership.end(key);
    this.#live.delete(key);
    this.#tails.delete(key);
  }

  /**
   * Keeps events of a session, in their order. Turn boundaries, prompts and permissions are written before the call returns, together with all that waits; the
   * rest follows within `flushMs`. Never throws: what can be kept nowhere is counted, and the state tells.
   */
  append(key: string, events: readonly TimedEvent[]): void {
    if (this.#closed) {
      this.#log.warn(`journal: ${events.length} events of ${key} came after its end`);
      return;
    }
    this.#buffer.add(
      key,
      events.map(({ at, event }) => ({ at: Number.isFinite(at) ? at : this.#options.now(), event })),
    );
    if (this.#buffer.count > MAX_WAITING || events.some(({ event }) => AT_ONCE.has(event.type))) this.flush();
    else this.#flushTimer ??= this.#schedule(() => this.flush(), this.#options.flushMs ?? 50);
    if (events.some(({ event }) => event.type === 'turn_ended')) this.#indexSoon();
  }

  /** Writes what waits. */
  flush(): void {
    this.#flushTimer?.dispose();
    this.#flushTimer = undefined;
    for (const [key, rows] of this.#buffer.take()) this.#writeRows(key, rows);
  }

  /** Events of a session; see {@link readEvents} for what a last page is. */
  events(key: string, query: EventQuery = {}): EventPage {
    this.flush();
    return readEvents(this.#backing, key, query);
  }

  turns(key: string): readonly TurnRecord[] {
    this.flush();
    return this.#backing.read(key, (sql) => readTurns(sql, key));
  }

  /**
   * Forgets what lies before the last `cleared` of a session: call it when the agent has replayed the session to its end. Until then the earlier transcript is
   * kept, as the agent may die in the middle of the replay. What a `cleared` does not wipe (commands, modes, settings, title, usage) stays.
   */
  dropCleared(key: string): void {
    this.#write(key, (sql) => dropCleared(sql, key));
  }

  /** Sessions in which all words of a text were said, best first. Anything may be typed; see {@link search}. */
  search(text: string, limit: number): readonly SearchResult[] {
    this.flush();
    this.#index(false);
    const found = this.#backing.readBoth(
      (sql) => search(sql, text, limit),
      (result) => result.session.key,
    );
    return found.slice(0, limit);
  }

  /**
   * Makes a window the owner of a session, so that it alone writes to it. Ownership is kept up by a timer until `release` or the end of the journal.
   * @returns who owns it where another window does and lives
   * @throws ParleyError `journal-unknown-session`
   */
  claim(key: string, windowId: string): Claim {
    this.flush();
    const result = this.#backing.write(key, (sql) => {
      if (!hasSession(sql, key)) throw unknown(key);
      this.#remember(sql, key);
      return claim(sql, key, windowId, this.#context());
    });
    if (result.kind !== 'owned') {
      this.#live.delete(key);
      return result;
    }
    this.#ownership.begin(key, windowId);
    // A process that died may have left a last message that is in no index.
    if (!this.#tails.has(key)) this.#quietly(() => this.#backing.file && indexSession(this.#backing.file, key, true));
    return result;
  }

  /** The window that owns a session and lives. */
  owner(key: string): Extract<Claim, { kind: 'heldBy' }> | undefined {
    return this.#backing.read(key, (sql) => ownerOf(sql, key, this.#context()));
  }

  /** Tells the other windows that this one lives; the journal's own timer does so too. @returns keys of sessions that were taken over */
  heartbeat(): readonly string[] {
    return this.#ownership.beat();
  }

  release(key: string, windowId: string): void {
    this.flush();
    this.#backing.write(key, (sql) => release(sql, key, windowId));
    this.#ownership.end(key);
    this.#live.delete(key);
    this.#tails.delete(key);
  }

  /**
   * Forgets old sessions and gives their room back, one session at a time, so that nothing else waits for long. Does nothing while the disk cannot be used.
   * @throws the reason of the signal
   */
  prune(options: PruneOptions, signal: AbortSignal): Promise<Pruned> {
    this.flush();
    const file = (): Sql | undefined => (this.#closed ? undefined : this.#backing.file);
    return prune({ file, context: () => this.#context(), quietly: (run) => this.#quietly(run) }, options, signal);
  }

  /** Writes everything and lets go of all sessions. */
  dispose(): void {
    if (this.#closed) return;
    this.flush();
    this.#tails.clear();
    this.#index(false);
    for (const [key, windowId] of this.#ownership.all) {
      this.#quietly(() => this.#backing.file && indexSession(this.#backing.file, key, true));
      this.#quietly(() => this.#backing.write(key, (sql) => release(sql, key, windowId)));
    }
    this.#closed = true;
    for (const timer of [this.#flushTimer, this.#indexTimer]) timer?.dispose();
    this.#backing.dispose();
    this.#ownership.dispose();
  }

  #write<T>(key: string, change: (sql: Sql) => T): T {
    this.flush();
    try {
      return this.#backing.write(key, (sql) => {
        if (!hasSession(sql, key)) throw unknown(key);
        if (!this.#ownership.mayWrite(sql, key)) throw held();
        return change(sql);
      });
    } catch (error) {
      if (isHeld(error)) this.#ownership.lose(key);
      throw error;
    }
  }

  #writeRows(key: string, rows: readonly PendingRow[]): void {
    try {
      const tail = this.#backing.write(key, (sql) => {
        if (!this.#ownership.mayWrite(sql, key)) throw held();
        return appendRows(sql, key, rows, this.#tails.get(key));
      });
      if (tail) this.#tails.set(key, tail);
      else this.#log.warn(`journal: ${rows.length} events of ${key}, which is no session`);
    } catch (error) {
      if (isHeld(error)) this.#ownership.lose(key);
      else {
        this.#log.error(`journal: ${rows.length} events of ${key} were not kept: ${messageOf(error)}`);
        this.#backing.noteLost(key, rows.length);
      }
    }
  }

  #indexSoon(): void {
    this.#indexTimer ??= this.#schedule(() => {
      this.#indexTimer = undefined;
      if (this.#index(false)) this.#indexSoon();
    }, this.#options.flushMs ?? 50);
  }

  #index(final: boolean): boolean {
    const sql = this.#backing.file;
    return sql !== undefined && this.#quietly(() => indexBacklog(sql, final)) === true;
  }

  #remember(sql: Sql, key: string): void {
    const session = readSession(sql, key);
    if (session) this.#live.set(key, session);
  }

  #refill(sql: Sql): void {
    for (const [key, session] of this.#live) {
      if (hasSession(sql, key)) continue;
      saveSession(sql, session, session.createdAt);
      const windowId = this.#ownership.of(key);
      if (windowId !== undefined) claim(sql, key, windowId, this.#context());
    }
  }

  /** Runs what may fail without harm; the log tells. */
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

function unknown(key: string): ParleyError {
  return new ParleyError('journal-unknown-session', `The journal knows no session ${key}.`);
}

function held(): ParleyError {
  return new ParleyError('session-held', 'Another window has this session.', { hint: 'Go on with it there.' });
}

function isHeld(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'session-held';
}

function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return toDisposable(() => clearTimeout(timer));
}
