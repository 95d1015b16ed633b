// The table of sessions: the history list and the properties of each session.

import * as z from 'zod/mini';
import { numberOf, type Row, readJson, type Sql, textOf } from '../file/sql';
import type { JournalProtocol, NewSession, SessionPatch, SessionRecord } from './records';

const MAX_PAGE = 1000;

export interface SessionQuery {
  readonly limit: number;
  readonly before?: { readonly updatedAt: number; readonly key: string };
}

export function saveSession(sql: Sql, session: NewSession, now: number): void {
  sql.run(
    `INSERT INTO sessions (key, agent, agent_session, cwd, roots, title, protocol, created, updated)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET agent = excluded.agent, agent_session = coalesce(excluded.agent_session, agent_session),
       cwd = excluded.cwd, roots = excluded.roots, title = coalesce(excluded.title, title), protocol = excluded.protocol`,
    session.key,
    session.agentId,
    session.agentSessionId ?? null,
    session.cwd,
    JSON.stringify(session.roots),
    session.title ?? null,
    String(session.protocol),
    now,
    now,
  );
}

export function patchSession(sql: Sql, key: string, patch: SessionPatch, now: number): void {
  const { agentId, agentSessionId, cwd, roots, title, protocol, ended } = patch;
  const columns: Record<string, string | number | null> = {
    ...(agentId !== undefined && { agent: agentId }),
    ...(agentSessionId !== undefined && { agent_session: agentSessionId }),
    ...(cwd !== undefined && { cwd }),
    ...(roots !== undefined && { roots: JSON.stringify(roots) }),
    ...(title !== undefined && { title, updated: now }),
    ...(protocol !== undefined && { protocol: String(protocol) }),
    ...(ended !== undefined && { ended_at: ended === null ? null : now, ended_why: ended }),
  };
  const names = Object.keys(columns);
  if (names.length === 0) return;
  const changes = names.map((name) => `${name} = ?`).join(', ');
  sql.run(`UPDATE sessions SET ${changes} WHERE key = ?`, ...Object.values(columns), key);
}

export function hasSession(sql: Sql, key: string): boolean {
  return sql.get('SELECT 1 FROM sessions WHERE key = ?', key) !== undefined;
}

export function readSession(sql: Sql, key: string): SessionRecord | undefined {
  const row = sql.get('SELECT * FROM sessions WHERE key = ?', key);
  return row && toSession(row);
}

export function listSessions(sql: Sql, { limit, before }: SessionQuery): readonly SessionRecord[] {
  const rows = sql.all(
    'SELECT * FROM sessions WHERE (updated, key) < (?, ?) ORDER BY updated DESC, key DESC LIMIT ?',
    before?.updatedAt ?? Number.MAX_SAFE_INTEGER,
    before?.key ?? '',
    Math.max(0, Math.min(limit, MAX_PAGE)),
  );
  return rows.map(toSession);
}

export function newestFirst(
  a: Pick<SessionRecord, 'key' | 'updatedAt'>,
  b: Pick<SessionRecord, 'key' | 'updatedAt'>,
): number {
  return b.updatedAt - a.updatedAt || (a.key < b.key ? 1 : -1);
}

export function deleteSession(sql: Sql, key: string): void {
  sql.run('DELETE FROM texts WHERE key = ?', key);
  sql.run('DELETE FROM events WHERE key = ?', key);
  sql.run('DELETE FROM sessions WHERE key = ?', key);
}

const rootsSchema = z.array(z.string());

export function toSession(row: Row): SessionRecord {
  const endedAt = numberOf(row.ended_at);
  return {
    key: textOf(row.key) ?? '',
    agentId: textOf(row.agent) ?? '',
    cwd: textOf(row.cwd) ?? '',
    roots: readJson(textOf(row.roots), rootsSchema, []),
    protocol: toProtocol(textOf(row.protocol)),
    createdAt: numberOf(row.created) ?? 0,
    updatedAt: numberOf(row.updated) ?? 0,
    lastSeq: numberOf(row.last_seq) ?? 0,
    bytes: numberOf(row.bytes) ?? 0,
    agentSessionId: textOf(row.agent_session),
    title: textOf(row.title),
    preview: textOf(row.preview),
    ended: endedAt === undefined ? undefined : { at: endedAt, why: textOf(row.ended_why) ?? '' },
    queuePaused: textOf(row.queue_paused),
  };
}

function toProtocol(text: string | undefined): JournalProtocol {
  return text === 'communication' ? text : text === '2' ? 2 : 1;
}
