// Buffers events and values: appends them to the stream file after a moment, and writes them to the
// journal in bulk.
import { type Disposable, toDisposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { SessionEvent, TimedEvent } from '../session/events/event';
import type { Backing } from './backing';
import { EventBuffer } from './events/eventBuffer';
import { appendRows, WrittenRows } from './events/eventRows';
import { numberOf } from './file/sql';
import { unknownSession } from './sessions/journalPort';
import type { Ownership } from './sessions/ownership';
import { hasSession } from './sessions/sessionRows';
import { SideNotes, type SideTable, writeNotes } from './sessions/sideNotes';
import type { StreamLog } from './streamLog';

/** Characters of one session that trigger a bulk write. */
const BULK_CHARS = 256 * 1024;
/** Bytes of the stream file that trigger one. */
const MAX_STREAM_FILE_BYTES = 1024 * 1024;
/** Characters per step of a bulk write, which then takes a few milliseconds. */
const STEP_CHARS = 128 * 1024;
/** Added for each session to the size of a step. */
const SESSION_CHARS = 4096;
const MAX_WAITING_CHARS = 4 * 1024 * 1024;
/** More is a flood, which is written coalesced once a second. */
const MAX_STREAMED_CHARS = 64 * 1024;
/** The same at a turn's boundary: a bulk write would delay showing it. */
const MAX_STREAMED_AT_ONCE_CHARS = 1024 * 1024;
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

/** Messages and decisions of the user: they must survive a power failure too. */
const OF_USER: ReadonlySet<SessionEvent['type']> = new Set(['prompt_sent', 'permission_closed', 'elicitation_closed']);

/** How far the lines of an agent were read, together with the resulting events. */
export interface ReadProgress {
  readonly json: string;
  readonly stored: () => void;
}

export interface WriteBufferOptions {
  readonly backing: Backing;
  readonly ownership: Ownership;
  readonly stream: StreamLog;
  readonly log: Log;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly streamMs: number;
  /** Runs something whose failure is harmless; logs the error and then returns undefined. */
  readonly quietly: <T>(run: () => T) => T | undefined;
}

export class WriteBuffer implements Disposable {
  readonly #options: WriteBufferOptions;
  readonly #buffer = new EventBuffer();
  readonly #unstreamed = new EventBuffer();
  readonly #notes = new SideNotes();
  readonly #written = new Map<string, WrittenRows>();
  readonly #progress = new Map<string, ReadProgress>();
  readonly #inMemory = new Map<string, ReadProgress>();
  /** The stream files must be restarted before the next append. */
  #isStreamOutdated = false;
  #streamTimer: Disposable | undefined;
  #bulkTimer: Disposable | undefined;
  #restTimer: Disposable | undefined;
  #isBulkSoon = false;
  /** Sessions that the bulk write has not reached yet. */
  #pendingKeys: readonly string[] = [];
  #lastBulk = Number.NEGATIVE_INFINITY;
  #busyTimes = 0;

  constructor(options: WriteBufferOptions) {
    this.#options = options;
    // The last rows, which can be extended, may have moved.
    options.backing.onDidChangeState(({ kind }) => {
      this.#written.clear();
      if (kind !== 'durable') return;
      this.#isStreamOutdated = true;
      notifyStored(this.#inMemory);
    });
  }

  /** Adds events of a session; essential ones survive the process when it returns. */
  append(key: string, events: readonly TimedEvent[], progress?: ReadProgress): void {
    this.#noteProgress(key, progress);
    this.#buffer.add(key, events);
    this.#unstreamed.add(key, events);
    if (this.#buffer.chars > MAX_WAITING_CHARS) this.flush();
    else if (!events.some(({ event }) => AT_ONCE.has(event.type))) this.#streamLater();
    else if (this.#isOurs(key) && this.#streamNow(MAX_STREAMED_AT_ONCE_CHARS, events.some(isOfUser)))
      this.#bulkAtRest();
    else this.flush(key);
  }

  /** Writes the buffered events of a session; default: of all, in one transaction. */
  flush(key?: string): void {
    this.#writeRows(key === undefined ? this.#keys : [key]);
  }

  /** Makes events before a change of a session survive the process, as the change does. */
  settle(key: string): void {
    if (this.#notes.has(key) || !this.#streamNow()) this.flush(key);
  }

  /**
   * Writes the buffered events of a session and a change in one transaction.
   * @returns whether this process may write to the session
   * @throws what `change` throws
   */
  commit(key: string, events: readonly TimedEvent[], change: () => void, progress?: ReadProgress): boolean {
    this.#noteProgress(key, progress);
    this.#buffer.add(key, events);
    return this.#writeRows([key], change);
  }

  /**
   * Returns false if it must be written to its table instead.
   * @throws ParleyError `journal-unknown-session`
   */
  note(key: string, table: SideTable, json: string): boolean {
    const { backing, stream, quietly } = this.#options;
    if (!backing.read(key, (sql) => hasSession(sql, key))) throw unknownSession(key);
    if (this.#isStreamOutdated) this.#renewStream();
    const isNoted = quietly(() => {
      // Earlier events are saved before it.
      if (this.#unstreamed.chars <= MAX_STREAMED_CHARS) this.#streamNow();
      stream.note(key, table, json, (one) => this.#writeCountOf(one));
      return true;
    });
    if (!isNoted) {
      this.#isStreamOutdated = true;
      return false;
    }
    this.#notes.set(key, table, json);
    if (stream.size > MAX_STREAM_FILE_BYTES) this.#bulkSoon();
    else this.#bulkLater();
    return true;
  }

  noted(key: string, table: SideTable): string | undefined {
    return this.#notes.get(key, table);
  }

  hasWritten(key: string): boolean {
    return this.#written.has(key);
  }

  replayed(): readonly (readonly [key: string, rows: WrittenRows])[] {
    return [...this.#written].filter(([, rows]) => rows.hasCleared && rows.tail?.row.event.type === 'turn_ended');
  }

  /** Forgets which rows of a session were written last, as others can write to it from now on. */
  release(key: string): void {
    this.#written.delete(key);
  }

  forget(key: string): void {
    this.#notes.forget(key);
    this.#buffer.forget(key);
    this.#unstreamed.forget(key);
    this.#progress.delete(key);
    this.#inMemory.delete(key);
    this.#written.delete(key);
  }

  dispose(): void {
    this.#written.clear();
    this.#endTimers();
  }

  #streamNow(most = MAX_STREAMED_CHARS, isDurable = false): boolean {
    const { backing, stream } = this.#options;
    if (this.#isStreamOutdated) this.#renewStream();
    if (this.#unstreamed.isEmpty) return true;
    const isFlood = this.#unstreamed.chars > most;
    const isStreamed = !isFlood && backing.state.kind !== 'memory' && this.#appendToStream(isDurable);
    // A write would delay showing the beginning of the flood.
    if (isFlood) this.#bulkSoon(BULK_GAP_MS);
    else if (!isStreamed || stream.size > MAX_STREAM_FILE_BYTES || this.#hasBulk) this.#bulkSoon();
    return isStreamed;
  }

  get #hasBulk(): boolean {
    return this.#buffer.chars > BULK_CHARS && this.#buffer.keys.some((key) => this.#buffer.charsOf(key) > BULK_CHARS);
  }

  get #keys(): readonly string[] {
    return [...new Set([...this.#buffer.keys, ...this.#notes.keys])];
  }

  #appendToStream(isDurable: boolean): boolean {
    const { stream, quietly } = this.#options;
    const isDone = quietly(() => {
      const progress = new Map([...this.#progress].map(([key, { json }]) => [key, json]));
      stream.append(this.#unstreamed.take(), (key) => this.#writeCountOf(key), progress);
      if (isDurable) stream.sync();
      return true;
    });
    if (isDone) notifyStored(this.#progress);
    else this.#isStreamOutdated = true;
    return isDone === true;
  }

  /** Writes everything to the journal, so that the stream files can restart. */
  #renewStream(): void {
    const { backing, stream, quietly } = this.#options;
    if (backing.state.kind === 'memory') return;
    this.#isStreamOutdated = false;
    this.flush();
    if (backing.state.kind === 'durable') quietly(() => stream.clear());
  }

  /** Returns whether the session is known and not taken over by another window. */
  #isOurs(key: string): boolean {
    const { backing, ownership, quietly } = this.#options;
    return quietly(() => backing.read(key, (sql) => hasSession(sql, key) && ownership.mayWrite(sql, key))) === true;
  }

  #writeCountOf(key: string): number {
    const known = this.#written.get(key)?.written;
    if (known !== undefined) return known;
    const find = 'SELECT written FROM sessions WHERE key = ?';
    const row = this.#options.backing.read(key, (sql) => sql.get(find, key));
    return numberOf(row?.written) ?? 0;
  }

  /**
   * Writes the rows and notes of sessions in one transaction.
   * @param change applied in the same transaction, for a single session
   * @returns whether this process may write to it
   * @throws what `change` throws
   */
  #writeRows(keys: readonly string[], change?: () => void): boolean {
    const { backing, log, ownership, quietly, stream } = this.#options;
    const batch = this.#buffer.take(keys);
    const notes = this.#notes.take(keys);
    for (const key of keys) this.#unstreamed.forget(key);
    const isAll = this.#buffer.isEmpty && this.#notes.isEmpty;
    if (isAll) this.#endTimers();
    if (batch.size === 0 && notes.size === 0 && !change) return true;
    const lost = new Set<string>();
    const isDurable = change !== undefined || [...batch.values()].some((rows) => rows.some(isOfUser));
    try {
      let attempts = 0;
      backing.write(
        keys,
        (sql) => {
          // Forget the last rows that the failed attempt remembered.
          if (attempts++ > 0) for (const one of keys) this.#written.delete(one);
          lost.clear();
          for (const [one, rows] of batch) {
            if (!ownership.mayWrite(sql, one)) lost.add(one);
            else if (rows.length > 0 && !appendRows(sql, one, rows, this.#rowsOf(one)))
              log.warn(`journal: ${rows.length} events of ${one}, which is no session`);
          }
          for (const [one, values] of notes) {
            if (!ownership.mayWrite(sql, one)) lost.add(one);
            else if (hasSession(sql, one)) {
              writeNotes(sql, one, values);
              // A read-only window only saves its scroll position, so the owner's file stays valid.
              if (ownership.of(one) === undefined) continue;
              // Stream files with these rows are outdated from here on.
              sql.run('UPDATE sessions SET written = written + 1 WHERE key = ?', one);
              const rows = this.#written.get(one);
              if (rows?.written !== undefined) rows.written++;
            }
          }
          if (lost.size === 0) change?.();
        },
        isDurable,
      );
    } catch (error) {
      for (const [one, rows] of batch) {
        log.error(`journal: ${rows.length} events of ${one} were not kept: ${messageOf(error)}`);
        backing.noteLost(one, rows.length);
      }
      for (const one of keys) this.#written.delete(one);
      if (change) throw error;
      return true;
    }
    for (const one of lost) ownership.lose(one);
    if (backing.state.kind === 'durable') {
      for (const key of keys) stream.forget(key);
      if (isAll) quietly(() => stream.clear());
      notifyStored(this.#takeProgress(keys));
    } else for (const [key, progress] of this.#takeProgress(keys)) this.#inMemory.set(key, progress);
    return lost.size === 0;
  }

  #takeProgress(keys: readonly string[]): Map<string, ReadProgress> {
    const taken = new Map<string, ReadProgress>();
    for (const key of keys) {
      const progress = this.#progress.get(key);
      if (progress) taken.set(key, progress);
      this.#progress.delete(key);
    }
    return taken;
  }

  #noteProgress(key: string, progress: ReadProgress | undefined): void {
    if (!progress) return;
    this.#notes.set(key, 'progress', progress.json);
    this.#progress.set(key, progress);
  }

  #rowsOf(key: string): WrittenRows {
    const known = this.#written.get(key);
    if (known) return known;
    const rows = new WrittenRows(key);
    this.#written.set(key, rows);
    return rows;
  }

  #streamLater(): void {
    const { schedule, streamMs } = this.#options;
    this.#streamTimer ??= schedule(() => {
      this.#streamTimer = undefined;
      this.#streamNow();
    }, streamMs);
    this.#bulkLater();
  }

  #bulkLater(): void {
    this.#restTimer?.dispose();
    this.#restTimer = undefined;
    this.#bulkTimer ??= this.#options.schedule(() => this.#onBulk(), BULK_MS);
  }

  /** A turn has ended in the stream file: show it to other windows unless more follows. */
  #bulkAtRest(): void {
    this.#bulkLater();
    this.#restTimer = this.#options.schedule(() => {
      this.#restTimer = undefined;
      this.#bulkSoon();
    }, REST_MS);
  }

  #bulkSoon(wait = Math.max(0, this.#lastBulk + BULK_GAP_MS - performance.now())): void {
    if (this.#isBulkSoon) return;
    this.#isBulkSoon = true;
    this.#bulkTimer?.dispose();
    this.#bulkTimer = this.#options.schedule(() => this.#onBulk(), wait);
  }

  /** Call when everything is being written, or after the last write. */
  #endTimers(): void {
    for (const timer of [this.#streamTimer, this.#bulkTimer, this.#restTimer]) timer?.dispose();
    this.#streamTimer = undefined;
    this.#bulkTimer = undefined;
    this.#restTimer = undefined;
    this.#isBulkSoon = false;
    this.#pendingKeys = [];
    this.#busyTimes = 0;
    this.#lastBulk = performance.now();
  }

  /** Writes some of the sessions, and the others shortly after. */
  #onBulk(): void {
    const { backing, stream, schedule, quietly } = this.#options;
    this.#isBulkSoon = true;
    if (this.#busyTimes < MAX_BUSY && backing.isBusy) {
      this.#busyTimes++;
      this.#bulkTimer = schedule(() => this.#onBulk(), BUSY_RETRY_MS);
      return;
    }
    const all = this.#pendingKeys.length > 0 ? this.#pendingKeys : this.#keys;
    let chars = 0;
    const last = all.findIndex((key) => {
      chars += this.#buffer.charsOf(key) + SESSION_CHARS;
      return chars > STEP_CHARS;
    });
    const keys = last === -1 ? all : all.slice(0, last + 1);
    if (this.#pendingKeys.length === 0 && keys.length < all.length) stream.rotate();
    this.#pendingKeys = all.slice(keys.length);
    this.#writeRows(keys);
    if (!this.#isBulkSoon) return; // nothing left to write
    if (this.#pendingKeys.length > 0) {
      this.#bulkTimer = schedule(() => this.#onBulk(), 0);
      return;
    }
    if (backing.state.kind === 'durable') quietly(() => stream.clearPrevious());
    this.#bulkTimer = undefined;
    this.#isBulkSoon = false;
    this.#busyTimes = 0;
    this.#lastBulk = performance.now();
    this.#bulkLater();
  }
}

/** Clears the map first: a callback may add new ones immediately. */
function notifyStored(progress: Map<string, ReadProgress>): void {
  const all = [...progress.values()];
  progress.clear();
  for (const { stored } of all) stored();
}

function isOfUser({ event }: { readonly event: SessionEvent }): boolean {
  return OF_USER.has(event.type);
}

/** Maximum time for data in the stream file only, in ms. */
const BULK_MS = 30_000;
const REST_MS = 1000;
const BULK_GAP_MS = 1000;
/** Delay before a bulk write is retried while another window writes, in ms. */
const BUSY_RETRY_MS = 100;
const MAX_BUSY = 20;

export function later(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return toDisposable(() => clearTimeout(timer));
}
