// What is noted about sessions for their list: pinned, archived, unread, how many files changed,
// which were asked together, and which are deleted but can be brought back.
import { numberOf, type Row, type Sql, textOf } from '../file/sql';
import type { SharedPort } from './journalPort';
import type { SessionRecord } from './records';
import { hasSession, newestFirst, toSession } from './sessionRows';

const MAX_PAGE = 1000;
const MAX_TEXT = 200;

export interface SessionMarks {
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly unread: boolean;
  readonly files: number;
  readonly together?: string;
}

export interface MarkPatch extends Partial<Omit<SessionMarks, 'together'>> {
  readonly together?: string;
  /** When it was deleted, in ms since 1970; null: it is brought back. */
  readonly deleted?: number | null;
}

export interface MarkedSession extends SessionRecord {
  readonly marks: SessionMarks;
}

export const NO_MARKS: SessionMarks = { pinned: false, archived: false, unread: false, files: 0 };

export interface SessionName extends Pick<SessionRecord, 'key' | 'agentId' | 'cwd' | 'updatedAt'> {
  readonly name: string;
}

export interface MarkedFilter {
  readonly agentId?: string;
  readonly cwd?: string;
  readonly text?: string;
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

export interface MarkedQuery extends MarkedFilter {
  readonly limit: number;
  readonly before?: { readonly updatedAt: number; readonly key: string };
}

export class SessionMarkStore {
  readonly #port: SharedPort;

  constructor(port: SharedPort) {
    this.#port = port;
  }

  /** Changes what is noted about a session, in whichever window it is; absent fields stay. */
  mark(key: string, patch: MarkPatch): void {
    this.#port.write([key], (sql) => {
      if (hasSession(sql, key)) mark(sql, key, patch);
    });
  }

  of(key: string): SessionMarks {
    return this.#port.read(key, (sql) => marksOf(sql, key));
  }

  /** Returns whether a session was deleted; until it is, it can be brought back. */
  isDeleted(key: string): boolean {
    const sentence = 'SELECT 1 FROM session_marks WHERE key = ? AND deleted IS NOT NULL';
    return this.#port.read(key, (sql) => sql.get(sentence, key) !== undefined);
  }

  list(query: MarkedQuery): readonly MarkedSession[] {
    const found = this.#port.readBoth(
      (sql) => listMarked(sql, query),
      ({ key }) => key,
    );
    return [...found].sort(newestFirst).slice(0, query.limit);
  }

  /** Names of sessions with messages, newest first: much cheaper than {@link list}. */
  names({ limit, before }: Pick<MarkedQuery, 'limit' | 'before'>): readonly SessionName[] {
    const found = this.#port.readBoth(
      (sql) => listNames(sql, limit, before),
      ({ key }) => key,
    );
    return [...found].sort(newestFirst).slice(0, limit);
  }

  /** Returns the sessions that live windows have, other than this one. */
  elsewhere(windowId: string): readonly MarkedSession[] {
    const found = this.#port.readBoth(
      (sql) => listLeased(sql, windowId),
      ({ key }) => key,
    );
    return found.filter(({ key }) => this.#port.ownerOf(key) !== undefined);
  }

  groups(by: 'agent' | 'cwd', filter: MarkedFilter): readonly string[] {
    const found = this.#port.readBoth(
      (sql) => listGroups(sql, by, filter),
      (name) => name,
    );
    return [...new Set(found)];
  }

  /** Returns the sessions that were deleted before a time, in ms since 1970. */
  deletedBefore(time: number): readonly string[] {
    return this.#port.readBoth(
      (sql) => deletedBefore(sql, time),
      (key) => key,
    );
  }
}

