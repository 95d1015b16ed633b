// Search over everything that was said: what a user types is words, never a query language.

import { numberOf, type Sql, textOf } from '../file/sql';
import type { SessionRecord } from '../sessions/records';
import { readSession } from '../sessions/sessionRows';

/** Up to this many hits are ranked by how well they fit; of more, the newest ones come first: ranking half a million hits for "the" takes longer than anybody waits. */
const MAX_RANKED = 1000;
/** Hits that are looked at to find sessions. */
const MAX_LOOKED_AT = 2000;
const MAX_WORDS = 16;
const MAX_WORD_CHARS = 100;
/** A shorter beginning of a word fits nearly everything. */
const MIN_PREFIX = 3;
const MAX_RESULTS = 200;
const BEGIN = '\u0001';
const END = '\u0002';

/** A part of a snippet. Text of an agent: never markup. */
export interface SnippetPart {
  readonly text: string;
  readonly hit: boolean;
}

export interface SearchResult {
  readonly session: SessionRecord;
  /** Messages that fit, among those looked at. */
  readonly hits: number;
  /** The best of them: where it begins and who said it; `tool` for what a tool call is about. Absent where only the title fits. */
  readonly message?: { readonly seq: number; readonly role: 'user' | 'agent' | 'tool' };
  readonly snippet: readonly SnippetPart[];
}

/**
 * The FTS5 query for what a user typed, or undefined where it has no word. All words must be in one message; the last one may be unfinished; "…" is a phrase.
 * Every word is quoted, so that `*`, `AND`, `NEAR(` and the like are just text.
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

/** Sessions in which a text was said, best first; among equals the newest. At most 200. */
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

/** The best message of each session, best session first. Of many hits only as many are looked at as it takes to find enough sessions. */
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

/** Sessions whose title has the text in it, of the newest 1,000. */
function titled(sql: Sql, text: string, limit: number): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const rows = sql.all(
    'SELECT key, title FROM sessions WHERE title IS NOT NULL ORDER BY updated DESC, key DESC LIMIT 1000',
  );
  const fitting = rows.filter(({ title }) => textOf(title)?.toLowerCase().includes(wanted));
  return fitting.slice(0, limit).map(({ key }) => textOf(key) ?? '');
}

/** All snippets in one go through the index: each new query would gather all words with that beginning again. */
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
