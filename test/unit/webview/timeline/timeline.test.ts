// The layout of the timeline: shortened time, lanes, marks, and merged updates.
import { strict as assert } from 'node:assert';
import type { TimelineCall, TimelineView } from '../../../../src/panel/contract';
import { type Lane, lanesOf } from '../../../../src/webview/timeline/lanes';
import { TimeAxis } from '../../../../src/webview/timeline/timeAxis';
import { TimelineData } from '../../../../src/webview/timeline/timelineData';

const HOUR = 3_600_000;

const call = (index: number, at: number, endedAt?: number, patch: Partial<TimelineCall> = {}): TimelineCall => ({
  index,
  at,
  ...(endedAt !== undefined && { endedAt }),
  kind: 'read',
  status: 'completed',
  title: `call ${index}`,
  ...patch,
});

describe('the axis of the timeline', () => {
  it('shortens idle time, and maps in both directions', () => {
    const axis = new TimeAxis([
      { from: 5 * HOUR, until: 5 * HOUR + 1000 },
      { from: 0, until: 1000 },
      { from: 500, until: 2000 },
    ]);
    assert.equal(axis.length, 2000 + 600 + 1000);
    assert.deepEqual(
      [0, 1000, 2000].map((time) => axis.at(time)),
      [0, 1000, 2000],
    );
    assert.equal(axis.at(5 * HOUR), 2600);
    assert.equal(axis.at(5 * HOUR + 1000), 3600);
    assert.equal(axis.at(9 * HOUR), 3600);
    assert.deepEqual(axis.cuts, [{ from: 2000, until: 2600 }]);
    for (const position of [0, 700, 2000, 2300, 2600, 3600])
      assert.ok(Math.abs(axis.at(axis.timeAt(position)) - position) < 0.001);
  });

  it('keeps short pauses, and accepts no time at all', () => {
    const axis = new TimeAxis([
      { from: 0, until: 1000 },
      { from: 1010, until: 2000 },
    ]);
    assert.equal(axis.length, 2000);
    assert.deepEqual(axis.cuts, []);
    assert.equal(new TimeAxis([]).length, 1);
    assert.equal(new TimeAxis([{ from: 7, until: 7 }]).at(7), 0);
  });
});

describe('the lanes of the timeline', () => {
  const whole = new TimeAxis([{ from: 0, until: 100_000 }]);
  const placed = (lanes: readonly Lane[], calls: readonly TimelineCall[]) =>
    calls.map((call) => lanes.findIndex((lane) => lane.spanOf(call)));

  it('put parallel calls below each other, and subagents last', () => {
    const calls = [
      call(0, 0, 10),
      call(1, 5, 20),
      call(2, 10, 12),
      call(3, 0, undefined, { kind: 'subagent' }),
      call(4, 30, 40),
    ];
    assert.deepEqual(placed(lanesOf(calls, whole, 50), calls), [0, 1, 0, 2, 0]);
  });

  it('have a bounded number', () => {
    const calls = Array.from({ length: 100 }, (_, index) => call(index, index, 1000));
    const lanes = lanesOf(calls, whole, 1000);
    assert.equal(lanes.length, 6);
    assert.deepEqual([...new Set(placed(lanes, calls))], [0, 1, 2, 3, 4, 5]);
  });

  it('draw at most one mark per pixel, and mark that one of the calls has failed', () => {
    const calls = Array.from({ length: 10_000 }, (_, index) =>
      call(index, index * 10, index * 10 + 8, index === 5000 ? { status: 'failed' } : {}),
    );
    const [lane] = lanesOf(calls, whole, 0);
    const marks = lane!.marks({ from: 0, until: 100_000, scale: 500 / 100_000 });
    assert.ok(marks.length <= 501, `${marks.length}`);
    assert.deepEqual(
      marks.flatMap(({ isFailed, x }) => (isFailed ? [x] : [])),
      [250],
    );
    const near = lane!.marks({ from: 50_000, until: 50_100, scale: 5 });
    assert.deepEqual(
      near.map(({ x, width }) => [x, width]),
      [...Array.from({ length: 10 }, (_, index) => [index * 50, 40]), [500, 40]],
    );
  });

  it('draw a long call that begins in the pixel of short ones, or before the visible range', () => {
    const calls = [call(0, 0, 1), call(1, 2, 3), call(2, 4, 90_000, { kind: 'execute' })];
    const [lane] = lanesOf(calls, whole, 0);
    assert.deepEqual(lane!.marks({ from: 0, until: 100_000, scale: 0.001 }), [
      { x: 0, width: 90, kind: 'execute', isFailed: false },
    ]);
    assert.equal(lane!.marks({ from: 50_000, until: 60_000, scale: 0.1 }).length, 1);
    assert.deepEqual(lane!.marks({ from: 95_000, until: 99_000, scale: 0.1 }), []);
  });

  it('find the call at a position, or the nearest within reach', () => {
    const calls = [call(0, 0, 10), call(1, 20, 30)];
    const [lane] = lanesOf(calls, whole, 0);
    const found = (position: number) => lane!.find(position, 3)?.index;
    assert.deepEqual([5, 12, 15, 18, 25, 40].map(found), [0, 0, undefined, 1, 1, undefined]);
  });
});

describe('the data of the timeline', () => {
  const part = (patch: Partial<TimelineView>): TimelineView => ({
    from: 0,
    turns: [],
    calls: [],
    now: 100,
    isDone: true,
    ...patch,
  });

  it('merges updates, and requests what may have changed', () => {
    const data = new TimelineData();
    assert.equal(data.from, 0);
    data.apply(part({ turns: [{ number: 1, at: 0, index: 0 }], calls: [call(1, 1, 2, { turn: 1 })], isDone: false }));
    data.apply(part({ from: 3, calls: [call(3, 3, undefined, { turn: 1 })] }));
    assert.equal(data.from, 3);
    data.apply(
      part({
        from: 3,
        turns: [
          { number: 1, at: 0, endedAt: 9, index: 3 },
          { number: 2, at: 50, index: 8 },
        ],
        calls: [call(3, 3, 8, { turn: 1 }), call(9, 60, 61, { turn: 2 })],
      }),
    );
    assert.equal(data.from, 10);
    assert.deepEqual(data.turns, [
      { number: 1, at: 0, endedAt: 9, index: 0 },
      { number: 2, at: 50, index: 8 },
    ]);
    assert.deepEqual(
      data.calls.map(({ index, endedAt }) => [index, endedAt]),
      [
        [1, 2],
        [3, 8],
        [9, 61],
      ],
    );
  });

  it('is replaced when everything is sent again', () => {
    const data = new TimelineData();
    data.apply(part({ turns: [{ number: 1, at: 0, index: 0 }], calls: [call(1, 1, 2, { turn: 1 })] }));
    data.apply(part({}));
    assert.deepEqual([data.turns, data.calls], [[], []]);
  });

  it('lists turns with their calls, including turns without any', () => {
    const data = new TimelineData();
    const turns = [1, 2, 3].map((number) => ({ number, at: number * 10, endedAt: number * 10 + 5 }));
    data.apply(part({ turns, calls: [call(0, 1, 2), call(1, 10, 11, { turn: 1 }), call(2, 30, 31, { turn: 3 })] }));
    assert.deepEqual(
      data.rows().map((row) => (row.kind === 'turn' ? `turn ${row.turn.number}` : row.call.index)),
      [0, 'turn 1', 1, 'turn 2', 'turn 3', 2],
    );
  });
});
