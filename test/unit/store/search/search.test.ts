// Search in the journal.
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ToolPatch } from '../../../../src/session/events/event';
import type { Journal } from '../../../../src/store/journal';
import { searchWords } from '../../../../src/store/search/search';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { HeldTimers, newSession, openJournal, said, searchIn, timed, turn } from '../../../support/store/journals';
import { seeded } from '../../../support/store/random';

describe('search', () => {
  let folder: string;
  let journal: Journal;
  const found = (text: string): readonly string[] => searchIn(journal, text, 10).map((result) => result.session.key);

  beforeEach(async () => {
    folder = await scratchFolder();
    journal = openJournal(folder);
    for (const key of ['a', 'b', 'c']) journal.saveSession(newSession(key));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  it('finds messages of the user and the agent, with the words marked', () => {
    journal.append('a', turn('t1', 1, 'Where is the greenhouse?', 'Behind the old mill.'));
    journal.append('b', turn('t1', 1, 'Hello', 'The greenhouse is closed.'));
    assert.deepEqual([...found('greenhouse')].sort(), ['a', 'b']);
    assert.deepEqual([...found('greenh')].sort(), ['a', 'b']);
    assert.deepEqual(found('OLD mill'), ['a']);
    const [first] = searchIn(journal, 'mill', 10);
    assert.deepEqual(first?.message, { seq: 3, role: 'agent' });
    assert.deepEqual(first?.snippet, [
      { text: 'Behind the old ', hit: false },
      { text: 'mill', hit: true },
      { text: '.', hit: false },
    ]);
  });

  it('finds a word that arrived in two chunks, in two flushes or in two rows', () => {
    journal.append('a', timed(1, { type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, said('some butter')));
    journal.flush();
    assert.deepEqual(found('butterfly'), []);
    journal.append('a', timed(5, said(`fly ${'filler '.repeat(1300)}`), said('and a dragon')));
    journal.append('a', timed(7, said('fly')));
    journal.append(
      'a',
      timed(9, { type: 'turn_ended', turnId: 't1', stopReason: 'end_turn', barrier: 'state', at: 9 }),
    );
    assert.deepEqual(found('butterfly'), ['a']);
    assert.deepEqual(found('dragonfly'), ['a']);
  });

  it('finds whole messages, and ignores thoughts', () => {
    const content = [{ type: 'text', text: 'whole walnut' }] as const;
    const thought = { type: 'message_chunk', role: 'thought', block: { type: 'text', text: 'hidden hazel' } } as const;
    journal.append(
      'a',
      timed(1, { type: 'message', role: 'agent', messageId: 'm', content }, thought, { type: 'cleared' }),
    );
    assert.deepEqual(found('walnut'), ['a']);
    assert.deepEqual(found('hazel'), []);
  });

  it('finds tool calls by their title, command and paths, with their position', () => {
    const call = (toolCallId: string, patch: ToolPatch) =>
      ({ type: 'tool_call', toolCallId, patch, announced: true }) as const;
    journal.append(
      'a',
      timed(
        1,
        call('1', { title: 'Terminal', rawInput: { command: ['npm', 'run', 'typecheck'] } }),
        call('2', {
          title: 'Read fox.ts',
          locations: [{ path: '/work/src/deep/fox.ts' }],
          rawInput: { deep: 'hidden' },
        }),
        call('1', { status: 'completed', rawOutput: { stdout: 'hidden' } }),
      ),
    );
    assert.deepEqual(found('npm typecheck'), ['a']);
    assert.deepEqual(found('deep/fox.ts'), ['a']);
    assert.deepEqual(found('hidden'), []);
    const [hit] = searchIn(journal, 'fox', 10);
    assert.deepEqual([hit?.hits, hit?.message], [1, { seq: 2, role: 'tool' }]);
  });

  it('indexes a bounded number of rows in a search, newest sessions first, and the rest by timer', () => {
    const timers = new HeldTimers();
    let now = 1000;
    const other = openJournal(folder, { schedule: timers.schedule, now: () => now });
    const keys = Array.from({ length: 12 }, (_, number) => `many-${number}`);
    for (const key of keys) {
      other.saveSession(newSession(key));
      const calls = Array.from({ length: 40 }, (_, number) => ({
        type: 'tool_call' as const,
        toolCallId: `${number}`,
        patch: { title: `Read part${number}.ts` },
        announced: true,
      }));
      now += 1000;
      other.append(key, [...turn('t1', now, `the question of ${key}`, 'an answer'), ...timed(now, ...calls)]);
    }
    other.flush();
    const raw = new DatabaseSync(join(folder, 'parley.db'));
    const rows = (): number => Number(raw.prepare('SELECT count(*) AS n FROM texts').get()?.n);
    const first = searchIn(other, 'part39', 50);
    assert.ok(rows() > 0 && rows() <= 100, `${rows()} rows in one search`);
    assert.deepEqual(
      first.map((result) => result.session.key),
      ['many-11'],
    );
    while (searchIn(other, 'part39', 50).length < keys.length && timers.count > 0) timers.runFirst();
    assert.deepEqual(
      [rows(), searchIn(other, 'part39', 50).length, searchIn(other, 'question', 50).length],
      [keys.length * 42, keys.length, keys.length],
    );
    raw.close();
    other.dispose();
  });

  it('indexes a bounded amount of text in a step, however little space it takes on the disk', () => {
    const timers = new HeldTimers();
    const other = openJournal(folder, { schedule: timers.schedule });
    for (let number = 0; number < 50; number++)
      other.append('a', turn(`t${number}`, number, 'and', 'the same words '.repeat(5000)));
    other.flush();
    const raw = new DatabaseSync(join(folder, 'parley.db'));
    const indexed = (): number => Number(raw.prepare('SELECT sum(length(text)) AS n FROM texts').get()?.n);
    searchIn(other, 'words', 1);
    let most = indexed();
    for (let before = most; timers.count > 0 && before < 3_000_000; before = indexed()) {
      timers.runFirst();
      most = Math.max(most, indexed() - before);
    }
    assert.ok(indexed() > 3_000_000 && most <= 128 * 1024, `${most} characters in one step`);
    raw.close();
    other.dispose();
  });

  it('indexes a whole message even if a step ends within it', () => {
    const before = Array.from({ length: 98 }, (_, number) => said(`filler${number}`, `m${number}`));
    const random = seeded(5);
    const noise = (): string => Array.from({ length: 700 }, () => random(2 ** 31).toString(36)).join(' ');
    const long = Array.from({ length: 8 }, (_, number) => said(`${noise()} split${number} `, 'long'));
    journal.append('a', timed(1, ...before, ...long, said('an end', 'end')));
    assert.deepEqual(found('split0'), [], 'a search takes a part');
    for (const number of long.keys()) assert.deepEqual(found(`split${number}`), ['a']);
    const raw = new DatabaseSync(join(folder, 'parley.db'));
    const begins = raw.prepare("SELECT count(DISTINCT seq) AS n FROM texts WHERE text LIKE '%split%'").get();
    assert.equal(begins?.n, 1);
    raw.close();
  });

  it('finds restored entries', () => {
    const block = { type: 'text', text: 'a restored raven' } as const;
    const events = [{ type: 'message_chunk', role: 'agent', block }] as const;
    journal.append(
      'a',
      timed(
        1,
        said('The ans'),
        { type: 'restored', entryId: 'e0', text: 'wer of the owl' },
        { type: 'restored', entryId: 'e0', events },
      ),
    );
    assert.deepEqual(found('owl'), ['a']);
    assert.deepEqual(found('raven'), ['a']);
  });

  it('finds the last writes of a killed process', () => {
    journal.append('a', timed(1, said('the last words')));
    journal.flush();
    assert.deepEqual(found('words'), []);
    const after = openJournal(folder);
    after.claim('a', 'w2');
    assert.deepEqual(
      searchIn(after, 'words', 5).map((result) => result.session.key),
      ['a'],
    );
    after.dispose();
  });

  it('treats operators of the query language as plain words', () => {
    journal.append('a', turn('t1', 1, 'C++ and "quotes" NOT here', 'a AND b OR c; user:name foo.bar(baz) 50% *star*'));
    const typed = [
      'C++',
      '"quotes',
      'NOT here',
      'a AND b',
      'user:name',
      'foo.bar(',
      '50%',
      '*star*',
      '"a AND b"',
      "b'",
      'NEAR(a b)',
    ];
    for (const text of typed.slice(0, 9)) assert.deepEqual(found(text), ['a'], text);
    for (const text of [
      ...typed,
      '"',
      '""',
      '*',
      '(',
      '-',
      '^',
      '{}',
      '\0',
      '',
      ' ',
      'x'.repeat(10_000),
      'a '.repeat(5000),
    ]) {
      assert.ok(Array.isArray(searchIn(journal, text, 10)), text);
    }
    for (const text of ['"', '*', '-', '', '()']) assert.deepEqual(searchWords(text), []);
    const random = seeded(3);
    for (let step = 0; step < 500; step++) {
      const signs = Array.from({ length: random(12) }, () =>
        String.fromCodePoint(random(3) === 0 ? random(0x3000) : 32 + random(95)),
      );
      searchIn(journal, signs.join(''), 3);
    }
  });

  it('keeps agent text free of markup, and ignores its control characters', () => {
    journal.append('a', turn('t1', 1, 'x', 'evil \u0001<b>needle</b>\u0002 end'));
    assert.deepEqual(searchIn(journal, 'needle', 1)[0]?.snippet, [
      { text: 'evil  <b>', hit: false },
      { text: 'needle', hit: true },
      { text: '</b>  end', hit: false },
    ]);
  });

  it('ranks a match in the title first, and close matches before scattered ones', () => {
    journal.append('a', turn('t1', 1, 'x', `${'filler '.repeat(300)} parser`));
    journal.append('b', turn('t1', 1, 'parser', 'the parser is a parser'));
    journal.updateSession('c', { title: 'Fix the Parser' });
    assert.deepEqual(found('parser'), ['c', 'b', 'a']);
  });

  it('recovers from a damaged index', () => {
    journal.append('a', turn('t1', 1, 'aardvark', 'needle'));
    assert.deepEqual(found('needle'), ['a']);
    journal.dispose();
    // The first word of a leaf page of the index, with its prefix; three bytes before it is the
    // page size.
    const path = join(folder, 'parley.db');
    const bytes = readFileSync(path);
    const at = bytes.indexOf('0aardvark');
    assert.ok(at > 0);
    bytes.writeUInt16BE(0xfff0, at - 3);
    writeFileSync(path, bytes);
    journal = openJournal(folder);
    assert.deepEqual(found('needle'), ['a']);
    assert.equal(journal.state.kind, 'durable');
    assert.equal(journal.events('a').events.length, 5);
  });
});
