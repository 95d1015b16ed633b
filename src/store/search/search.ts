// Full-text search over messages and tool calls, in steps of a few milliseconds, so that the caller
// can run other work in between or stop.

import { TOKENIZER } from '../file/schema';
import { numberOf, type Sql, textOf } from '../file/sql';
import type { SessionRecord } from '../sessions/records';
import { readSession } from '../sessions/sessionRows';

// index divides them (FTS5's unicode61).

const MIN_PREFIX = 3;
const MAX_TYPED_WORDS = 16;
const MAX_WORD_CHARS = 100;
const MAX_TYPED = 4000;
/** Letters, digits, private characters and combining marks; everything else separates words. */
const TOKEN = /[\p{L}\p{N}\p{Co}](?:[\p{L}\p{N}\p{Co}]|[\u0300-\u036f])*/gu;
const ASCII = /^[\0-\x7f]*$/;

export interface SearchWord {
  readonly text: string;
  readonly tokens: readonly string[];
  /** The last token may be a prefix. */
  readonly isOpen: boolean;
}

export interface Token {
  readonly term: string;
  readonly from: number;
  readonly to: number;
}

/** "…" is a phrase, and so is a word with punctuation. No character has a special meaning. */
export function searchWords(typed: string): readonly SearchWord[] {
  const words = [...typed.slice(0, MAX_TYPED).matchAll(/"([^"]*)"|([^\s"]+)/g)]
    .map(([, phrase, word]) => ({
      text: (phrase ?? word ?? '').replaceAll('\0', ' ').slice(0, MAX_WORD_CHARS).toWellFormed(),
      isPhrase: phrase !== undefined,
    }))
    .map((word) => ({ ...word, tokens: tokensOf(word.text).map(({ term }) => term) }))
    .filter(({ tokens }) => tokens.length > 0)
    .slice(0, MAX_TYPED_WORDS);
  return words.map(({ text, isPhrase, tokens }, index) => {
    const isLast = index === words.length - 1 && !isPhrase && !/\s$/.test(typed);
    return { text, tokens, isOpen: isLast && (tokens.at(-1)?.length ?? 0) >= MIN_PREFIX };
  });
}

export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { index, 0: token } of text.matchAll(TOKEN))
    tokens.push({ term: folded(token), from: index, to: index + token.length });
  return tokens;
}

function folded(token: string): string {
  if (ASCII.test(token)) return token.toLowerCase();
  // Per letter: a sigma becomes another letter at the end of a word. Composed again for scripts
  // whose letters have parts.
  const lower = Array.from(token.normalize('NFD'), (letter) => letter.toLowerCase()).join('');
  return lower
    .replace(/[\u0300-\u036f]+/g, '')
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}

const SNIPPET_WORDS = 24;
/** BM25 parameters, as in the index: saturation of term frequency, and weight of length. */
const K = 1.2;
const B = 0.75;
const USUAL_WORDS = 60;

export interface SnippetPart {
  readonly text: string;
  readonly hit: boolean;
}

/** Token positions of a match, the last one included. */
interface Match {
  readonly word: number;
  readonly first: number;
  readonly last: number;
}

/** Returns the relevance of a text that has all words; greater is better. */
export function scoreOf(text: string, words: readonly SearchWord[]): number {
  const tokens = tokensOf(text);
  const counts = new Array<number>(words.length).fill(0);
  for (const { word } of matchesOf(tokens, words)) counts[word] = (counts[word] ?? 0) + 1;
  const length = K * (1 - B + (B * tokens.length) / USUAL_WORDS);
  return counts.reduce((sum, count) => sum + (count * (K + 1)) / (count + length), 0);
}

/** Returns the part of a text with the most words, marked. */
export function snippetOf(text: string, words: readonly SearchWord[]): readonly SnippetPart[] {
  const tokens = tokensOf(text);
  const matches = matchesOf(tokens, words);
  const start = startOf(matches, tokens.length);
  const end = Math.min(tokens.length, start + SNIPPET_WORDS);
  const from = start === 0 ? 0 : (tokens[start]?.from ?? 0);
  const to = end === tokens.length ? text.length : (tokens[end - 1]?.to ?? text.length);
  const parts: SnippetPart[] = [];
  const add = (part: string, hit: boolean): void => {
    if (part !== '') parts.push({ text: part, hit });
  };
  let done = from;
  for (const { first, last } of matches) {
    if (first < start || last >= end) continue;
    const begin = Math.max(done, tokens[first]?.from ?? 0);
    const finish = tokens[last]?.to ?? 0;
    if (finish <= done) continue;
    add(text.slice(done, begin), false);
    add(text.slice(begin, finish), true);
    done = finish;
  }
  add(text.slice(done, to), false);
  if (start > 0) addText(parts, 0, '…');
  if (to < text.length) addText(parts, parts.length, '…');
  return parts;
}

