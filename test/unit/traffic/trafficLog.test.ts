// The bounded traffic log, and facts read from its lines.
import { strict as assert } from 'node:assert';
import type { TrafficRow } from '../../../src/panel/trafficContract';
import { type LineFacts, Pairing, readFacts } from '../../../src/traffic/trafficFeed';
import { messageOf, type TrafficEntry, TrafficLog } from '../../../src/traffic/trafficLog';
import { retainedBytes } from '../../support/heap';
import { sameData } from '../../support/sameData';

const factsOf = (entry: TrafficEntry): LineFacts => readFacts(entry, messageOf(entry), (text) => text);

describe('the traffic log', () => {
  const bounds = { entries: 4, chars: 100, whole: 40, beginning: 10 };
  const texts = (log: TrafficLog): readonly string[] => [...log.entries()].map(({ text }) => text);

  it('retains the newest entries, up to a number and a size', () => {
    const log = new TrafficLog(bounds);
    for (let n = 0; n < 6; n++) log.note('s', 'in', `message ${n}`, n);
    assert.deepEqual(texts(log), ['message 2', 'message 3', 'message 4', 'message 5']);
    assert.deepEqual([log.first, log.next, log.chars], [2, 6, 36]);
    log.note('s', 'in', 'x'.repeat(40), 6);
    log.note('s', 'in', 'y'.repeat(40), 7);
    log.note('s', 'in', 'z'.repeat(40), 8);
    assert.deepEqual(texts(log), ['y'.repeat(40), 'z'.repeat(40)]);
    assert.equal(log.chars, 80);
    assert.equal(log.entry(6), undefined);
    assert.equal(log.entry(8)?.text, 'z'.repeat(40));
  });

  it('keeps entries whole over thousands of rounds', () => {
    const log = new TrafficLog({ entries: 1000, chars: 3_000_000, whole: 600_000, beginning: 10 });
    const textOf = (n: number): string => `${n} äöü € 𝄞 ${'x'.repeat(n % 97 === 0 ? 300_000 : n % 613)}`;
    for (let n = 0; n < 5000; n++) {
      log.note(`s${n % 7}`, n % 2 === 0 ? 'in' : 'out', textOf(n), n);
      if (n % 500 !== 499) continue;
      for (const { seq, at, key, kind, text, length } of log.entries())
        assert.deepEqual(
          [at, key, kind, text, length],
          [seq, `s${seq % 7}`, seq % 2 === 0 ? 'in' : 'out', textOf(seq), text.length],
        );
    }
  });

  it('retains the beginning and the length of a message that is too long', () => {
    const log = new TrafficLog(bounds);
    log.note('s', 'in', 'a'.repeat(41), 0);
    assert.deepEqual([log.entry(0)?.text, log.entry(0)?.length], ['a'.repeat(10), 41]);
  });

  it('removes all entries when cleared, and continues counting', () => {
    const log = new TrafficLog(bounds);
    let changes = 0;
    const watching = log.onDidChange(() => changes++);
    log.note('s', 'in', 'one', 0);
    log.clear();
    assert.deepEqual([texts(log), log.chars, log.first, log.next], [[], 0, 1, 1]);
    log.note('s', 'out', 'two', 0);
    assert.deepEqual(texts(log), ['two']);
    assert.equal(changes, 3);
    watching.dispose();
    log.note('s', 'out', 'three', 0);
    assert.equal(changes, 3);
  });

  it('stays within its memory limits for any input', () => {
    const bytes = retainedBytes(() => {
      const log = new TrafficLog();
      for (let n = 0; n < 20; n++) log.note('s', 'in', JSON.parse(`"${'x'.repeat(1_500_000)}${n}"`), 0);
      for (let n = 0; n < 60; n++) log.note('s', 'in', JSON.parse(`"${'y'.repeat(400_000)}${n}"`), 0);
      for (let n = 0; n < 20_000; n++) log.note('s', 'in', JSON.parse(`"message ${n}"`), 0);
      return log;
    });
    assert.ok(bytes < 12_000_000, `${bytes} bytes`);
  });
});