function mark(sql: Sql, key: string, patch: MarkPatch): void {
  const values = {
    ...(patch.pinned !== undefined && { pinned: Number(patch.pinned) }),
    ...(patch.archived !== undefined && { archived: Number(patch.archived) }),
    ...(patch.unread !== undefined && { unread: Number(patch.unread) }),
    ...(patch.files !== undefined && { files: patch.files }),
    ...(patch.together !== undefined && { together: patch.together }),
    ...(patch.deleted !== undefined && { deleted: patch.deleted }),
  };
  const names = Object.keys(values);
  if (names.length === 0) return;
  sql.run(
    `INSERT INTO session_marks (key, ${names.join(', ')}) VALUES (?, ${names.map(() => '?').join(', ')})
       ON CONFLICT (key) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    key,
    ...Object.values(values),
  );
}

function marksOf(sql: Sql, key: string): SessionMarks {
  const row = sql.get('SELECT * FROM session_marks WHERE key = ?', key);
  return row ? toMarks(row) : NO_MARKS;
}

function listMarked(sql: Sql, query: MarkedQuery): readonly MarkedSession[] {
  const { limit, before } = query;
  const { where, values } = conditions(query);
  const rows = sql.all(
    `SELECT ${COLUMNS} FROM sessions s LEFT JOIN session_marks m ON m.key = s.key
       WHERE (s.updated, s.key) < (?, ?) AND ${where} ORDER BY s.updated DESC, s.key DESC LIMIT ?`,
    before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
    before?.key ?? '',
    ...values,
    Math.max(0, Math.min(limit, MAX_PAGE)),
  );
  return rows.map(toMarked);
}

function listNames(sql: Sql, limit: number, before: MarkedQuery['before']): readonly SessionName[] {
  const rows = sql.lists(
    `SELECT s.key, substr(coalesce(s.title, s.preview), 1, ${MAX_TEXT}), s.agent, s.cwd, s.updated
       FROM sessions s LEFT JOIN session_marks m ON m.key = s.key
       WHERE (s.updated, s.key) < (?, ?) AND m.deleted IS NULL AND coalesce(s.title, s.preview) IS NOT NULL
       ORDER BY s.updated DESC, s.key DESC LIMIT ?`,
    before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
    before?.key ?? '',
    Math.max(0, Math.min(limit, MAX_PAGE)),
  );
  return rows.map(([key, name, agentId, cwd, updatedAt]) => ({
    key: textOf(key) ?? '',
    name: textOf(name) ?? '',
    agentId: textOf(agentId) ?? '',
    cwd: textOf(cwd) ?? '',
    updatedAt: numberOf(updatedAt) ?? 0,
  }));
}

/** Returns the sessions with a lease of another window. */
function listLeased(sql: Sql, windowId: string): readonly MarkedSession[] {
  const rows = sql.all(
    `SELECT ${COLUMNS} FROM leases l JOIN sessions s ON s.key = l.key
       LEFT JOIN session_marks m ON m.key = s.key
       WHERE l.window != ? AND m.deleted IS NULL ORDER BY s.updated DESC LIMIT ${MAX_PAGE}`,
    windowId,
  );
  return rows.map(toMarked);
}

function listGroups(sql: Sql, by: 'agent' | 'cwd', filter: MarkedFilter): readonly string[] {
  const { where, values } = conditions(filter);
  const rows = sql.all(
    `SELECT s.${by} AS name FROM sessions s LEFT JOIN session_marks m ON m.key = s.key
       WHERE ${where} GROUP BY s.${by} ORDER BY max(s.updated) DESC LIMIT ${MAX_PAGE}`,
    ...values,
  );
  return rows.flatMap(({ name }) => textOf(name) ?? []);
}

/** Returns the sessions that were deleted before a time, in ms since 1970. */
function deletedBefore(sql: Sql, time: number): readonly string[] {
  const rows = sql.all('SELECT key FROM session_marks WHERE deleted < ?', time);
  return rows.flatMap(({ key }) => textOf(key) ?? []);
}

function conditions({ agentId, cwd, text, archived, pinned }: MarkedFilter): {
  readonly where: string;
  readonly values: readonly (string | number)[];
} {
  const part = text && `%${text.slice(0, MAX_TEXT).replace(/[\\%_]/g, '\\$&')}%`;
  const like = (column: string): string => `s.${column} LIKE ? ESCAPE '\\'`;
  const all: [condition: string, ...values: (string | number)[]][] = [
    ['m.deleted IS NULL'],
    ...(agentId === undefined ? [] : [['s.agent = ?', agentId] as [string, string]]),
    ...(cwd === undefined ? [] : [['s.cwd = ?', cwd] as [string, string]]),
    ...(archived === undefined ? [] : [['coalesce(m.archived, 0) = ?', Number(archived)] as [string, number]]),
    ...(pinned === undefined ? [] : [['coalesce(m.pinned, 0) = ?', Number(pinned)] as [string, number]]),
    ...(part
      ? [
          [`(${['title', 'preview', 'cwd', 'agent'].map(like).join(' OR ')})`, part, part, part, part] as [
            string,
            ...string[],
          ],
        ]
      : []),
  ];
  return { where: all.map(([one]) => one).join(' AND '), values: all.flatMap(([, ...values]) => values) };
}

/** `sessions` has a column `archived` of its own, which is no longer used. */
const COLUMNS = 's.*, m.pinned, coalesce(m.archived, 0) AS is_archived, m.unread, m.files, m.together';

function toMarked(row: Row): MarkedSession {
  return { ...toSession(row), marks: toMarks({ ...row, archived: row.is_archived ?? 0 }) };
}

function toMarks(row: Row): SessionMarks {
  const together = textOf(row.together);
  return {
    pinned: row.pinned === 1,
    archived: row.archived === 1,
    unread: row.unread === 1,
    files: numberOf(row.files) ?? 0,
    ...(together !== undefined && { together }),
  };
}