function addText(parts: SnippetPart[], at: number, text: string): void {
  const index = at === 0 ? 0 : at - 1;
  const beside = parts[index];
  if (!beside || beside.hit) parts.splice(at, 0, { text, hit: false });
  else parts[index] = { text: at === 0 ? text + beside.text : beside.text + text, hit: false };
}

function matchesOf(tokens: readonly Token[], words: readonly SearchWord[]): readonly Match[] {
  const matches: Match[] = [];
  for (let first = 0; first < tokens.length; first++)
    for (const [word, { tokens: wanted, isOpen }] of words.entries()) {
      const fits = wanted.every((term, index) => {
        const found = tokens[first + index]?.term;
        return found === term || (isOpen && index === wanted.length - 1 && found?.startsWith(term) === true);
      });
      if (fits) matches.push({ word, first, last: first + wanted.length - 1 });
    }
  return matches;
}

/** Returns the start of the snippet: the window with most different words, centred. */
function startOf(matches: readonly Match[], count: number): number {
  let best = { words: 0, first: 0, last: 0 };
  for (const [index, { first }] of matches.entries()) {
    const words = new Set<number>();
    let last = first;
    for (let next = index; next < matches.length; next++) {
      const match = matches[next];
      if (!match || match.last - first >= SNIPPET_WORDS) break;
      words.add(match.word);
      last = Math.max(last, match.last);
    }
    if (words.size > best.words) best = { words: words.size, first, last };
  }
  const before = Math.max(0, Math.floor((SNIPPET_WORDS - (best.last - best.first + 1)) / 2));
  return Math.max(0, Math.min(best.first - before, count - SNIPPET_WORDS));
}

export type Run = <T>(query: (sql: Sql) => T) => T;

const RANGE = 100_000;
const WORDS_AT_ONCE = 64;
const MAX_WORDS = 20_000;
/** All words of the index, and the query split the same way; for this connection only. */
const INDEX_WORDS = `
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.index_words USING fts5vocab('main', 'texts_fts', 'instance');
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.typed USING fts5 (text, tokenize = '${TOKENIZER}');
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.typed_words USING fts5vocab('temp', 'typed', 'instance')`;

/** Yields ids of texts, newest first in each range; undefined after other steps. */
export function* findTexts(
  run: Run,
  words: readonly SearchWord[],
  most: number,
): Generator<readonly number[] | undefined, void> {
  const oldest = numberOf(run((sql) => sql.get('SELECT min(id) AS id FROM texts'))?.id);
  const newest = numberOf(run((sql) => sql.get('SELECT max(id) AS id FROM texts'))?.id);
  if (oldest === undefined || newest === undefined) return;
  const queries = yield* queriesFor(run, words);
  let left = most;
  for (let to = newest; to >= oldest && left > 0; to -= RANGE) {
    const ids = new Set<number>();
    for (const query of queries) {
      const limit = left;
      const found = run((sql) =>
        sql.lists(
          'SELECT rowid FROM texts_fts WHERE texts_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?',
          query,
          to - RANGE + 1,
          to,
          limit,
        ),
      );
      for (const [id] of found) ids.add(numberOf(id) ?? 0);
      yield undefined;
    }
    const some = [...ids].sort((a, b) => b - a).slice(0, left);
    left -= some.length;
    if (some.length > 0) yield some;
  }
}

