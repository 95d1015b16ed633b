// Tests the timers of turns when the clock is set, the machine sleeps or the window ends.

import { strict as assert } from 'node:assert';
import { toDisposable } from '../../../../src/base/disposable';
import { silentLog } from '../../../../src/base/log';
import { TurnDriver } from '../../../../src/client/prompts/turnDriver';
import {
  GRACES,
  initialTurns,
  keptTurns,
  keptTurnsSchema,
  restoredTurns,
} from '../../../../src/client/turns/turnState';
import type { SessionEvent } from '../../../../src/session/events/event';
import { pluck } from '../../../support/pluck';

const HOUR_MS = 3_600_000;
const { barrierMs } = GRACES;

describe('the driver of turns', () => {
  let now: number;
  let timers: { run: () => void; ms: number }[];
  let events: SessionEvent[];
  let settled: number;

  beforeEach(() => {
    now = 1_000_000;
    timers = [];
    events = [];
    settled = 0;
  });

  function driver(): TurnDriver {
    return new TurnDriver(initialTurns(), {
      graces: GRACES,
      schedule: (run, ms) => {
        const timer = { run, ms };
        timers.push(timer);
        return toDisposable(() => {
          timers = timers.filter((other) => other !== timer);
        });
      },
      now: () => now,
      log: silentLog,
      apply: (event) => events.push(event),
      onInserted() {},
      onSettled: () => void settled++,
    });
  }

  function answered(): TurnDriver {
    const turns = driver();
    turns.feed({ type: 'prompt', handle: 'p1', promptId: 'p1', text: 'Hi', endsBy: 'response', promised: true });
    turns.feed({ type: 'sent', handle: 'p1', requestId: '2' });
    turns.feed({ type: 'answer', handle: 'p1', answer: { ends: true, stopReason: 'end_turn' } });
    assert.equal(timers.length, 1);
    return turns;
  }

  function fire(): void {
    const [timer] = timers.splice(0, 1);
    assert.ok(timer);
    timer.run();
  }

  const ends = (): string[] =>
    events.flatMap((event) => (event.type === 'turn_ended' ? [`${event.stopReason} by ${event.barrier}`] : []));

  it('waits the full time if the clock jumps forward', () => {
    const turns = answered();
    now += HOUR_MS;
    turns.feed({ type: 'update', isOutput: false });
    assert.deepEqual(ends(), []);
    turns.feed({ type: 'complete', barrier: { promptRequestId: '2', stopReason: 'end_turn' } });
    assert.deepEqual(ends(), ['end_turn by turn_complete']);
  });

  it('waits again if the machine slept while it waited', () => {
    const turns = answered();
    now += HOUR_MS;
    fire();
    assert.deepEqual(ends(), []);
    now += barrierMs;
    fire();
    assert.deepEqual([ends(), settled, turns.state.turn], [['end_turn by timeout'], 1, undefined]);
  });

  it("doesn't wait longer if the clock jumps back", () => {
    answered();
    now -= HOUR_MS;
    fire();
    assert.deepEqual(ends(), ['end_turn by timeout']);
  });

  it('sets no timer once it is disposed', () => {
    const turns = answered();
    turns.dispose();
    turns.feed({ type: 'update', isOutput: true });
    assert.equal(timers.length, 0);
  });

  it('restarts its wait in the next window once the agent is attached', () => {
    const kept = keptTurnsSchema.parse(JSON.parse(JSON.stringify(keptTurns(answered().state))));
    timers = [];
    now += HOUR_MS;
    const turns = driver();
    turns.restore(
      restoredTurns(kept, 1, () => 'Hi', []),
      () => undefined,
    );
    assert.equal(timers.length, 0);
    turns.resume();
    assert.deepEqual(pluck(timers, 'ms'), [barrierMs]);
    turns.feed({ type: 'complete', barrier: { promptRequestId: '2', stopReason: 'end_turn' } });
    assert.deepEqual(ends(), ['end_turn by turn_complete']);
  });

  it('continues from the state of the previous version, which has no times', () => {
    const prompt = { handle: 'p1', promptId: 'p1', endsBy: 'response', promised: true, requestId: '2' } as const;
    const turn = { id: 't1', endsBy: 'response', promised: true, busySeen: false, cancelRequested: false } as const;
    const kept = keptTurnsSchema.parse({
      followers: 1,
      turn: { ...turn, barrierSeen: true, ended: 'end_turn' },
      prompts: [{ ...prompt, inTurn: true, awaited: true, inserted: true, cancelRequested: false }],
    });
    const turns = driver();
    turns.restore(
      restoredTurns(kept, 1, () => 'Hi', []),
      () => undefined,
    );
    turns.resume();
    now += GRACES.answerMs;
    fire();
    assert.equal(settled, 1);
  });
});
