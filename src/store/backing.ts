// The journal's data: in its file or, while that cannot be used, in memory. Handles all storage
// failures.

import type { Disposable } from '../base/disposable';
import { ParleyError } from '../base/errors';
import { Emitter, type Event } from '../base/event';
import { localizable, localize } from '../base/localizable';
import type { Log } from '../base/log';
import { type FileOptions, isInPlace, type OpenedFile, openJournalFile, replaceJournalFile } from './file/journalFile';
import { MIGRATIONS } from './file/schema';
import type { Sql } from './file/sql';
import { isIndexDamage, messageFor, problemOf, StorageError, type StorageProblem } from './file/sqlError';
import { MemoryJournal } from './memoryJournal';

const LAST_WAIT_MS = 1_000;
const RETRY_MS = [100, 400, 1000, 2000, 5000, 15_000, 30_000] as const;

export type JournalState =
  | {
      readonly kind: 'durable';
      /** For the user: a damaged file was set aside, or the disk is writable again. */
      readonly notice?: string;
      readonly isBack?: true;
    }
  | {
      readonly kind: 'memory';
      readonly problem: StorageProblem;
      readonly message: string;
      readonly hint: string;
      readonly lossy: boolean;
    };

export interface BackingOptions extends FileOptions {
  readonly maxMemoryBytes: number;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly refill: (sql: Sql) => void;
  readonly onWritten: () => void;
}

export class Backing implements Disposable {
  readonly #options: BackingOptions;
  readonly #log: Log;
  readonly #didChangeState = new Emitter<JournalState>();
  #file: OpenedFile | undefined;
  #memory: MemoryJournal | undefined;
  state: JournalState = { kind: 'durable' };
  #retryTimer: Disposable | undefined;
  #attempts = 0;
  #closed = false;
  #activeTransaction: Sql | undefined;

