// What the parts of the journal need of it: a way to write and to read that knows where the data is, on the disk or in memory.
import type { Sql } from './sql';

export interface JournalPort {
  /**
   * Runs one change of a session after all events that wait, as one transaction; on the disk when it returns.
   * @throws ParleyError `journal-unknown-session`, `journal-full` (neither the disk nor the memory has room), `journal-closed`
   */
  write<T>(key: string, change: (sql: Sql) => T): T;
  /** Reads something of a session. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  now(): number;
}
