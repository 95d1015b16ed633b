// The times of a session's turns and calls, for the timeline.

import { strict as assert } from 'node:assert';
import { entryOf, timelineParts } from '../../../../src/client/view/timelineParts';
import type { SessionEvent, TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { modelOf, said, timed, turn } from '../../../support/store/journals';

type Timed = readonly [at: number, event: SessionEvent];

const starts = (turnId: string, at: number): Timed => [at, { type: 'turn_started', turnId, origin: 'user', at }];
const ends = (turnId: string, at: number): Timed => [
  at,
  { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at },
];
const calls = (at: number, toolCallId: string, status: 'in_progress' | 'completed', title = toolCallId): Timed => [
  at,
  { type: 'tool_call', toolCallId, announced: true, patch: { title, kind: 'execute', status } },
];
const says = (at: number): Timed => [
  at,
  { type: 'message_chunk', role: 'agent', messageId: `m${at}`, block: { type: 'text', text: 'Well.' } },
];
const asks = (at: number): Timed => [
  at,
  { type: 'permission_asked', permissionId: `p${at}`, title: 'May I?', options: [] },
];
const answered = (at: number, asked: number): Timed => [
  at,
  { type: 'permission_closed', permissionId: `p${asked}`, outcome: 'selected', by: 'user' },
];

function play(...events: readonly Timed[]): SessionModel {
  const model = new SessionModel();
  for (const [at, event] of events) model.apply(event, at);
  return model;
}

describe('parts of the timeline', () => {
  it('contain turns with their waits, and calls with their turns', () => {
    const { state } = play(
      starts('a', 1000),
      says(1100),
      calls(1200, 'x', 'in_progress', 'npm test\nmore'),
      asks(1300),
      answered(1800, 1300),
      calls(2000, 'x', 'completed'),
      ends('a', 2500),
      starts('b', 9000),
      calls(9100, 'y', 'in_progress'),
      asks(9200),
    );
    const [part, ...more] = timelineParts(state, 0, 9700);
    assert.deepEqual(more, []);
    sameData(part, {
      from: 0,
      turns: [
        { number: 1, at: 1000, endedAt: 2500, index: 0, waits: [{ from: 1300, until: 1800 }] },
        { number: 2, at: 9000, index: 3, waits: [{ from: 9200, until: 9700 }] },
      ],
      calls: [
        { index: 1, at: 1200, endedAt: 2000, kind: 'execute', status: 'completed', title: 'x', turn: 1 },
        { index: 3, at: 9100, kind: 'execute', status: 'in_progress', title: 'y', turn: 2 },
      ],
      now: 9700,
      isDone: true,
    });
  });

  it('contain the context at the end of each turn, and its cost if the agent reports totals', () => {
    const used = (at: number, part: number, amount?: number, currency = 'USD'): Timed => [
      at,
      {
        type: 'usage',
        usage: { used: part * 1000, size: 1000, ...(amount !== undefined && { cost: { amount, currency } }) },
      },
    ];
    const { state } = play(
      used(0, 0.1),
      ...[starts('a', 1), used(2, 0.2, 0.5), used(3, 0.3, 0.75), ends('a', 4)],
      ...[starts('b', 5), ends('b', 6), used(7, 1.5, 1)],
      ...[starts('c', 8), used(9, 0.2, 0.25), ends('c', 10)],
      ...[starts('d', 11), used(12, 0.4, 2, 'EUR'), ends('d', 13)],
      ...[starts('e', 14), ends('e', 15)],
      ...[starts('f', 16), used(17, 0.5, 3), ends('f', 18)],
    );
    assert.deepEqual(
      timelineParts(state, 0, 20)[0]?.turns.map(({ context, cost }) => [context, cost?.amount]),
      [
        [0.3, 0.75],
        [1, 0.25],
        [0.2, undefined],
        [0.4, undefined],
        [undefined, undefined],
        [0.5, undefined],
      ],
    );
  });

  it('contain the first line of a title, shortened', () => {
    const { state } = play(starts('a', 0), calls(1, 'x', 'completed', `${'long '.repeat(100)}\nsecond`));
    const title = timelineParts(state, 0, 10)[0]?.calls[0]?.title ?? '';
    assert.equal(title.length, 120);
    assert.ok(!title.includes('second'));
  });

  it('contain only what is new since an entry', () => {
    const events = [starts('a', 0), calls(1, 'x', 'completed'), ends('a', 5), starts('b', 10)];
    const { state } = play(...events, calls(11, 'y', 'completed'));
    const [part] = timelineParts(state, 2, 20);
    assert.deepEqual([part?.turns.map(({ number }) => number), part?.calls.map(({ index }) => index)], [[2], [2]]);
    assert.deepEqual(
      pluck(timelineParts(play(...events).state, 2, 20)[0]?.turns ?? [], 'number'),
      [2],
      'a turn that has no entry yet',
    );
  });

  it('are consecutive and of bounded size', () => {
    const many = Array.from({ length: 10_001 }, (_, index) => calls(index, `c${index}`, 'completed'));
    const parts = timelineParts(play(starts('a', 0), ...many).state, 0, 20_000);
    assert.deepEqual(
      parts.map(({ from, calls: some, turns, isDone }) => [from, some.length, turns.length, isDone]),
      [
        [0, 5000, 1, false],
        [5000, 5000, 0, false],
        [10_000, 1, 0, true],
      ],
    );
  });

  it('don’t show a call left open by a replay as running', () => {
    const model = play([0, { type: 'cleared', replay: true }], calls(5, 'x', 'in_progress'));
    assert.equal(timelineParts(model.state, 0, 99_999)[0]?.calls[0]?.endedAt, 5);
  });
});

describe('the entry of an event', () => {
  const call = { type: 'tool_call', toolCallId: 'c', patch: { title: 'Read a.ts' }, announced: true } as const;
  const done = { type: 'tool_call', toolCallId: 'c', patch: { status: 'completed' }, announced: false } as const;
  const events: TimedEvent[] = [...turn('t1', 1, 'first', 'answer'), ...timed(10, call, said('then', 'm'), done)];
  const model = modelOf(events);
  const kinds = events.map((event) => model.state.entries[entryOf(model, event) ?? -1]?.kind);

  it('is the message of a prompt or a chunk, and the tool call of an update', () => {
    assert.deepEqual([kinds[1], kinds[2]], ['user', 'agent']);
    assert.deepEqual(kinds.slice(-3), ['tool', 'agent', 'tool']);
  });

  it('is the turn’s first entry for its start', () => {
    const [started] = events;
    assert.equal(started?.event.type, 'turn_started');
    assert.equal(entryOf(model, { ...started, at: 0 }), 0);
  });

  it('is the previous entry if it has none itself, and none before the first', () => {
    const event = said('gone');
    assert.equal(entryOf(model, { at: 11.5, event }), entryOf(model, events.at(-2)!));
    assert.equal(entryOf(model, { at: 0, event }), undefined);
  });
});
