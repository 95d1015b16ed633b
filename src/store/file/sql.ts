// A SQLite connection with cached prepared statements, transactions, and typed columns.

import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import type * as z from 'zod/mini';
import { parsedJson } from '../../base/untrusted';

export type Row = Readonly<Record<string, SQLOutputValue>>;

export class Sql {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #inTransaction = false;

  /**
   * @param path a file, or `:memory:`
   * @throws the SQLite error (`errcode`)
   */
  constructor(path: string) {
    this.#path = path;
    this.#database = new DatabaseSync(path);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  /** Returns rows as arrays: creating many objects costs more than reading. */
  lists(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(true);
    try {
      return statement.all(...values) as unknown as SQLOutputValue[][];
    } finally {
      statement.setReturnArrays(false);
    }
  }

  /** Yields rows on demand. The statement must not be used otherwise until the end. */
  *rows(sql: string, ...values: SQLInputValue[]): Generator<SQLOutputValue[]> {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(true);
    yield* statement.iterate(...values) as Iterable<unknown> as Iterable<SQLOutputValue[]>;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  insert(table: string, row: Row, how = 'INSERT'): number {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    return this.run(`${how} INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
  }

  upsert(table: string, row: Row): void {
    const names = Object.keys(row);
    const changes = names.filter((name) => name !== 'key').map((name) => `${name} = excluded.${name}`);
    this.run(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
         ON CONFLICT (key) DO UPDATE SET ${changes.join(', ')}`,
      ...Object.values(row),
    );
  }

  pragma(name: string): number {
    return Number(Object.values(this.#database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  }

  /**
   * Locks for writing from the start, so that it never fails halfway on a lock.
   * @param isDurable survives a power failure, at the cost of some ms
   */
  transaction<T>(body: () => T, isDurable = false): T {
    if (this.#inTransaction) return body();
    const result = this.#run(body);
    if (isDurable) this.#syncLog();
    return result;
  }

  /** Syncs the log without the lock of `synchronous = FULL`, so that other windows do not wait. */
  #syncLog(): void {
    let log: number;
    try {
      log = openSync(`${this.#path}-wal`, 'r+');
    } catch {
      return;
    }
    try {
      fdatasyncSync(log);
    } finally {
      closeSync(log);
    }
  }

  #run<T>(body: () => T): T {
    this.exec('BEGIN IMMEDIATE');
    this.#inTransaction = true;
    try {
      const result = body();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.exec('ROLLBACK');
      } catch {
        // SQLite has already rolled back after a full disk or a failed write.
      }
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** The last connection to close merges the write-ahead log into the file. */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

export function textOf(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
}

export function readJson<T>(text: string | undefined, schema: z.ZodMiniType<T>, fallback: T): T {
  const parsed = text === undefined ? undefined : schema.safeParse(parsedJson(text));
  return parsed?.success ? parsed.data : fallback;
}
