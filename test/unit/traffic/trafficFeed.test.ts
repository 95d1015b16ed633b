// The feed of a traffic inspector: bounded batches at the page's pace.
import { strict as assert } from 'node:assert';
import { setImmediate } from 'node:timers/promises';
import { knownSecrets } from '../../../src/base/redact';
import type { ToTraffic, TrafficRow } from '../../../src/panel/trafficContract';
import { TrafficFeed } from '../../../src/traffic/trafficFeed';
import { TrafficLog } from '../../../src/traffic/trafficLog';
import type { MarkReader } from '../../../src/traffic/turnTrace';
import { sameData } from '../../support/sameData';

/** Each message names the mark that it makes. A turn settles 50 ms after its response. */
function createReader(): MarkReader {
  const settled: number[] = [];
  return {
    read: ({ at, seq }, { mark }) => {
      if (typeof mark !== 'string') return [];
      if (mark === 'answer') settled.push(at + 50);
      return [{ kind: mark as 'sent' | 'answer', turnId: 't', at, seq, ...(mark === 'sent' && { handle: 'p' }) }];
    },
    get dueAt() {
      return settled[0];
    },
    tick: (now) => settled.splice(0).map((at) => ({ kind: 'settled', turnId: 't', at: Math.min(at, now) })),
  };
}

