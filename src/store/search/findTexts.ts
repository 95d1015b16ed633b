// Finds the texts that have all words, newest first, in steps of a few milliseconds each. SQLite cannot
// be interrupted, and for the beginning of a word FTS5 first collects every place of every word that
// begins so. So the words are looked up one by one, and then looked for in ranges of texts.
import { TOKENIZER } from '../file/schema';
import { numberOf, type Sql, textOf } from '../file/sql';
import type { SearchWord } from './searchWords';

export type Run = <T>(query: (sql: Sql) => T) => T;

const RANGE = 100_000;
const WORDS_AT_ONCE = 64;
const MAX_WORDS = 20_000;
/** Every word of the index, and what was typed, split alike; for this connection only. */
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

/** Returns queries of FTS5 that together find everything. Each word is quoted: signs mean nothing. */
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

/** Returns the words of the index that begin with some letters. */
function* termsLike(run: Run, beginning: string): Generator<undefined, readonly string[]> {
  const terms: string[] = [];
  for (let from = beginning; terms.length < MAX_WORDS; ) {
    const row = run((sql) => sql.get('SELECT term FROM temp.index_words WHERE term >= ? LIMIT 1', from));
    const term = textOf(row?.term);
    if (!term?.startsWith(beginning)) break;
    terms.push(term);
    // No letter is smaller.
    from = `${term}\u0001`;
    yield undefined;
  }
  return terms;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}
