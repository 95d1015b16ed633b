// Full-text search over messages and tool calls. The user's input is treated as words, never as a
// query language.

import { numberOf, type Sql, textOf } from '../file/sql';
import type { SessionRecord } from '../sessions/records';
import { readSession } from '../sessions/sessionRows';

/**
 * Maximum number of hits that are ranked by relevance. Beyond it the newest come first, as ranking
 * half a million hits for "the" takes too long.
 */
const MAX_RANKED = 1000;
/** Hits that are read to find sessions. */
const MAX_LOOKED_AT = 2000;
const MAX_WORDS = 16;
const MAX_WORD_CHARS = 100;
/** Shorter prefixes match nearly every message. */
const MIN_PREFIX = 3;
const MAX_RESULTS = 200;
const BEGIN = '\u0001';
const END = '\u0002';

/** A part of a snippet. Agent text: never markup. */
export interface SnippetPart {
  readonly text: string;
  readonly hit: boolean;
}

export interface SearchResult {
  readonly session: SessionRecord;
  /** Number of matching messages among those read. */
  readonly hits: number;
  /**
   * The best match: its position and role; `tool` for a tool call. Absent if only the title
   * matches.
   */
  readonly message?: { readonly seq: number; readonly role: 'user' | 'agent' | 'tool' };
  readonly snippet: readonly SnippetPart[];
}

/**
 * Returns the FTS5 query for the user's input; undefined if it has no word. All words must be in
 * one message; the last one can be a prefix; "…" is a phrase. Every word is quoted, so `*`, `AND`,
 * `NEAR(` and so on are plain text.
 */
export function toQuery(text: string): string | undefined {
  const words = [...text.slice(0, 4000).matchAll(/"([^"]*)"|([^\s"]+)/g)]
    .map(([, phrase, word]) => ({ text: (phrase ?? word ?? '').replaceAll('\0', ' '), isPhrase: phrase !== undefined }))
    .filter((word) => /[\p{L}\p{N}]/u.test(word.text))
    .slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  return words
    .map(({ text: word, isPhrase }, index) => {
      const isOpen = index === words.length - 1 && !isPhrase && word.length >= MIN_PREFIX && !/\s$/.test(text);
      return `"${word.slice(0, MAX_WORD_CHARS).replaceAll('"', '')}"${isOpen ? '*' : ''}`;
    })
    .join(' ');
}

/**
 * Returns the sessions that contain a text, best match first, newest first among equals. At most
 * 200.
 */
export function search(sql: Sql, text: string, limit: number): readonly SearchResult[] {
  const query = toQuery(text);
  if (query === undefined) return [];
  const wanted = Math.max(0, Math.min(limit, MAX_RESULTS));
  const found = candidates(sql, query, wanted);
  const keys = new Set([...titled(sql, text, wanted), ...found.keys()]);
  const sessions = [...keys].flatMap((key) => readSession(sql, key) ?? []).slice(0, wanted);
  const hits = sessions.flatMap((session) => found.get(session.key) ?? []);
  const snippets = readSnippets(sql, query, hits);
  return sessions.map((session) => {
    const hit = found.get(session.key);
    if (!hit) return { session, hits: 0, snippet: [] };
    const message = { seq: hit.seq, role: roleOf(hit.role) } as const;
    return { session, hits: hit.hits, message, snippet: toParts(snippets.get(hit.id) ?? '') };
  });
}

function roleOf(role: string): 'user' | 'agent' | 'tool' {
  return role === 'user' || role === 'tool' ? role : 'agent';
}

interface Hit {
  readonly id: number;
  readonly seq: number;
  readonly role: string;
  hits: number;
}

/**
 * Returns the best message of each session, best session first. Reads only as many hits as needed
 * to find enough sessions.
 */
function candidates(sql: Sql, query: string, wanted: number): ReadonlyMap<string, Hit> {
  const newest = `SELECT rowid FROM texts_fts WHERE texts_fts MATCH ? ORDER BY rowid DESC LIMIT ${MAX_LOOKED_AT}`;
  const best = `SELECT rowid FROM texts_fts WHERE texts_fts MATCH ? ORDER BY rank, rowid DESC LIMIT ${MAX_RANKED}`;
  const many = sql.all(newest, query);
  const isFew = many.length <= MAX_RANKED;
  const found = new Map<string, Hit>();
  for (const { rowid } of isFew ? sql.all(best, query) : many) {
    const row = sql.get('SELECT id, key, seq, role FROM texts WHERE id = ?', rowid ?? null);
    const key = textOf(row?.key);
    if (!row || key === undefined) continue;
    const known = found.get(key);
    if (known) known.hits++;
    else if (!isFew && found.size >= wanted) break;
    else found.set(key, { id: Number(row.id), seq: numberOf(row.seq) ?? 0, role: textOf(row.role) ?? '', hits: 1 });
  }
  return found;
}

/** Returns the sessions with the text in their title, among the newest 1,000. */
function titled(sql: Sql, text: string, limit: number): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const rows = sql.all(
    'SELECT key, title FROM sessions WHERE title IS NOT NULL ORDER BY updated DESC, key DESC LIMIT 1000',
  );
  const fitting = rows.filter(({ title }) => textOf(title)?.toLowerCase().includes(wanted));
  return fitting.slice(0, limit).map(({ key }) => textOf(key) ?? '');
}

/**
 * Returns all snippets with a single query: each query would collect all words with the prefix
 * again.
 */
function readSnippets(sql: Sql, query: string, hits: readonly Hit[]): ReadonlyMap<number, string> {
  const ids = hits.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = sql.all(
    `SELECT rowid, snippet(texts_fts, 0, '${BEGIN}', '${END}', '…', 24) AS snippet FROM texts_fts
       WHERE texts_fts MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))`,
    query,
    Math.min(...ids),
    Math.max(...ids),
    JSON.stringify(ids),
  );
  return new Map(rows.map((row) => [Number(row.rowid), textOf(row.snippet) ?? '']));
}

function toParts(marked: string): readonly SnippetPart[] {
  const snippet: SnippetPart[] = [];
  for (const [index, part] of marked.split(BEGIN).entries()) {
    const end = index === 0 ? -1 : part.indexOf(END);
    if (end >= 0) snippet.push({ text: part.slice(0, end), hit: true });
    if (part.length > end + 1) snippet.push({ text: part.slice(end + 1), hit: false });
  }
  return snippet;
}