describe("the traffic inspector's feed", () => {
  let log: TrafficLog;
  let posted: ToTraffic[];
  let timers: (() => void)[];
  let now: number;
  let feed: TrafficFeed;

  beforeEach(() => {
    log = new TrafficLog();
    posted = [];
    timers = [];
    now = 0;
    feed = new TrafficFeed({
      log,
      labelOf: (key) => `Session ${key}`,
      createReader,
      now: () => now,
      post: (message) => posted.push(message),
      later: (run) => {
        timers.push(run);
        return { dispose: () => timers.splice(timers.indexOf(run), 1) };
      },
    });
  });
  afterEach(() => feed.dispose());

  const settle = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) await setImmediate();
  };
  const tick = async (): Promise<void> => {
    for (const run of timers.splice(0)) run();
    await settle();
  };
  const batches = () => posted.filter((message) => message.type === 'rows');
  const rows = (): readonly TrafficRow[] => batches().flatMap((message) => message.rows);
  const update = (text: string): string =>
    `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}}`;

  it('does nothing before a page is ready and after it is hidden', async () => {
    for (let n = 0; n < 100; n++) log.note('a', 'in', update('x'), n);
    assert.deepEqual([posted.length, timers.length], [0, 0]);
    feed.begin();
    await settle();
    feed.suspend();
    posted = [];
    for (let n = 0; n < 100; n++) log.note('a', 'in', update('x'), n);
    await tick();
    assert.deepEqual([posted.length, timers.length], [0, 0]);
  });

  it('sends retained messages with their sessions, paired, and then new ones', async () => {
    log.note('a', 'out', '{"id":0,"method":"initialize"}', 10);
    log.note('a', 'in', '{"id":0,"result":{}}', 30);
    feed.begin();
    await settle();
    assert.deepEqual(posted[0], { type: 'sessions', sessions: [{ key: 'a', label: 'Session a' }] });
    assert.deepEqual(
      rows().map(({ seq, method, ms, request }) => [seq, method, ms, request]),
      [
        [0, 'initialize', undefined, undefined],
        [1, 'initialize', 20, 0],
      ],
    );
    feed.acknowledge();
    log.note('b', 'stderr', 'warning', 40);
    await tick();
    assert.deepEqual(rows().at(-1)?.direction, 'stderr');
    assert.equal(rows().length, 3);
  });

  it('waits for a slow page, and sends everything since as one batch', async () => {
    feed.begin();
    await settle();
    for (let n = 0; n < 30_000; n++) log.note('a', 'in', update(String(n)), n);
    await tick();
    assert.ok(batches().length <= 2, `${batches().length} messages that nobody has drawn`);
    for (let round = 0; round < 100 && rows().at(-1)?.seq !== 29_999; round++) {
      feed.acknowledge();
      await tick();
    }
    assert.equal(rows().at(-1)?.seq, 29_999);
    assert.ok(rows().length <= 6_000, `${rows().length} rows`);
    assert.ok(batches().every((message) => message.rows.length <= 500));
    assert.equal(batches().at(-1)?.first, 25_000);
  });

  it('sends nothing while paused, and resumes with what is still retained', async () => {
    feed.begin();
    await settle();
    feed.pause(true);
    for (let n = 0; n < 3; n++) log.note('a', 'in', update('x'), n);
    await tick();
    assert.equal(rows().length, 0);
    feed.pause(false);
    await settle();
    assert.equal(rows().length, 3);
  });

  const lanes = () => posted.filter((message) => message.type === 'lanes');

  it('sends changed lanes with the messages that changed them', async () => {
    log.note('a', 'out', '{"mark":"sent"}', 0);
    feed.begin();
    await settle();
    sameData(lanes(), [
      { type: 'lanes', first: 0, lanes: [{ id: 0, key: 'a', marks: [{ kind: 'sent', at: 0, ms: 0, seq: 0 }] }] },
    ]);
    feed.acknowledge();
    log.note('a', 'in', update('x'), 1);
    await tick();
    assert.equal(lanes().length, 1);
    feed.acknowledge();
    log.note('b', 'out', '{"mark":"sent"}', 2);
    await tick();
    assert.deepEqual(
      lanes()[1]?.lanes.map(({ id, key }) => [id, key]),
      [[1, 'b']],
    );
  });

  it('sends time-based marks when due, and drops lanes with their messages', async () => {
    log.note('a', 'out', '{"mark":"sent"}', 0);
    log.note('a', 'in', '{"mark":"answer"}', 10);
    feed.begin();
    await settle();
    now = 60;
    await tick();
    const marks = lanes().at(-1)?.lanes[0]?.marks ?? [];
    assert.deepEqual(
      marks.map(({ kind, at, seq }) => [kind, at, seq]),
      [
        ['sent', 0, 0],
        ['answer', 10, 1],
        ['settled', 60, undefined],
      ],
    );
    feed.acknowledge();
    log.clear();
    await tick();
    assert.deepEqual(lanes().at(-1), { type: 'lanes', first: 1, lanes: [] });
  });

  it('reads the turns again for a page that was hidden', async () => {
    log.note('a', 'out', '{"mark":"sent"}', 0);
    feed.begin();
    await settle();
    feed.suspend();
    feed.begin();
    await settle();
    assert.deepEqual(
      lanes().map((message) => message.lanes.map(({ id, marks }) => [id, marks.length])),
      [[[0, 1]], [[0, 1]]],
    );
  });

  it('notifies the page when the log is cleared', async () => {
    log.note('a', 'in', update('x'), 0);
    feed.begin();
    await settle();
    feed.acknowledge();
    log.clear();
    await tick();
    assert.deepEqual(batches().at(-1), { type: 'rows', first: 1, rows: [], found: [] });
  });

  it('sends a message indented and redacted, including secrets split between messages', async () => {
    const secret = 'wonderful-secret-of-feed';
    knownSecrets.add(secret);
    log.note('a', 'in', update(`key ${secret.slice(0, 11)}`), 0);
    log.note('a', 'in', update('in between').replace('"s"', '"other"'), 0);
    log.note('a', 'in', update(`${secret.slice(11)} done`), 0);
    for (const seq of [0, 1, 2, 3]) await feed.select(seq);
    const texts = posted.flatMap((message) => (message.type === 'payload' ? [message.text] : []));
    assert.match(texts[0] ?? '', /\n {8}"text": "key \[redacted\]"/);
    assert.match(texts[2] ?? '', /"text": " done"/);
    assert.equal(texts[3], null);
    assert.doesNotMatch(texts.join(), /wonderful|of-feed/);
  });

  it('finds visible text, but not text within a secret', async () => {
    const secret = 'another-secret-of-feed';
    knownSecrets.add(secret);
    log.note('a', 'in', update('Needle here'), 0);
    log.note('a', 'in', update('nothing'), 0);
    log.note('a', 'stderr', `key ${secret}`, 0);
    feed.begin();
    await settle();
    await feed.find(1, 'NEEDLE');
    await feed.find(2, 'another-secret');
    assert.deepEqual(
      posted.filter(({ type }) => type === 'found'),
      [
        { type: 'found', id: 1, seqs: [0] },
        { type: 'found', id: 2, seqs: [] },
      ],
    );
    await feed.find(3, 'needle');
    feed.acknowledge();
    log.note('a', 'in', update('a late needle'), 0);
    log.note('a', 'in', update('hay'), 0);
    await tick();
    assert.deepEqual(
      batches().flatMap(({ found }) => found),
      [3],
    );
  });
});
