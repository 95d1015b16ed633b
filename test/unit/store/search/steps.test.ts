// Search in many sessions: the cost of a step, the order of results, and agreement with FTS5.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { Sql } from '../../../../src/store/file/sql';
import type { Journal } from '../../../../src/store/journal';
import type { Run } from '../../../../src/store/search/search';
import { lastOf, type SearchResult, search } from '../../../../src/store/search/search';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal } from '../../../support/store/journals';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

describe('the steps of a search', () => {
  let folder: string;
  let journal: Journal;
  let sql: Sql;
  let queries = 0;
  let longest = 0;
  const run: Run = (query) => {
    queries += 1;
    return query(
      new Proxy(sql, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]): unknown => {
            const result: unknown = value.apply(target, args);
            if (Array.isArray(result)) longest = Math.max(longest, result.length);
            return result;
          };
        },
      }),
    );
  };

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    sql = new Sql(join(folder, 'parley.db'));
    queries = 0;
    longest = 0;
  });

  afterEach(async () => {
    sql.close();
    journal.dispose();
    await removeScratch();
  });

  function write(id: number, key: string, text: string): void {
    if (sql.get('SELECT 1 FROM sessions WHERE key = ?', key) === undefined) journal.saveSession(newSession(key));
    sql.insert('texts', { id, key, seq: id, role: 'agent', text });
  }

  const keysOf = (results: readonly SearchResult[]): readonly string[] => results.map(({ session }) => session.key);

  it('query the database a few times each', () => {
    for (let id = 1; id <= 400; id++) write(id, `s${id % 40}`, `common word${id} again`);
    for (const text of ['common', 'wor', 'common again', '"common word7" agai', 'none']) {
      const steps = search(run, text, 50);
      for (let before = queries; !steps.next().done; before = queries)
        assert.ok(queries - before <= 5, `${queries - before} queries in a step of ${text}`);
    }
    assert.ok(queries > 400);
  });

  it('yield the newest matches before everything was searched', () => {
    write(900_000, 'new', 'the walrus is new');
    write(450_000, 'older', 'the walrus is older');
    write(1, 'oldest', 'the walrus is oldest, a walrus');
    const lists: string[] = [];
    for (const found of search(run, 'walrus', 50)) if (found) lists.push(keysOf(found).join());
    assert.deepEqual(lists, ['', 'new', 'new,older', 'oldest,new,older']);
  });

  it('find every word with a prefix, however many there are', () => {
    for (let id = 1; id <= 300; id++) write(id, `s${id}`, `prefix${1000 + id} common`);
    assert.equal(lastOf(search(run, 'prefi', 200)).length, 200);
    const [hit] = lastOf(search(run, 'common prefix1008', 1));
    assert.deepEqual(hit?.snippet, [
      { text: 'prefix1008', hit: true },
      { text: ' ', hit: false },
      { text: 'common', hit: true },
    ]);
  });

  it('read at most the newest two thousand texts if nearly all match', () => {
    for (const key of ['old', 'new']) journal.saveSession(newSession(key));
    sql.transaction(() => {
      for (let id = 1; id <= 5000; id++) write(id, id > 4000 ? 'new' : 'old', 'common words');
    });
    const [first, ...others] = lastOf(search(run, 'common', 50));
    assert.deepEqual([first?.session.key, first?.hits, first?.message?.seq], ['new', 1000, 5000]);
    assert.deepEqual(
      others.map(({ session, hits }) => [session.key, hits]),
      [['old', 1000]],
    );
    assert.ok(longest <= 2000, `${longest} rows at once`);
  });

  it('find the same as FTS5', () => {
    const random = seeded(11);
    const parts = [
      'ka',
      'lo',
      'mí',
      'Ren',
      'ß',
      '漢字',
      'σας',
      'ΟΔΟΣ',
      'İs',
      'foo.bar',
      '7',
      "d'or",
      'हिन्दी',
      '한국어',
      'e\u0301te',
    ];
    const word = (): string => Array.from({ length: 1 + random(3) }, () => parts[random(parts.length)] ?? '').join('');
    const texts = new Map<number, string>();
    for (let id = 1; id <= 300; id++) {
      const text = Array.from({ length: 1 + random(6) }, word).join(random(4) === 0 ? ', ' : ' ');
      texts.set(id, text);
      write(id, `s${id}`, text);
    }
    let hits = 0;
    for (let query = 0; query < seeds(60, 300); query++) {
      const from = texts.get(1 + random(300)) ?? '';
      const typed = from
        .split(' ')
        .slice(0, 1 + random(2))
        .join(' ')
        .slice(0, 3 + random(12))
        .trim();
      const last = /(?:^|\s)([^\s"]+)$/.exec(typed)?.[1] ?? '';
      // Prefixes of one or two letters are searched as words.
      if (!/[\p{L}\p{N}]{3}$/u.test(last)) continue;
      const words = typed.split(/\s+/).filter((one) => /[\p{L}\p{N}]/u.test(one));
      const match = words.map((one, index) => `"${one}"${index === words.length - 1 ? '*' : ''}`).join(' ');
      const expected = sql.lists('SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?', match).map(([id]) => `s${id}`);
      const found = keysOf(lastOf(search(run, typed, 200)));
      assert.deepEqual([...found].sort(), expected.slice(0, 200).sort(), JSON.stringify(typed));
      hits += found.length;
    }
    assert.ok(hits > 300, `${hits} hits`);
  });
});
