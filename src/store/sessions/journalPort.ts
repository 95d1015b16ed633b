// What the stores of the journal need from it: reading and writing wherever the data is, on disk or
// in memory, and the errors for sessions that it cannot write.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Sql } from '../file/sql';
import type { SideTable } from './sideNotes';

export interface JournalPort {
  /**
   * Runs a change in a transaction behind all buffered events.
   * @throws ParleyError `journal-unknown-session`, `journal-full`, `journal-closed`
   */
  write<T>(key: string, change: (sql: Sql) => T): T;
  /** Reads data of a session. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  /**
   * Saves a frequently replaced value: survives the process immediately, is in its table later.
   * @throws as {@link write}
   */
  note(key: string, table: SideTable, json: string): void;
  noted(key: string, table: SideTable): string | undefined;
  now(): number;
}

/** What the stores need that all windows write, whichever has the session. */
export interface SharedPort {
  /** Runs a change of sessions in a transaction. */
  write<T>(keys: readonly string[], change: (sql: Sql) => T): T;
  read<T>(key: string, query: (sql: Sql) => T): T;
  /** Reads data of all sessions, wherever it is. */
  readBoth<T>(query: (sql: Sql) => readonly T[], keyOf: (value: T) => string): readonly T[];
}

export function unknownSession(key: string): ParleyError {
  return new ParleyError('journal-unknown-session', localizable('There is no session {0} in the history.', key));
}

/** Returns the error for a session that another window owns. */
export function sessionHeld(): ParleyError {
  return new ParleyError('session-held', localizable('This session is open in another window.'), {
    hint: localizable('Continue there.'),
  });
}

export function isSessionHeld(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'session-held';
}
