// What the stores need from the journal: reading and writing on disk or in memory, and errors for
// sessions that it cannot write.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Sql } from '../file/sql';
import type { SideTable } from './sideNotes';

export interface JournalPort {
  /**
   * Runs a change in a transaction after all buffered events.
   * @throws ParleyError `journal-unknown-session`, `journal-full`, `journal-closed`
   */
  write<T>(key: string, change: (sql: Sql) => T): T;
  read<T>(key: string, query: (sql: Sql) => T): T;
  /**
   * Saves a frequently replaced value, which survives the process and is written to its table
   * later.
   * @throws as {@link write}
   */
  note(key: string, table: SideTable, json: string): void;
  noted(key: string, table: SideTable): string | undefined;
  now(): number;
}

/** For data that all windows write, whichever has the session. */
export interface SharedPort {
  write<T>(keys: readonly string[], change: (sql: Sql) => T): T;
  read<T>(key: string, query: (sql: Sql) => T): T;
  readBoth<T>(query: (sql: Sql) => readonly T[], keyOf: (value: T) => string): readonly T[];
}

export function unknownSession(key: string): ParleyError {
  return new ParleyError('journal-unknown-session', localizable('There is no session {0} in the history.', key));
}

export function sessionHeld(): ParleyError {
  return new ParleyError('session-held', localizable('This session is open in another window.'), {
    hint: localizable('Continue there.'),
  });
}

export function isSessionHeld(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'session-held';
}
