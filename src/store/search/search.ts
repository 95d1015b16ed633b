// Full-text search over messages and tool calls, in steps of a few milliseconds: who runs it decides
// what else happens in between, and whether it goes on.
import { numberOf, textOf } from '../file/sql';
import type { SessionRecord } from '../sessions/records';
import { readSession } from '../sessions/sessionRows';
import { findTexts, type Run } from './findTexts';
import { type SnippetPart, scoreOf, snippetOf } from './matchText';
import { type SearchWord, searchWords } from './searchWords';

/**
 * Hits that are ranked by relevance; beyond it, newest first: ranking half a million takes too
 * long.
 */
const MAX_RANKED = 1000;
const MAX_LOOKED_AT = 2000;
const MAX_RESULTS = 200;

export interface SearchResult {
  readonly session: SessionRecord;
  readonly hits: number;
  /** The best match; absent if only the title matches. */
  readonly message?: { readonly seq: number; readonly role: 'user' | 'agent' | 'tool' };
  readonly snippet: readonly SnippetPart[];
}

/** A search in steps: what is found so far, where there is more than before; undefined after other steps. */
export type SearchSteps = Generator<readonly SearchResult[] | undefined, readonly SearchResult[]>;

export function lastOf(steps: SearchSteps): readonly SearchResult[] {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Best match first, then newest. All words must be in one message; the last can be a prefix. At
 * most 200.
 */
export function* search(run: Run, text: string, limit: number): SearchSteps {
  const words = searchWords(text);
  if (words.length === 0) return [];
  const wanted = Math.max(0, Math.min(limit, MAX_RESULTS));
  const results = new Results(run, titled(run, text, wanted), words, wanted);
  yield yield* results.list();
  for (const ids of findTexts(run, words, MAX_LOOKED_AT)) {
    for (const id of ids ?? []) {
      if (results.isEnough) break;
      results.take(id);
      yield undefined;
    }
    if (results.isEnough) break;
    yield ids && (yield* results.list());
  }
  return yield* results.list();
}

interface Hit {
  readonly id: number;
  readonly seq: number;
  readonly role: string;
  readonly score: number;
}

interface SessionHits {
  readonly newest: Hit;
  best: Hit;
  count: number;
}

class Results {
  readonly #run: Run;
  readonly #titled: readonly string[];
  readonly #words: readonly SearchWord[];
  readonly #wanted: number;
  readonly #found = new Map<string, SessionHits>();
  readonly #snippets = new Map<number, readonly SnippetPart[]>();
  #count = 0;

  constructor(run: Run, titled: readonly string[], words: readonly SearchWord[], wanted: number) {
    this.#run = run;
    this.#titled = titled;
    this.#words = words;
    this.#wanted = wanted;
  }

  get isEnough(): boolean {
    return !this.#isRanked && this.#found.size >= this.#wanted;
  }

  get #isRanked(): boolean {
    return this.#count <= MAX_RANKED;
  }

  /** Takes a text that was found: the newest first. */
  take(id: number): void {
    const row = this.#run((sql) => sql.get('SELECT key, seq, role, text FROM texts WHERE id = ?', id));
    const key = textOf(row?.key);
    // Deleted in the meantime.
    if (!row || key === undefined) return;
    this.#count += 1;
    const known = this.#found.get(key);
    if (!known && this.isEnough) return;
    const score = this.#isRanked ? scoreOf(textOf(row.text) ?? '', this.#words) : 0;
    const hit = { id, seq: numberOf(row.seq) ?? 0, role: textOf(row.role) ?? '', score };
    if (!known) this.#found.set(key, { newest: hit, best: hit, count: 1 });
    else {
      known.count += 1;
      if (score > known.best.score) known.best = hit;
    }
  }

  *list(): SearchSteps {
    const found = [...this.#found];
    if (this.#isRanked) found.sort(([, a], [, b]) => b.best.score - a.best.score || b.best.id - a.best.id);
    const keys = [...new Set([...this.#titled, ...found.map(([key]) => key)])];
    const results: SearchResult[] = [];
    for (const key of keys) {
      if (results.length >= this.#wanted) break;
      const session = this.#run((sql) => readSession(sql, key));
      if (session) results.push(this.#resultOf(session));
      yield undefined;
    }
    return results;
  }

  #resultOf(session: SessionRecord): SearchResult {
    const hits = this.#found.get(session.key);
    if (!hits) return { session, hits: 0, snippet: [] };
    const { id, seq, role } = this.#isRanked ? hits.best : hits.newest;
    return { session, hits: hits.count, message: { seq, role: roleOf(role) }, snippet: this.#snippetOf(id) };
  }

  #snippetOf(id: number): readonly SnippetPart[] {
    const known = this.#snippets.get(id);
    if (known) return known;
    const row = this.#run((sql) => sql.get('SELECT text FROM texts WHERE id = ?', id));
    const snippet = snippetOf(textOf(row?.text) ?? '', this.#words);
    this.#snippets.set(id, snippet);
    return snippet;
  }
}

function roleOf(role: string): 'user' | 'agent' | 'tool' {
  return role === 'user' || role === 'tool' ? role : 'agent';
}

function titled(run: Run, text: string, limit: number): readonly string[] {
  const wanted = text.trim().toLowerCase();
  const rows = run((sql) =>
    sql.all('SELECT key, title FROM sessions WHERE title IS NOT NULL ORDER BY updated DESC, key DESC LIMIT 1000'),
  );
  const fitting = rows.filter(({ title }) => textOf(title)?.toLowerCase().includes(wanted));
  return fitting.slice(0, limit).map(({ key }) => textOf(key) ?? '');
}