describe('a line of traffic', () => {
  const facts = (text: string, kind: 'in' | 'out' | 'stderr' | 'noise' = 'in', length = text.length) =>
    factsOf({ seq: 0, at: 0, key: 's', kind, text, length });

  const cases: readonly (readonly [title: string, text: string, from: 'in' | 'out' | 'stderr' | 'noise', object])[] = [
    ['request', '{"id":3,"method":"session/prompt"}', 'out', { kind: 'request', method: 'session/prompt', id: '3' }],
    ['response', '{"id":3,"result":{}}', 'in', { kind: 'response', method: '', id: '3' }],
    ['error', '{"id":"a","error":{"code":-1}}', 'in', { kind: 'response', method: '', id: 'a', isError: true }],
    [
      'notification',
      '{"method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}',
      'in',
      { kind: 'notification', method: 'session/update plan' },
    ],
    ['text of stderr', 'npm warn  deprecated', 'stderr', { kind: 'text', method: 'npm warn deprecated' }],
    ['other text', 'Listening…', 'noise', { kind: 'text', method: 'Listening…', isError: true }],
    ['HTTP request', 'POST /runs {"agent_name":"a"}', 'out', { kind: 'request', method: 'POST /runs' }],
    ['HTTP answer', '200 POST /runs {}', 'in', { kind: 'response', method: 'POST /runs' }],
    ['HTTP error', '500 POST /runs', 'in', { kind: 'response', method: 'POST /runs', isError: true }],
    ['missing HTTP answer', '(no answer) GET /ping', 'in', { kind: 'response', method: 'GET /ping', isError: true }],
    ['HTTP event', '{"type":"message.part","part":{}}', 'in', { kind: 'notification', method: 'message.part' }],
  ];
  for (const [title, text, from, expected] of cases)
    it(`is recognized: ${title}`, () => sameData(facts(text, from), expected));

  it('is recognized by its beginning if truncated', () => {
    const text = '{"jsonrpc":"2.0","id":17,"method":"fs/write_text_file","params":{"content":"xx';
    assert.deepEqual(facts(text, 'in', 9_000_000), { kind: 'request', method: 'fs/write_text_file', id: '17' });
  });

  it('has a short one-line method, whatever an agent sends', () => {
    const { method } = facts(JSON.stringify({ method: `evil\n\u202e${'m'.repeat(5_000)}`, params: {} }));
    assert.ok(method.length <= 201);
    assert.doesNotMatch(method, /[\n\u202e]/);
  });
});

describe('request pairing', () => {
  const take = (pairing: Pairing, seq: number, kind: 'in' | 'out', text: string, at = seq): Partial<TrafficRow> => {
    const entry = { seq, at, key: 's', kind, text, length: text.length };
    return pairing.pair(entry, factsOf(entry));
  };

  it('gives a response the method of its request, and the latency', () => {
    const pairing = new Pairing();
    take(pairing, 0, 'out', '{"id":0,"method":"initialize"}', 100);
    assert.deepEqual(take(pairing, 1, 'in', '{"id":"0","result":{}}', 350), {
      method: 'initialize',
      ms: 250,
      request: 0,
    });
    assert.deepEqual(take(pairing, 2, 'in', '{"id":0,"result":{}}', 360), {});
  });

  it('separates requests of both sides with the same id', () => {
    const pairing = new Pairing();
    take(pairing, 0, 'out', '{"id":1,"method":"session/prompt"}');
    take(pairing, 1, 'in', '{"id":1,"method":"session/request_permission"}');
    assert.equal(take(pairing, 2, 'out', '{"id":1,"result":{}}').method, 'session/request_permission');
    assert.equal(take(pairing, 3, 'in', '{"id":1,"result":{}}').method, 'session/prompt');
  });

  it('uses the newest request with an id, since restarted agents reuse ids', () => {
    const pairing = new Pairing();
    take(pairing, 0, 'out', '{"id":0,"method":"session/prompt"}');
    take(pairing, 1, 'out', '{"id":0,"method":"initialize"}');
    assert.equal(take(pairing, 2, 'in', '{"id":0,"result":{}}').request, 1);
    assert.equal(pairing.size, 0);
  });

  it('pairs requests to HTTP agents by method and path', () => {
    const pairing = new Pairing();
    take(pairing, 0, 'out', 'POST /runs {}');
    take(pairing, 1, 'out', 'GET /agents');
    assert.equal(take(pairing, 2, 'in', '200 POST /runs {}').request, 0);
  });

  it('remembers a limited number of unanswered requests', () => {
    const pairing = new Pairing();
    for (let n = 0; n < 6_000; n++) take(pairing, n, 'out', `{"id":${n},"method":"m"}`);
    assert.equal(pairing.size, 5_000);
  });
});
