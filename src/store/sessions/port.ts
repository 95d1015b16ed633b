// What the parts of the journal need of it: a way to write and to read that knows where the data is, on the disk or in memory.

import type { Sql } from '../file/sql';
import type { SideTable } from './sideNotes';

export interface JournalPort {
  /**
   * Runs one change of a session after all events that wait, as one transaction; on the disk when it returns.
   * @throws ParleyError `journal-unknown-session`, `journal-full` (neither the disk nor the memory has room), `journal-closed`
   */
  write<T>(key: string, change: (sql: Sql) => T): T;
  /** Reads something of a session. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  /**
   * Keeps a value that is replaced often: it outlives the process when the call returns, and reaches its table with what else waits.
   * @throws as {@link write}
   */
  note(key: string, table: SideTable, json: string): void;
  /** The value of {@link note} that is not in its table yet. */
  noted(key: string, table: SideTable): string | undefined;
  now(): number;
}