  constructor(options: BackingOptions) {
    this.#options = options;
    this.#log = options.log;
    try {
      this.#file = openJournalFile(options);
      if (this.#file.notice !== undefined) this.state = { kind: 'durable', notice: this.#file.notice };
    } catch (error) {
      this.#degrade(error);
    }
  }

  readonly onDidChangeState: Event<JournalState> = this.#didChangeState.event;

  get file(): Sql | undefined {
    return this.#memory ? undefined : this.#file?.sql;
  }

  get isShared(): boolean {
    return this.#file?.isShared === true;
  }

  /**
   * Runs a change in a transaction, which nested calls join; again in memory if the file fails.
   * @param isDurable survives a power failure
   * @throws ParleyError `journal-full`, `journal-closed`; what the change throws
   */
  write<T>(keys: string | readonly string[], change: (sql: Sql) => T, isDurable = false): T {
    this.#requireOpen();
    if (this.#activeTransaction) return change(this.#activeTransaction);
    if (this.#file && !this.#memory && !isInPlace(this.#options.folder, this.#file.identity)) this.#reopenFile();
    for (let attempt = 0; attempt < 2 && !this.#memory && this.#file; attempt++) {
      try {
        const result = this.#change(this.#file.sql, change, isDurable);
        this.#options.onWritten();
        return result;
      } catch (error) {
        this.#recover(error);
      }
    }
    const memory = this.#memory ?? this.#degrade(new Error('the journal broke twice'));
    try {
      for (const key of typeof keys === 'string' ? [keys] : keys)
        memory.adopt(key, this.#file?.sql, this.#options.refill);
      return this.#change(memory.sql, change);
    } catch (error) {
      if (problemOf(error) === undefined) throw error;
      const { message } = messageFor('full');
      throw new ParleyError('journal-full', localizable('There is no room for this on disk or in memory.'), {
        hint: message,
        cause: error,
      });
    }
  }

  #change<T>(sql: Sql, change: (sql: Sql) => T, isDurable = false): T {
    this.#activeTransaction = sql;
    try {
      return sql.transaction(() => change(sql), isDurable);
    } finally {
      this.#activeTransaction = undefined;
    }
  }

  get isInside(): boolean {
    return this.#activeTransaction !== undefined;
  }

  get isBusy(): boolean {
    const sql = this.file;
    if (!sql) return false;
    try {
      this.#setWait(0);
      sql.transaction(() => undefined);
      return false;
    } catch (error) {
      return problemOf(error) === 'locked';
    } finally {
      this.#setWait(this.#options.busyMs);
    }
  }

  /**
   * Reads from the place with the latest state of a session.
   * @throws ParleyError `journal-unreadable`, `journal-closed`
   */
  read<T>(key: string, query: (sql: Sql) => T): T {
    this.#requireOpen();
    if (this.#activeTransaction) return query(this.#activeTransaction);
    if (this.#memory && (this.#memory.holds(key) || !this.#file)) return query(this.#memory.sql);
    return this.#readFile(query);
  }

  readAll<T>(key: string, query: (sql: Sql, to: number) => T): readonly T[] {
    const memory = this.#memory;
    if (!memory?.holds(key)) return [this.read(key, (sql) => query(sql, Number.MAX_SAFE_INTEGER))];
    const base = memory.baseOf(key);
    const inMemory = query(memory.sql, Number.MAX_SAFE_INTEGER);
    return base === 0 ? [inMemory] : [this.#readFile((sql) => query(sql, base)), inMemory];
  }

  readBoth<T>(query: (sql: Sql) => readonly T[], keyOf: (value: T) => string): readonly T[] {
    this.#requireOpen();
    if (!this.#memory) return this.#readFile(query);
    const memoryKeys = new Set(this.#memory.keys);
    const inMemory = query(this.#memory.sql);
    if (!this.#file) return inMemory;
    return [...inMemory, ...this.#readFile(query).filter((value) => !memoryKeys.has(keyOf(value)))];
  }

  /** The places to read all sessions from. Queries throw as {@link read}. */
  get places(): {
    /** Returns undefined if memory has nothing beside the file. */
    readonly inMemory: <T>(query: (sql: Sql) => T) => T | undefined;
    readonly others: <T>(query: (sql: Sql) => T) => T;
    readonly isHeld: (key: string) => boolean;
  } {
    return {
      inMemory: (query) => (this.#memory && this.#file ? query(this.#memory.sql) : undefined),
      others: (query) => {
        this.#requireOpen();
        return this.#readFile(query);
      },
      isHeld: (key) => this.#file !== undefined && this.#memory?.holds(key) === true,
    };
  }

  delete(key: string, change: (sql: Sql) => void): void {
    this.write(key, change);
    this.#memory?.delete(key);
  }

  noteLost(key: string, count: number): void {
    this.#memory?.noteLost(key, count);
    if (this.state.kind === 'memory' && !this.state.lossy) this.#setState({ ...this.state, lossy: true });
  }

  retry(waitMs = 0): boolean {
    if (!this.#memory) return true;
    if (this.#closed || (this.state.kind === 'memory' && this.state.problem === 'newer')) return false;
    this.#retryTimer?.dispose();
    try {
      this.#file ??= openJournalFile({ ...this.#options, busyMs: waitMs });
      this.#setWait(waitMs);
      this.#memory.mergeInto(this.#file.sql, this.#options.now());
      this.#setWait(this.#options.busyMs);
    } catch (error) {
      this.#failRetry(error);
      return false;
    }
    this.#memory.close();
    this.#memory = undefined;
    this.#options.onWritten();
    this.#attempts = 0;
    const isBack = this.#file.notice === undefined;
    const notice =
      this.#file.notice ??
      localize(localizable('Sessions are saved again. The changes kept in memory are on disk now.'));
    this.#setState({ kind: 'durable', notice, isBack: isBack || undefined });
    return true;
  }

  dispose(): void {
    if (this.#closed) return;
    // Events that are only in memory are lost after this.
    this.retry(LAST_WAIT_MS);
    this.#closed = true;
    this.#retryTimer?.dispose();
    this.#memory?.close();
    this.#closeFile();
    this.#didChangeState.dispose();
  }

  #requireOpen(): void {
    if (this.#closed) throw new ParleyError('journal-closed', localizable('The journal is closed.'));
  }

  #readFile<T>(query: (sql: Sql) => T): T {
    for (let attempt = 0; this.#file; attempt++) {
      const { sql } = this.#file;
      try {
        return query(sql);
      } catch (error) {
        const problem = problemOf(error);
        if (problem === undefined) throw error;
        if (problem !== 'corrupt' || attempt > 0 || this.#memory) throw unreadable(error);
        this.#recover(error);
      }
    }
    if (!this.#memory) throw unreadable(undefined);
    return query(this.#memory.sql);
  }

  /**
   * Switches to an intact file, or to memory.
   * @throws errors other than storage errors
   */
  #recover(error: unknown): void {
    const problem = problemOf(error) ?? (this.#isNewer() ? 'newer' : undefined);
    if (problem === undefined) throw error;
    if (problem !== 'corrupt') {
      this.#degrade(problem === 'newer' ? new StorageError('newer', error) : error);
      return;
    }
    const { identity, sql } = this.#file ?? {};
    try {
      if (isIndexDamage(error) && sql) {
        this.#log.warn('journal: the search index is damaged; rebuilding it');
        sql.exec("INSERT INTO texts_fts (texts_fts) VALUES ('rebuild')");
        return;
      }
    } catch (cause) {
      this.#log.warn(`journal: the search index could not be built: ${String(cause)}`);
    }
    this.#closeFile();
    try {
      this.#useFile(replaceJournalFile(this.#options, identity));
    } catch (cause) {
      this.#degrade(cause);
    }
  }

  /** A newer version may have migrated the open file, so that a statement no longer works. */
  #isNewer(): boolean {
    try {
      return (this.#file?.sql.pragma('user_version') ?? 0) > MIGRATIONS.length;
    } catch {
      return false;
    }
  }

  #reopenFile(): void {
    this.#log.warn('journal: the file was moved, replaced or deleted');
    this.#closeFile();
    try {
      this.#useFile(openJournalFile(this.#options));
    } catch (error) {
      this.#degrade(error);
    }
  }

  #useFile(file: OpenedFile): void {
    this.#file = file;
    file.sql.transaction(() => this.#options.refill(file.sql));
    this.#setState({
      kind: 'durable',
      notice:
        file.notice ??
        localize(localizable('The session history file was replaced. Sessions continue in the new file.')),
    });
  }

  #degrade(error: unknown): MemoryJournal {
    const problem = problemOf(error) ?? 'unusable';
    this.#log.error(`journal: ${problem}: ${describe(error)}`);
    const memory = new MemoryJournal(this.#options.maxMemoryBytes);
    this.#memory = memory;
    // Do not wait again for the program that locks the file.
    this.#setWait(0);
    this.#setState({ kind: 'memory', problem, ...messageFor(problem), lossy: false });
    this.#scheduleRetry();
    return memory;
  }

  #failRetry(error: unknown): void {
    const problem = problemOf(error) ?? 'unusable';
    this.#log.warn(`journal: still ${problem}: ${describe(error)}`);
    if (problem === 'corrupt') {
      const identity = this.#file?.identity;
      this.#closeFile();
      try {
        this.#file = replaceJournalFile(this.#options, identity);
      } catch (cause) {
        this.#log.error(`journal: ${describe(cause)}`);
      }
    }
    if (this.state.kind === 'memory' && this.state.problem !== problem) {
      this.#setState({ ...this.state, problem, ...messageFor(problem) });
    }
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    if (this.#closed || (this.state.kind === 'memory' && this.state.problem === 'newer')) return;
    const wait = RETRY_MS[Math.min(this.#attempts++, RETRY_MS.length - 1)] ?? 30_000;
    this.#retryTimer = this.#options.schedule(() => this.retry(), wait);
  }

  #setWait(ms: number): void {
    try {
      this.#file?.sql.exec(`PRAGMA busy_timeout = ${ms}`);
    } catch (error) {
      this.#log.warn(`journal: ${describe(error)}`);
    }
  }

  #closeFile(): void {
    try {
      this.#file?.sql.close();
    } catch (error) {
      this.#log.warn(`journal: closing: ${describe(error)}`);
    }
    this.#file = undefined;
  }

  #setState(state: JournalState): void {
    this.state = state;
    this.#didChangeState.fire(state);
  }
}

function unreadable(cause: unknown): ParleyError {
  return new ParleyError('journal-unreadable', localizable("The session history can't be read right now."), {
    hint: localizable('Try again. The log has the reason.'),
    cause,
  });
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `, ${String(error.cause)}` : '';
  return String(error) + cause;
}
