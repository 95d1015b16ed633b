// What the stores of the journal need from it: reading and writing wherever the data is, on disk or
// in memory, and the errors for sessions that it cannot write.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { QueuedAttachment, QueueItem } from '../../session/queue/queue';
import type { Sql } from '../file/sql';
import type { SideTable } from './sideStore';

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
  /** Reads data of a session. */
  read<T>(key: string, query: (sql: Sql) => T): T;
  /** Reads data of all sessions, wherever it is. */
  readBoth<T>(query: (sql: Sql) => readonly T[], keyOf: (value: T) => string): readonly T[];
  ownerOf(key: string): string | undefined;
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

export type JournalProtocol = 1 | 2 | 'communication';

export interface NewSession {
  /** Unique among all sessions of all windows. */
  readonly key: string;
  readonly agentId: string;
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly title?: string;
  readonly protocol: JournalProtocol;
}

export interface SessionPatch {
  readonly agentId?: string;
  readonly agentSessionId?: string | null;
  readonly cwd?: string;
  readonly roots?: readonly string[];
  readonly title?: string | null;
  readonly protocol?: JournalProtocol;
  readonly ended?: string | null;
}

export interface SessionRecord extends NewSession {
  readonly preview?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ended?: { readonly at: number; readonly why: string };
  readonly queuePaused?: string;
  /** Sequence number of the newest event; 0 if there is none. */
  readonly lastSeq: number;
  /** Bytes of its events, approximately its size on disk. */
  readonly bytes: number;
}

export type StoredQueueItem = Readonly<QueueItem>;

export interface Draft {
  readonly text: string;
  readonly revision: number;
  readonly attachments: readonly QueuedAttachment[];
}

export interface ViewState {
  readonly anchor?: string;
  readonly offset?: number;
  readonly atEnd: boolean;
}
