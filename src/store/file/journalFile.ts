// Opens or creates the journal file, checks it after an unclean shutdown, and sets it aside if it
// is damaged. Never deletes a file.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import type { Log } from '../../base/log';
import { thisMachine } from './machine';
import { MIGRATIONS, migrate } from './schema';
import { Sql } from './sql';
import { problemOf, StorageError } from './sqlError';

/** Time to wait for windows that create the same file, in ms; the alternative is memory. */
const NEW_FILE_MS = 3000;
/** A file created within this time, in ms, may still get its tables. */
const NEW_FOR_MS = 10_000;
const NEXT_TRY_MS = 20;

/** Maximum size in bytes for a full check; of larger files only the central tables are checked. */
const MAX_FULL_CHECK_BYTES = 64 * 1024 * 1024;

export interface OpenedFile {
  readonly sql: Sql;
  readonly identity: string;
  readonly isShared: boolean;
  readonly notice?: string;
}

export interface FileOptions {
  readonly folder: string;
  /** How long to wait for another window's write, in ms. Blocks the thread. */
  readonly busyMs: number;
  readonly now: () => number;
  readonly log: Log;
  /** Default: {@link isNetworkFolder}. */
  readonly isShared?: (folder: string) => boolean;
}

/**
 * Opens the file. Writes survive the process (WAL), and the last durable transaction or checkpoint
 * survives a power failure. A damaged file is renamed to `parley.corrupt-<time>.db`.
 * @throws StorageError
 */
export function openJournalFile(options: FileOptions): OpenedFile {
  try {
    return open(options);
  } catch (error) {
    const problem = problemOf(error);
    if (problem !== 'corrupt')
      throw error instanceof StorageError ? error : new StorageError(problem ?? 'unusable', error);
    options.log.error(`journal: damaged: ${String(error)}`);
    return replaceJournalFile(options, undefined);
  }
}

/**
 * Replaces a damaged file, whose connection must be closed.
 * @param identity replaces only this file, as another window may have replaced it
 * @throws StorageError
 */
export function replaceJournalFile(options: FileOptions, identity: string | undefined): OpenedFile {
  try {
    const path = pathIn(options.folder);
    let notice = l10n.t('The session history was damaged and has been replaced.');
    if (existsSync(path) && (identity === undefined || identityOf(path) === identity)) {
      const aside = setAside(path, options.now());
      notice = l10n.t(
        'The session history was damaged. It was saved as {0}, and a new one was created.',
        basename(aside),
      );
      options.log.error(`journal: set aside as ${aside}`);
    }
    return { ...open(options), notice };
  } catch (error) {
    throw error instanceof StorageError ? error : new StorageError(problemOf(error) ?? 'unusable', error);
  }
}

/** Returns whether the open file is still in its folder and was not set aside, moved or deleted. */
export function isInPlace(folder: string, identity: string): boolean {
  try {
    return identityOf(pathIn(folder)) === identity;
  } catch {
    return false;
  }
}

