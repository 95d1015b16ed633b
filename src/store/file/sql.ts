// One connection to SQLite: prepared statements by their text, transactions that end, and typed columns.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

export type Row = Readonly<Record<string, SQLOutputValue>>;

export class Sql {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #inTransaction = false;

  /** @param path a file, made where it is missing, or `:memory:`. @throws the error of SQLite (`errcode`) */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
  }

  /** Runs statements that give nothing. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  /** The rows as lists of their columns: of many rows, objects with names cost more than reading them. */
  lists(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(true);
    try {
      return statement.all(...values) as unknown as SQLOutputValue[][];
    } finally {
      statement.setReturnArrays(false);
    }
  }

  /** The same, each row read when it is asked for: whoever has enough costs no more. The statement is not used otherwise meanwhile. */
  *rows(sql: string, ...values: SQLInputValue[]): Generator<SQLOutputValue[]> {
    const statement = this.#prepared(sql);
    statement.setReturnArrays(true);
    yield* statement.iterate(...values) as Iterable<unknown> as Iterable<SQLOutputValue[]>;
  }

  /** @returns the number of rows that changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Adds a row, columns by name. @param how `INSERT` or `INSERT OR IGNORE`, `INSERT OR REPLACE` */
  insert(table: string, row: Row, how = 'INSERT'): number {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    return this.run(`${how} INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
  }

  /** A number that a pragma answers. */
  pragma(name: string): number {
    return Number(Object.values(this.#database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  }

  /** Runs `body` in a transaction that writes from its beginning on, so that it never fails halfway for a lock. What throws is undone. */
  transaction<T>(body: () => T): T {
    if (this.#inTransaction) return body();
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
        // After a full disk or a failed write SQLite has rolled back by itself.
      }
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** Ends the connection; of the last one on a file, the write-ahead log becomes part of the file. */
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

/** A column as text; undefined where it is null or something else. */
export function textOf(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A column as a number; undefined where it is null or something else. */
export function numberOf(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;
}
