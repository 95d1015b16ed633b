// Tests the outcome of a turn whose connection was lost.
import { strict as assert } from 'node:assert';
import { outcomeOf } from '../../../../src/client/turns/engine';

describe('a turn whose connection was lost', () => {
  const running = { state: 'running' };
  const idle = { state: 'idle', stopReason: 'end_turn' } as const;

  it("is lost if the agent doesn't have its session, whatever was replayed", () => {
    for (const answer of ['saved', 'not_found', 'failed', 'unresponsive', 'unsupported'] as const)
      assert.deepEqual(outcomeOf({ before: running, state: running }, { answer }, true), { kind: 'lost' });
  });

  it('has the agent’s latest state: after the question, in its answer, or before', () => {
    const fate = (cut: Parameters<typeof outcomeOf>[0], state?: typeof running): string =>
      outcomeOf(cut, { answer: 'live', ...(state && { state }) }, true).kind;
    assert.equal(fate({ before: idle, state: running }, idle), 'runs');
    assert.equal(fate({ before: running, state: idle }, running), 'ended');
    assert.equal(fate({ before: running }, idle), 'ended');
    assert.equal(fate({ before: idle }), 'ended');
    assert.equal(fate({}), 'unsaid');
  });

  it('has not ended while it is unknown whether the agent has its prompt', () => {
    for (const hasArrived of [false, undefined])
      assert.deepEqual(outcomeOf({ state: idle }, { answer: 'live' }, hasArrived), { kind: 'lost' });
    assert.deepEqual(outcomeOf({}, { answer: 'live' }, false), { kind: 'lost' });
  });

  it('ends with a turn_complete that names it, or from an agent that has its prompt', () => {
    const complete = { promptRequestId: undefined, stopReason: 'refusal' } as const;
    const named = { ...complete, promptRequestId: '7' };
    assert.equal(outcomeOf({ complete }, { answer: 'live' }, true).kind, 'complete');
    assert.equal(outcomeOf({ complete }, { answer: 'live' }, false).kind, 'lost');
    assert.equal(outcomeOf({ complete: named }, { answer: 'live' }, false).kind, 'complete');
  });
});