export function pathIn(folder: string): string {
  return join(folder, 'parley.db');
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function open({ folder, busyMs, now, log, isShared = isNetworkFolder }: FileOptions): OpenedFile {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = pathIn(folder);
  // Messages are private: create the file before SQLite would make it readable for all.
  closeSync(openSync(path, 'a', 0o600));
  const isUnclean = existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0;
  const identity = identityOf(path);
  let sql: Sql | undefined;
  try {
    sql = new Sql(path);
    const waitMs = isNew(path) ? Math.max(busyMs, NEW_FILE_MS) : busyMs;
    sql.exec(`PRAGMA busy_timeout = ${waitMs}`);
    // Check before anything that could change the file.
    if (sql.pragma('user_version') > MIGRATIONS.length) throw new StorageError('newer');
    prepare(sql, waitMs);
    const isAlsoElsewhere = isShared(folder) || isUsedElsewhere(sql, now());
    if (isAlsoElsewhere) withoutSharedMemory(sql, log);
    const began = now();
    if (isUnclean) check(sql, statSync(path).size);
    migrate(sql);
    sql.exec(`PRAGMA busy_timeout = ${busyMs}`);
    if (isUnclean) log.info(`journal: found after an unclean end, checked in ${now() - began} ms`);
    return { sql, identity, isShared: isAlsoElsewhere };
  } catch (error) {
    sql?.close();
    throw isNotWritable(error, folder) ? new StorageError('read-only', error) : error;
  }
}

function isNew(path: string): boolean {
  const { size, birthtimeMs } = statSync(path);
  return size === 0 || Date.now() - birthtimeMs < NEW_FOR_MS;
}

export function prepare(sql: Sql, busyMs: number): void {
  sql.exec(`PRAGMA busy_timeout = ${busyMs}`);
  // Only effective before the first table; later it would wait for the lock.
  if (sql.pragma('user_version') === 0) sql.exec('PRAGMA auto_vacuum = INCREMENTAL');
  untilUnlocked(() => sql.exec('PRAGMA journal_mode = WAL'), busyMs);
  sql.exec('PRAGMA synchronous = NORMAL');
  // Pages that change often are written to the file once per this many pages.
  sql.exec('PRAGMA wal_autocheckpoint = 2000');
  sql.exec('PRAGMA foreign_keys = ON');
  sql.exec('PRAGMA cache_size = -8000');
  sql.exec('PRAGMA journal_size_limit = 16777216');
}

/**
 * Retries operations that SQLite refuses without applying busy_timeout: two windows that switch to
 * WAL would deadlock.
 */
function untilUnlocked(run: () => void, ms: number): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (const end = performance.now() + ms; ; ) {
    try {
      run();
      return;
    } catch (error) {
      if (problemOf(error) !== 'locked' || performance.now() >= end) throw error;
    }
    Atomics.wait(sleeper, 0, 0, NEXT_TRY_MS);
  }
}

/**
 * Uses a rollback journal: a write-ahead log needs shared memory (https://sqlite.org/wal.html). The
 * log stays while another window has it open.
 */
function withoutSharedMemory(sql: Sql, log: Log): void {
  try {
    sql.exec('PRAGMA journal_mode = TRUNCATE');
    sql.exec('PRAGMA synchronous = FULL');
  } catch (error) {
    if (problemOf(error) !== 'locked') throw error;
    log.warn('journal: another machine may use it, and a window here has the write-ahead log open');
  }
}

/** Types of statfs: NFS, SMB (3), AFS, 9P, Lustre, GPFS, Ceph. */
const NETWORK_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x01021997, 0x0bd00bd0, 0x47504653, 0x00c36400,
]);
/** A lease renewed within this time, in ms, shows that a machine uses the file. */
const USED_MS = 24 * 60 * 60 * 1000;

export function isNetworkFolder(folder: string, typeOf = (path: string): number => statfsSync(path).type): boolean {
  if (/^[\\/]{2}[^\\/?.]/.test(folder)) return true;
  try {
    return NETWORK_TYPES.has(typeOf(folder) >>> 0);
  } catch {
    return false;
  }
}

function isUsedElsewhere(sql: Sql, now: number): boolean {
  if (sql.pragma('user_version') === 0) return false;
  const sentence = 'SELECT 1 FROM leases WHERE host != ? AND abs(? - heartbeat) < ?';
  return sql.get(sentence, thisMachine.host, now, USED_MS) !== undefined;
}

function check(sql: Sql, size: number): void {
  const checks = size <= MAX_FULL_CHECK_BYTES ? ['quick_check(1)'] : ['quick_check(sessions)', 'quick_check(queue)'];
  for (const pragma of checks) {
    if (sql.pragma('user_version') === 0) return;
    const answer = sql.get(`PRAGMA ${pragma}`);
    const word = Object.values(answer ?? {})[0];
    if (word !== 'ok') throw new StorageError('corrupt', word);
  }
}

function setAside(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-');
  let aside = path.replace(/\.db$/, `.corrupt-${stamp}.db`);
  for (let count = 2; existsSync(aside); count++) aside = path.replace(/\.db$/, `.corrupt-${stamp}-${count}.db`);
  renameSync(path, aside);
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

/** For a read-only folder, SQLite only reports that it cannot open its files. */
function isNotWritable(error: unknown, folder: string): boolean {
  if (problemOf(error) !== 'unusable') return false;
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}
