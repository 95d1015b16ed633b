// What the stores of the journal need from it: reading and writing wherever the data is, on disk or
// in memory.

import type { Sql } from '../file/sql';
import type { SideTable } from './sideNotes';

export interface JournalPort {
  /**
   * Runs one change of a session in a transaction, after all buffered events; on disk when it
   * returns.
   * @throws ParleyError `journal-unknown-session`, `journal-full` (neither disk nor memory has
   * space), `journal-closed`
   */
  write<T>(key: string, change: (sql: Sql) => T): T;
  /** Reads data of a session. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  /**
   * Saves a frequently replaced value: it survives the end of the process when the call returns,
   * and is written to its table with the next bulk write.
   * @throws as {@link write}
   */
  note(key: string, table: SideTable, json: string): void;
  /** Returns a value of {@link note} that is not in its table yet. */
  noted(key: string, table: SideTable): string | undefined;
  now(): number;
}
