// Marks of sessions for their list: pinned, archived, unread, number of changed files, asked
// together, and deleted but still restorable.
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
  /** When it was deleted, in ms since 1970; null restores it. */
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
  readonly #ownerOf: (key: string) => string | undefined;

  constructor(port: SharedPort, ownerOf: (key: string) => string | undefined) {
    this.#port = port;
    this.#ownerOf = ownerOf;
  }

  /** Changes marks of a session in whichever window it is; absent fields stay. */
  mark(key: string, patch: MarkPatch): void {
    this.#port.write([key], (sql) => {
      if (hasSession(sql, key)) mark(sql, key, patch);
    });
  }

  of(key: string): SessionMarks {
    return this.#port.read(key, (sql) => marksOf(sql, key));
  }

  isDeleted(key: string): boolean {
    const sentence = 'SELECT 1 FROM session_marks WHERE key = ? AND deleted IS NOT NULL';
    return this.#port.read(key, (sql) => sql.get(sentence, key) !== undefined);
  }

  list(query: MarkedQuery): readonly MarkedSession[] {
    const found = this.#port.readBoth((sql) => listMarked(sql, query), keyOf);
    return [...found].sort(newestFirst).slice(0, query.limit);
  }

  /** Names of sessions with messages, newest first: much cheaper than {@link list}. */
  names({ limit, before }: Pick<MarkedQuery, 'limit' | 'before'>): readonly SessionName[] {
    const found = this.#port.readBoth((sql) => listNames(sql, limit, before), keyOf);
    return [...found].sort(newestFirst).slice(0, limit);
  }

  elsewhere(windowId: string): readonly MarkedSession[] {
    const found = this.#port.readBoth((sql) => listLeased(sql, windowId), keyOf);
    return found.filter(({ key }) => this.#ownerOf(key) !== undefined);
  }

  groups(by: 'agent' | 'cwd', filter: MarkedFilter): readonly string[] {
    const found = this.#port.readBoth(
      (sql) => listGroups(sql, by, filter),
      (name) => name,
    );
    return [...new Set(found)];
  }

  deletedBefore(time: number): readonly string[] {
    return this.#port.readBoth(
      (sql) => deletedBefore(sql, time),
      (key) => key,
    );
  }
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}

function mark(sql: Sql, key: string, patch: MarkPatch): void {
  const values: Record<string, string | number | null> = {};
  for (const name of ['pinned', 'archived', 'unread', 'files', 'together', 'deleted'] as const) {
    const value = patch[name];
    if (value !== undefined) values[name] = typeof value === 'boolean' ? Number(value) : value;
  }
  if (Object.keys(values).length > 0) sql.upsert('session_marks', { key, ...values });
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
  const all = ['m.deleted IS NULL'];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: (string | number | boolean | undefined)[]): void => {
    if (given.includes(undefined)) return;
    all.push(condition);
    values.push(...given.map((value) => (typeof value === 'string' ? value : Number(value))));
  };
  add('s.agent = ?', agentId);
  add('s.cwd = ?', cwd);
  add('coalesce(m.archived, 0) = ?', archived);
  add('coalesce(m.pinned, 0) = ?', pinned);
  if (part) add(`(${['title', 'preview', 'cwd', 'agent'].map(like).join(' OR ')})`, part, part, part, part);
  return { where: all.join(' AND '), values };
}

/** `sessions` has its own column `archived`, which is no longer used. */
const COLUMNS = 's.*, m.pinned, coalesce(m.archived, 0) AS is_archived, m.unread, m.files, m.together';

function toMarked(row: Row): MarkedSession {
  return { ...toSession(row), marks: toMarks({ ...row, archived: row.is_archived ?? 0 }) };
}

function toMarks(row: Row): SessionMarks {
  return {
    pinned: row.pinned === 1,
    archived: row.archived === 1,
    unread: row.unread === 1,
    files: numberOf(row.files) ?? 0,
    together: textOf(row.together),
  };
}
