// Failures of disk, file and process: acknowledged data is kept, and the user is notified.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { ParleyError } from '../../../src/base/errors';
import type { JournalState } from '../../../src/store/backing';
import { isNetworkFolder } from '../../../src/store/file/journalFile';
import { MIGRATIONS, migrate } from '../../../src/store/file/schema';
import { Sql } from '../../../src/store/file/sql';
import { Journal } from '../../../src/store/journal';
import { pluck } from '../../support/pluck';
import { removeScratch, scratchFolder } from '../../support/scratch';
import {
  HeldTimers,
  modelOf,
  newSession,
  openJournal,
  queued,
  said,
  searchIn,
  stateOf,
  textIn,
  timed,
  turn,
} from '../../support/store/journals';
import { seeded } from '../../support/store/random';
import { WorkerProgram } from '../../support/store/spawnWorker';
import { seeds } from '../../support/tier';

describe('a journal with a failing disk, file or process', function () {
  this.timeout(60_000);
  let program: WorkerProgram;
  let folder: string;
  let path: string;
  const open: Journal[] = [];

  function start(options: Parameters<typeof openJournal>[1] = {}): Journal {
    const journal = openJournal(folder, options);
    open.push(journal);
    return journal;
  }

  function filled(): void {
    const journal = start();
    journal.saveSession(newSession('a'));
    for (let index = 0; index < 50; index++)
      journal.append('a', turn(`t${index}`, index, 'hello', 'world '.repeat(200)));
    journal.queue.enqueue('a', queued('q1'));
    journal.dispose();
  }

  before(async () => {
    program = await WorkerProgram.make();
  });

  after(() => program.dispose());

  beforeEach(async () => {
    folder = await scratchFolder();
    path = join(folder, 'parley.db');
  });

  afterEach(async () => {
    for (const journal of open.splice(0)) journal.dispose();
    await removeScratch();
  });

  it('keeps everything acknowledged exactly once when the process is killed', async () => {
    const random = seeded(11);
    for (let round = 0; round < seeds(2, 8); round++) {
      const key = `k${round}`;
      const worker = program.start(['write', folder, key]);
      const promised: unknown[] = [];
      for (let line = 5 + random(120); line > 0; line--) promised.push(await worker.next());
      promised.push(...(await worker.kill()));
      const acked = promised.length;
      const journal = start();
      const numbers = textIn(journal.events(key).events).split(',.').slice(0, -1).map(Number);
      assert.ok(numbers.length === acked || numbers.length === acked + 1, `${numbers.length} of ${acked}`);
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => index),
      );
      const ids = journal.queue.items(key).map((item) => Number(item.id.slice(1)));
      const removed = (number: number, count: number): boolean => number % 10 === 0 && number + 9 < count;
      const expected = (count: number): number[] =>
        Array.from({ length: count }, (_, number) => number).filter((number) => !removed(number, count));
      const possible = [expected(acked), expected(acked + 1), [...expected(acked), acked]];
      assert.ok(
        possible.some((list) => JSON.stringify(list) === JSON.stringify(ids)),
        `${acked}: ${ids}`,
      );
      assert.deepEqual(journal.state, { kind: 'durable' });
      journal.dispose();
    }
  });

  it('keeps streamed text up to a moment before the process was killed, once and in order', async () => {
    const random = seeded(12);
    for (let round = 0; round < seeds(2, 6); round++) {
      const key = `s${round}`;
      const worker = program.start(['stream', folder, key]);
      let promised = 0;
      for (let line = 10 + random(150); line > 0; line--) promised = Number(await worker.next());
      for (const more of await worker.kill()) promised = Math.max(promised, Number(more));
      const journal = start();
      const { events } = journal.events(key);
      const { state } = modelOf(events);
      const count = textIn(events).split(',').length - 1;
      assert.ok(count >= promised, `${count} of ${promised}`);
      const numbers = (step: number, below: number): number[] =>
        Array.from({ length: Math.ceil(below / step) }, (_, index) => index * step);
      assert.equal(textIn(events), numbers(1, count).join(',').concat(','));
      const outputs = state.terminals.get('t1')?.output.split(';').slice(0, -1).map(Number) ?? [];
      assert.deepEqual(outputs, numbers(3, outputs.length * 3));
      assert.ok(Math.abs(outputs.length * 3 - count) <= 6, `${outputs.length * 3} of ${count}`);
      const tool = state.entries.find((entry) => entry.kind === 'tool');
      const [part] = tool?.kind === 'tool' ? tool.content : [];
      const told = part?.type === 'content' && part.block.type === 'text' ? Number.parseInt(part.block.text, 10) : -1;
      assert.ok(count - told <= 56, `the call was told at ${told} of ${count}`);
      const ids = journal.queue.items(key).map(({ id }) => Number(id.slice(1)));
      assert.deepEqual(ids, numbers(200, ids.length * 200));
      assert.ok(ids.length * 200 >= promised - 200);
      journal.dispose();
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.stream')),
        [],
        'nothing is left behind',
      );
      const again = start();
      assert.deepEqual(stateOf(again.events(key).events), structuredClone(state), 'it is taken over once');
      again.dispose();
    }
  });

  it('keeps concurrent writes of two processes separate', async () => {
    const workers = ['one', 'two'].map((key) => program.start(['share', folder, key]));
    for (const worker of workers) assert.equal(await worker.next(), 'ready');
    for (const worker of workers) worker.goOn();
    for (const worker of workers) {
      for (let count = 0; count < 200; count++) assert.equal(await worker.next(), count);
      await worker.ended();
    }
    const journal = start();
    for (const key of ['one', 'two']) {
      const wanted = Array.from({ length: 200 }, (_, index) => `${index},.`).join('');
      assert.equal(textIn(journal.events(key).events), wanted);
      assert.equal(journal.queue.items(key).length, 180);
    }
  });

  it('gives a session to the next window after its owner was killed', async () => {
    const journal = start({ now: Date.now });
    journal.saveSession(newSession('a'));
    const worker = program.start(['hold', folder, 'a']);
    assert.deepEqual(await worker.next(), { kind: 'owned' });
    const claim = journal.claim('a', 'mine');
    assert.equal(claim.kind === 'heldBy' && claim.pid, worker.pid);
    await worker.kill();
    assert.deepEqual(journal.claim('a', 'mine'), { kind: 'owned', tookOverFrom: `window-${worker.pid}` });
  });

  for (const [name, damage] of [
    ['is not a database', () => writeFileSync(path, 'not a database at all '.repeat(1000))],
    ['has a damaged page', () => writeFileSync(path, damaged(readFileSync(path), 8192, 65_536))],
    ['has lost its second half', () => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ] as const) {
    it(`sets the file aside and continues if it ${name}`, () => {
      filled();
      damage();
      const before = readFileSync(path);
      const journal = start();
      journal.saveSession(newSession('b'));
      journal.append('b', turn('t1', 1, 'hello', 'again'));
      // The damage may be in a part that is only read now.
      try {
        journal.events('a');
        searchIn(journal, 'world', 5);
      } catch (error) {
        assert.ok(error instanceof ParleyError, String(error));
      }
      journal.saveSession(newSession('c'));
      journal.queue.enqueue('c', queued('q1'));
      const aside = readdirSync(folder).find((file) => /^parley\.corrupt-1970-01-01T00-00-01-000Z\.db$/.test(file));
      assert.ok(aside, readdirSync(folder).join());
      assert.equal(readFileSync(join(folder, aside)).length >= before.length, true);
      assert.ok(
        journal.state.kind === 'durable' && journal.state.notice?.includes(aside),
        JSON.stringify(journal.state),
      );
      journal.dispose();
      assert.equal(start().queue.items('c').length, 1);
    });
  }

  it('checks the file after an unclean shutdown', () => {
    filled();
    const size = statSync(path).size;
    // A page of events, which is not read on open.
    writeFileSync(path, damaged(readFileSync(path), size - 5 * 4096, size - 4 * 4096));
    const raw = new DatabaseSync(path);
    raw.exec('PRAGMA journal_mode = WAL; CREATE TABLE other (x)');
    const wal = readFileSync(`${path}-wal`);
    raw.close();
    writeFileSync(`${path}-wal`, wal);
    const { state } = start();
    assert.ok(state.kind === 'durable' && state.notice?.includes('was saved as'), JSON.stringify(state));
  });

  it('keeps an intact file that another window has already created', () => {
    filled();
    const one = start();
    const two = start();
    assert.equal(two.sessions({ limit: 5 }).length, 1);
    writeFileSync(path, damaged(readFileSync(path), 0, statSync(path).size));
    for (const journal of [one, two, one]) {
      journal.saveSession(newSession('b'));
      journal.queue.enqueue('b', queued(`q${journal.queue.items('b').length}`));
    }
    assert.equal(readdirSync(folder).filter((file) => /corrupt-[^.]*\.db$/.test(file)).length, 1);
    assert.equal(start().queue.items('b').length, 3);
  });

  it('keeps the open session when the file is damaged', () => {
    filled();
    const journal = start();
    journal.claim('a', 'w1');
    writeFileSync(path, damaged(readFileSync(path), 0, statSync(path).size));
    writeFileSync(`${path}-wal`, '');
    journal.append('a', turn('new', 1, 'hello', 'again'));
    journal.queue.enqueue('a', queued('q7'));
    assert.deepEqual(pluck(journal.queue.items('a'), 'id'), ['q7']);
    assert.equal(journal.owner('a')?.windowId, 'w1');
    assert.equal(journal.sessions({ limit: 5 })[0]?.key, 'a');
  });

  it('does not write to the file of a newer version', () => {
    filled();
    const raw = new DatabaseSync(path);
    raw.exec('PRAGMA user_version = 99');
    raw.close();
    const before = readFileSync(path);
    const timers = new HeldTimers();
    const journal = start({ schedule: timers.schedule });
    assert.ok(journal.state.kind === 'memory' && journal.state.problem === 'newer');
    assert.match(journal.state.message, /newer version/);
    journal.saveSession(newSession('b'));
    journal.queue.enqueue('b', queued('q1'));
    timers.run();
    assert.equal(journal.retry(), false);
    assert.equal(journal.queue.items('b').length, 1);
    journal.dispose();
    assert.ok(readFileSync(path).equals(before));
  });

  it('saves data in memory when closed while another window writes', async () => {
    const journal = start();
    journal.saveSession(newSession('a'));
    const code = `
      const { DatabaseSync } = require('node:sqlite');
      const { parentPort, workerData } = require('node:worker_threads');
      const file = new DatabaseSync(workerData);
      file.exec('BEGIN IMMEDIATE');
      parentPort.postMessage('writes');
      parentPort.once('message', () => setTimeout(() => { file.exec('COMMIT'); file.close(); }, 100));`;
    const window = new Worker(code, { eval: true, workerData: path });
    await once(window, 'message');
    journal.append('a', timed(60, said('one ')));
    journal.flush();
    assert.equal(journal.state.kind, 'memory');
    window.postMessage('go on');
    journal.dispose();
    await once(window, 'exit');
    assert.equal(textIn(start().events('a').events), 'one ');
  });

  it('keeps writes in order while another program locks the file', () => {
    filled();
    const states: JournalState['kind'][] = [];
    const journal = start();
    journal.onDidChangeState((state) => states.push(state.kind));
    journal.append('a', timed(60, said('one ')));
    journal.flush();
    const holder = new DatabaseSync(path);
    holder.exec('BEGIN IMMEDIATE');
    journal.append('a', timed(70, said('two ')));
    journal.queue.enqueue('a', queued('q2'));
    journal.queue.remove('a', 'q1');
    journal.saveSession(newSession('b', { title: 'Second' }));
    journal.append('b', turn('t1', 80, 'find me', 'here'));
    assert.deepEqual(states, ['memory']);
    assert.ok(journal.state.kind === 'memory' && journal.state.problem === 'locked');
    assert.deepEqual(pluck(journal.queue.items('a'), 'id'), ['q2']);
    assert.match(textIn(journal.events('a').events), /world one two $/);
    assert.deepEqual(pluck(journal.sessions({ limit: 5 }), 'key'), ['b', 'a']);
    assert.equal(journal.retry(), false);
    holder.exec('ROLLBACK');
    holder.close();
    assert.equal(journal.retry(), true);
    assert.deepEqual(states, ['memory', 'durable']);
    journal.append('a', timed(90, said('three')));
    journal.dispose();
    const after = start();
    assert.match(textIn(after.events('a').events), /world one two three$/);
    assert.deepEqual(pluck(after.queue.items('a'), 'id'), ['q2']);
    assert.deepEqual(
      searchIn(after, 'find', 5).map((result) => result.session.key),
      ['b'],
    );
  });

  it('keeps writes next to a later version that added columns', () => {
    filled();
    const journal = start();
    const later = new DatabaseSync(path);
    later.exec('ALTER TABLE queue ADD COLUMN later TEXT; ALTER TABLE sessions ADD COLUMN later TEXT');
    later.exec('BEGIN IMMEDIATE');
    journal.queue.enqueue('a', queued('q2'));
    journal.append('a', turn('t99', 99, 'more', 'words'));
    assert.equal(journal.state.kind, 'memory');
    later.exec('ROLLBACK');
    assert.equal(journal.retry(), true);
    later.close();
    assert.deepEqual(pluck(journal.queue.items('a'), 'id'), ['q1', 'q2']);
    assert.match(textIn(journal.events('a').events), /words$/);
  });

  it('keeps data in memory if it no longer fits the file of a later version, and reports it', () => {
    filled();
    const journal = start();
    journal.claim('a', 'w1');
    const later = new DatabaseSync(path);
    later.exec('ALTER TABLE queue RENAME COLUMN text TO words; PRAGMA user_version = 99');
    later.close();
    journal.queue.enqueue('a', queued('q2'));
    assert.ok(journal.state.kind === 'memory' && journal.state.problem === 'newer', JSON.stringify(journal.state));
    assert.equal(journal.queue.items('a').at(-1)?.id, 'q2');
  });

  it('uses no shared memory if another machine may have the file open', () => {
    const mode = (journal: Journal): unknown => {
      journal.dispose();
      const raw = new DatabaseSync(path);
      try {
        return raw.prepare('PRAGMA journal_mode').get()?.journal_mode;
      } finally {
        raw.close();
      }
    };
    filled();
    assert.equal(mode(start()), 'wal');
    const far = start({ isShared: () => true });
    far.queue.enqueue('a', queued('q2'));
    assert.equal(
      readdirSync(folder).some((name) => name.endsWith('-wal')),
      false,
    );
    assert.equal(mode(far), 'delete');
    const raw = new DatabaseSync(path);
    raw.exec(
      "INSERT INTO leases (key, window, pid, host, since, heartbeat) VALUES ('a', 'w', 1, 'elsewhere', 1000, 1000)",
    );
    raw.close();
    const beside = start();
    beside.queue.remove('a', 'q2');
    assert.equal(
      readdirSync(folder).some((name) => name.endsWith('-wal')),
      false,
      'a lease of another machine',
    );
    assert.equal(
      isNetworkFolder('/home', () => 0x6969),
      true,
    );
    assert.equal(
      isNetworkFolder('/home', () => 0xff534d42 | 0),
      true,
    );
    assert.equal(
      isNetworkFolder('/home', () => 0xef53),
      false,
    );
    assert.equal(isNetworkFolder('\\\\server\\share\\x'), true);
  });

  it('keeps everything if the file was locked from the start', () => {
    filled();
    const holder = new DatabaseSync(path);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const timers = new HeldTimers();
    const journal = start({ schedule: timers.schedule });
    assert.ok(journal.state.kind === 'memory' && journal.state.problem === 'locked', JSON.stringify(journal.state));
    journal.saveSession(newSession('a'));
    journal.append('a', timed(70, said('more')));
    journal.queue.enqueue('a', queued('q1', { text: 'another one' }));
    holder.exec('ROLLBACK');
    holder.close();
    timers.run();
    assert.equal(journal.state.kind, 'durable');
    const texts = journal.queue.items('a').map((item) => item.text);
    assert.deepEqual(texts.sort(), ['another one', 'message q1']);
    assert.match(textIn(journal.events('a').events), /world more$/);
  });

  it('refuses a message when memory is full too', () => {
    filled();
    const holder = new DatabaseSync(path);
    holder.exec('BEGIN IMMEDIATE');
    const journal = start({ maxMemoryBytes: 410_000 });
    assert.deepEqual(journal.state, { kind: 'durable' });
    const text = 'x'.repeat(50_000);
    let kept = 0;
    assert.throws(
      () => {
        for (; kept < 100; kept++) journal.queue.enqueue('a', queued(`big${kept}`, { text }));
      },
      (error) => error instanceof ParleyError && error.code === 'journal-full',
    );
    assert.ok(kept > 0 && kept < 10);
    const message = randomBytes(40_000).toString('base64');
    journal.append('a', timed(99, { type: 'error', code: 'x', message }));
    journal.flush();
    assert.ok(journal.state.kind === 'memory' && journal.state.lossy);
    holder.exec('ROLLBACK');
    holder.close();
    assert.equal(journal.retry(), true);
    assert.equal(journal.queue.items('a').length, 1 + kept);
    const last = journal.events('a').events.at(-1)?.event;
    assert.ok(last?.type === 'notice' && last.said?.code === 'events-lost');
  });

  it('survives a full disk, and continues when there is space again', async function () {
    if (process.platform !== 'linux') this.skip();
    // A limit on the file size stands in for a full disk; the limit of the process can be raised
    // from outside.
    const worker = program.start(['fill', folder], ['prlimit', '--fsize=3000000:unlimited']);
    const full = (await worker.next()) as { state: JournalState; count: number; items: number };
    assert.ok(full.state.kind === 'memory', JSON.stringify(full.state));
    assert.equal(full.items, full.count);
    spawnSync('prlimit', ['--pid', String(worker.pid), '--fsize=unlimited:unlimited']);
    worker.goOn();
    const after = (await worker.next()) as { ok: boolean; state: JournalState };
    assert.deepEqual([after.ok, after.state.kind], [true, 'durable']);
    await worker.ended();
    const journal = start();
    const ids = journal.queue.items('a').map((item) => item.id);
    assert.deepEqual(
      ids,
      Array.from({ length: full.count }, (_, index) => `q${index}`),
    );
    assert.equal(textIn(journal.events('a').events), 'world');
  });

  it('keeps working when the storage is read-only', async function () {
    if (process.platform === 'win32') this.skip();
    chmodSync(folder, 0o555);
    const prefix = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--'] : [];
    const worker = program.start(['begin', folder], prefix);
    const begun = (await worker.next()) as { state: JournalState; items: number; events: number };
    assert.ok(begun.state.kind === 'memory' && begun.state.problem === 'read-only', JSON.stringify(begun.state));
    assert.deepEqual([begun.items, begun.events], [1, 5]);
    await worker.ended();
    chmodSync(folder, 0o755);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('works without a usable folder', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const journal = start({});
    const other = Journal.open({ folder: file, log: { ...console, trace() {}, error() {}, warn() {} }, now: () => 1 });
    open.push(other);
    assert.ok(other.state.kind === 'memory' && other.state.problem === 'unusable');
    other.saveSession(newSession('a'));
    other.append('a', turn('t', 1, 'x', 'y'));
    assert.equal(textIn(other.events('a').events), 'y');
    assert.equal(journal.state.kind, 'durable');
  });

  it('survives an interrupted migration, and runs each migration once', () => {
    const first = 'CREATE TABLE one (x); INSERT INTO one VALUES (1)';
    const second = 'ALTER TABLE one ADD COLUMN y; UPDATE one SET y = x + 1';
    const sql = new Sql(path);
    migrate(sql, [first]);
    assert.throws(() => migrate(sql, [first, `${second}; CREATE TABLE one (z)`]));
    assert.equal(sql.pragma('user_version'), 1);
    assert.throws(() => sql.get('SELECT y FROM one'));
    migrate(sql, [first, second]);
    migrate(sql, [first, second]);
    assert.deepEqual({ ...sql.get('SELECT x, y FROM one') }, { x: 1, y: 2 });
    assert.equal(sql.pragma('user_version'), 2);
    sql.close();
  });

  it('reads doubtful messages and reasons of paused queues from a file of version 1', () => {
    const sql = new Sql(path);
    migrate(sql, MIGRATIONS.slice(0, 1));
    const common = { key: 'a', state: 'failed', held: 0, text: '"do it"', attachments: '[]' };
    const inDoubt = 'it is not known whether the agent got this';
    sql.exec('PRAGMA foreign_keys = OFF');
    sql.insert('queue', { ...common, id: 'q1-again', position: 0, reason: inDoubt });
    sql.insert('queue', { ...common, id: 'q2', position: 1, reason: inDoubt });
    sql.insert('queue', { ...common, id: 'q3', position: 2, reason: 'The agent said no.' });
    const session = { agent: 'x', cwd: '/', roots: '[]', protocol: '1', created: 0, updated: 0 };
    sql.insert('sessions', { ...session, key: 'a', queue_paused: 'you stopped the turn' });
    sql.insert('sessions', { ...session, key: 'b', queue_paused: 'Claude exited with code 3' });
    sql.close();
    const journal = start({});
    assert.deepEqual(
      journal.queue.items('a').map(({ id, doubtful, repeats, reason }) => [id, doubtful, repeats, reason]),
      [
        ['q1-again', true, 'q1', 'in-doubt'],
        ['q2', true, undefined, 'in-doubt'],
        ['q3', undefined, undefined, 'refused: The agent said no.'],
      ],
    );
    assert.deepEqual(
      ['a', 'b'].map((key) => journal.session(key)?.queuePaused),
      ['stopped', 'agent-ended: Claude exited with code 3'],
    );
  });
});

function damaged(bytes: Buffer, from: number, to: number): Buffer {
  bytes.fill(0xa5, from, to);
  return bytes;
}
