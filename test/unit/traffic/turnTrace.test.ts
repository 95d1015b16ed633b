// Lanes of the turn trace, from the marks of the turn engine.
import { strict as assert } from 'node:assert';
import type { TurnLane } from '../../../src/panel/trafficContract';
import { type TimedMark, TurnTrace } from '../../../src/traffic/turnTrace';
import { sameData } from '../../support/sameData';

function traced(line: string): TurnTrace {
  const trace = new TurnTrace();
  for (const [index, mark] of line.split(', ').entries()) {
    const [kind = '', ...more] = mark.split(' ');
    const find = (pattern: RegExp): string | undefined => more.find((word) => pattern.test(word));
    const facts = {
      kind: kind as TimedMark['kind'],
      turnId: find(/^t\d$/),
      handle: find(/^p\d$/),
      requestId: find(/^#/)?.slice(1),
      note: find(/^(?:late|foreign)$/) as TimedMark['note'],
    };
    trace.add('a', { seq: index, at: index * 10, ...facts });
  }
  return trace;
}

const words = ({ marks }: TurnLane): string =>
  marks
    .map(({ kind, note, ms, count }) => [kind, note, `+${ms}`, count && `×${count}`].filter(Boolean).join(' '))
    .join(', ');

describe('the turn trace', () => {
  it('has a lane per prompt, with ordered marks and the milliseconds between them', () => {
    const trace = new TurnTrace();
    const prompt = { turnId: 't1', handle: 'p1', requestId: '3' };
    trace.add('a', { kind: 'sent', ...prompt, at: 1_000, seq: 7 });
    trace.add('a', { kind: 'receipt', ...prompt, at: 1_012, seq: 8 });
    trace.add('a', { kind: 'output', turnId: 't1', at: 1_500, seq: 9 });
    trace.add('a', { kind: 'idle', turnId: 't1', at: 3_000, seq: 10 });
    trace.add('a', { kind: 'settled', turnId: 't1', at: 3_000 });
    trace.add('a', { kind: 'sent', turnId: 't2', handle: 'p2', requestId: '4', at: 5_000, seq: 11 });
    const [one, two] = trace.lanes;
    sameData(one, {
      id: 0,
      key: 'a',
      requestId: '3',
      marks: [
        { kind: 'sent', at: 1_000, ms: 0, seq: 7 },
        { kind: 'receipt', at: 1_012, ms: 12, seq: 8 },
        { kind: 'output', at: 1_500, ms: 488, seq: 9 },
        { kind: 'idle', at: 3_000, ms: 1_500, seq: 10 },
        { kind: 'settled', at: 3_000, ms: 0 },
      ],
    });
    sameData(two?.marks, [{ kind: 'sent', at: 5_000, ms: 0, seq: 11 }]);
  });

  for (const [title, marks, ...expected] of [
    [
      'keeps a late answer in the lane of its prompt while the next one runs',
      'sent t1 p1 #1, barrier t1 #1, settled t1, sent t2 p2 #2, answer #1 late, answer p2 t2',
      'sent +0, barrier +10, settled +10, answer late +20',
      'sent +0, answer +20',
    ],
    [
      'shows a barrier of another client where it came, even if its id is one of ours',
      'sent t1 p1 #1, settled t1, sent t2 p2 #2, barrier #1 foreign, answer p2',
      'sent +0, settled +10',
      'sent +0, barrier foreign +10, answer +10',
    ],
    [
      'keeps a prompt that is sent while a turn runs out of that turn until the agent takes the prompt in',
      'sent t1 p1, sent p2, answer t1 p1, settled t1, answer p2, settled t2',
      'sent +0, answer +20, settled +10',
      'sent +0, answer +30, settled +10',
    ],
    [
      'gives each prompt of one turn a lane, and both the marks of the turn',
      'sent t1 p1, output t1, sent p2, echo p2 t1, idle t1',
      'sent +0, output +10, idle +30',
      'sent +0, echo +10, idle +10',
    ],
    [
      'has a lane without a prompt for a turn of the agent, which ends before the next begins',
      'output t1, idle t1, output t2',
      'own output +0, idle +10',
      'own output +0',
    ],
    [
      'begins a lane with the message of another client, also before its turn has an id',
      'sent t1 p1, settled t1, echo foreign, output t2, settled t2, barrier #9 foreign',
      'sent +0, settled +10',
      'own echo foreign +0, output +10, settled +10, barrier foreign +10',
    ],
    [
      'begins another lane where a message is sent again, or its beginning is no longer kept',
      'sent p1, sent p1, answer p1, answer p0',
      'sent +0',
      'sent +0, answer +10',
      'answer +0',
    ],
    [
      'gives what happens in a turn to the message that was sent again, and not to the one that was refused',
      'sent t1 p1 #1, answer p1, sent t1 p1 #2, output t1, settled t1',
      'sent +0, answer +10',
      'sent +0, output +10, settled +10',
    ],
    [
      'keeps a late answer out of the turn that runs, also if the beginning of its prompt is gone',
      'sent t2 p2, answer p1 late, settled t2',
      'sent +0, settled +20',
      'answer late +0',
    ],
  ] as const)
    it(title, () => {
      const lanes = traced(marks).lanes.map((lane) => `${lane.isOwn ? 'own ' : ''}${words(lane)}`);
      assert.deepEqual(lanes, expected);
    });

  it('separates sessions', () => {
    const trace = new TurnTrace();
    for (const key of ['a', 'b']) trace.add(key, { kind: 'sent', handle: 'p', turnId: 't', at: 0, seq: 0 });
    trace.add('b', { kind: 'settled', turnId: 't', at: 1, seq: 1 });
    assert.deepEqual(
      trace.lanes.map((lane) => [lane.key, words(lane)]),
      [
        ['a', 'sent +0'],
        ['b', 'sent +0, settled +1'],
      ],
    );
  });

  it('counts repetitions, and bounds a lane whatever the agent sends', () => {
    const trace = traced('sent t1 p1');
    for (let n = 0; n < 1_000; n++) trace.add('a', { kind: 'barrier', turnId: 't1', note: 'doubled', at: n });
    assert.equal(words(trace.lanes[0]!), 'sent +0, barrier doubled +0 ×1000');
    for (let n = 0; n < 1_000; n++) trace.add('a', { kind: n % 2 ? 'idle' : 'echo', turnId: 't1', at: n });
    const [lane] = trace.lanes;
    assert.deepEqual([lane?.marks.length, lane?.more], [32, 970]);
  });

  it('keeps the newest 50 lanes, and reports only changed ones', () => {
    const trace = new TurnTrace();
    for (let n = 0; n < 49; n++) trace.add('a', { kind: 'sent', handle: `p${n}`, at: n, seq: n });
    assert.equal(trace.changes()?.lanes.length, 49);
    assert.equal(trace.changes(), undefined);
    trace.add('a', { kind: 'answer', handle: 'p7', at: 60, seq: 60 });
    assert.deepEqual(
      trace.changes()?.lanes.map(({ id }) => id),
      [7],
    );
    for (let n = 49; n < 60; n++) trace.add('a', { kind: 'sent', handle: `p${n}`, at: n, seq: n });
    const changes = trace.changes();
    assert.deepEqual([changes?.first, changes?.lanes.length, trace.lanes.length], [10, 11, 50]);
  });

  it('drops lanes with their messages', () => {
    const trace = traced('sent p1, sent p2, settled');
    trace.changes();
    trace.drop(1);
    assert.deepEqual(trace.changes(), { first: 1, lanes: [] });
    trace.drop(3);
    assert.deepEqual(trace.changes(), { first: 2, lanes: [] });
    assert.deepEqual(trace.lanes, []);
  });

  it('shows any id as one short line', () => {
    const trace = new TurnTrace();
    trace.add('a', { kind: 'sent', handle: 'p', requestId: `1\n\u202e${'x'.repeat(500)}`, at: 0 });
    assert.match(trace.lanes[0]?.requestId ?? '', /^1 x{50,60}…$/);
  });
});