/** Returns FTS5 queries that together find everything. Words are quoted, to have no operators. */
function* queriesFor(run: Run, words: readonly SearchWord[]): Generator<undefined, readonly string[]> {
  const last = words.at(-1);
  const typed = last?.isOpen ? run((sql) => divided(sql, last.text)) : [];
  const beginning = typed.at(-1);
  const whole = beginning === undefined ? words : words.slice(0, -1);
  const closed = whole.map(({ text }) => quoted(text)).join(' AND ');
  if (beginning === undefined) return [closed];
  const terms = yield* termsLike(run, beginning);
  const before = typed.slice(0, -1).join(' ');
  const queries: string[] = [];
  for (let from = 0; from < terms.length; from += WORDS_AT_ONCE) {
    const some = terms.slice(from, from + WORDS_AT_ONCE).map((term) => quoted(`${before} ${term}`));
    const any = `(${some.join(' OR ')})`;
    queries.push(closed === '' ? any : `${closed} AND ${any}`);
  }
  return queries;
}

function divided(sql: Sql, text: string): readonly string[] {
  sql.exec(INDEX_WORDS);
  sql.run('DELETE FROM temp.typed');
  sql.run('INSERT INTO temp.typed (text) VALUES (?)', text);
  return sql.lists('SELECT term FROM temp.typed_words ORDER BY offset').map(([term]) => textOf(term) ?? '');
}

function* termsLike(run: Run, beginning: string): Generator<undefined, readonly string[]> {
  const terms: string[] = [];
  for (let from = beginning; terms.length < MAX_WORDS; ) {
    const row = run((sql) => sql.get('SELECT term FROM temp.index_words WHERE term >= ? LIMIT 1', from));
    const term = textOf(row?.term);
    if (!term?.startsWith(beginning)) break;
    terms.push(term);
    // The smallest character.
    from = `${term}\u0001`;
    yield undefined;
  }
  return terms;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}

/** Hits to rank by relevance; beyond it, newest first: ranking half a million takes too long. */
const MAX_RANKED = 1000;
const MAX_LOOKED_AT = 2000;
const MAX_RESULTS = 200;

export interface SearchResult {
  readonly session: SessionRecord;
  readonly hits: number;
  readonly message?: { readonly seq: number; readonly role: 'user' | 'agent' | 'tool' };
  readonly snippet: readonly SnippetPart[];
}

/** Yields the matches so far if there are more than before, else undefined. */
export type SearchSteps = Generator<readonly SearchResult[] | undefined, readonly SearchResult[]>;

export function lastOf(steps: SearchSteps): readonly SearchResult[] {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Best match first, then newest, at most 200. All words must be in one message; the last can be a
 * prefix.
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
  readonly #titleMatches: readonly string[];
  readonly #words: readonly SearchWord[];
  readonly #limit: number;
  readonly #hitsBySession = new Map<string, SessionHits>();
  readonly #snippets = new Map<number, readonly SnippetPart[]>();
  #count = 0;

  constructor(run: Run, titled: readonly string[], words: readonly SearchWord[], wanted: number) {
    this.#run = run;
    this.#titleMatches = titled;
    this.#words = words;
    this.#limit = wanted;
  }

  get isEnough(): boolean {
    return !this.#isRanked && this.#hitsBySession.size >= this.#limit;
  }

  get #isRanked(): boolean {
    return this.#count <= MAX_RANKED;
  }

  take(id: number): void {
    const row = this.#run((sql) => sql.get('SELECT key, seq, role, text FROM texts WHERE id = ?', id));
    const key = textOf(row?.key);
    // Deleted since.
    if (!row || key === undefined) return;
    this.#count += 1;
    const known = this.#hitsBySession.get(key);
    if (!known && this.isEnough) return;
    const score = this.#isRanked ? scoreOf(textOf(row.text) ?? '', this.#words) : 0;
    const hit = { id, seq: numberOf(row.seq) ?? 0, role: textOf(row.role) ?? '', score };
    if (!known) this.#hitsBySession.set(key, { newest: hit, best: hit, count: 1 });
    else {
      known.count += 1;
      if (score > known.best.score) known.best = hit;
    }
  }

  *list(): SearchSteps {
    const found = [...this.#hitsBySession];
    if (this.#isRanked) found.sort(([, a], [, b]) => b.best.score - a.best.score || b.best.id - a.best.id);
    const keys = [...new Set([...this.#titleMatches, ...found.map(([key]) => key)])];
    const results: SearchResult[] = [];
    for (const key of keys) {
      if (results.length >= this.#limit) break;
      const session = this.#run((sql) => readSession(sql, key));
      if (session) results.push(this.#resultOf(session));
      yield undefined;
    }
    return results;
  }

  #resultOf(session: SessionRecord): SearchResult {
    const hits = this.#hitsBySession.get(session.key);
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
