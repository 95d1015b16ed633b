// When a turn is over: by its barrier, by its answer, by the death of the agent, and never twice.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../src/base/log';
import { TurnLedger } from '../../../src/client/turnLedger';
import type { SessionEvent } from '../../../src/session/event';

function ledger() {
  const events: SessionEvent[] = [];
  let settled = 0;
  const made = new TurnLedger({
    apply: (event) => events.push(event),
    now: () => 0,
    log: silentLog,
    onSettled: () => settled++,
    barrierGraceMs: 1,
    answerGraceMs: 1,
  });
  const ends = () =>
    events.flatMap((event) =>
      event.type === 'turn_ended'
        ? [`${event.turnId} ${event.stopReason} by ${event.barrier}`]
        : event.type === 'turn_reason'
          ? [`${event.turnId} was ${event.stopReason}`]
          : [],
    );
  return { made, ends, events, settled: () => settled };
}

describe('turn ledger', () => {
  it('ends a turn at its answer where no barrier is promised', async () => {
    const { made, ends } = ledger();
    const { id, done } = made.begin();
    made.answered(id, 'end_turn', undefined, false);
    assert.deepEqual(await done, { turnId: 't1', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by response']);
  });

  it('ends a turn at the barrier and waits for the answer before the next prompt', async () => {
    const { made, ends, settled } = ledger();
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.turnComplete({ promptRequestId: '2', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete']);
    assert.equal(settled(), 0);
    made.answered(id, 'end_turn', undefined, true);
    await done;
    assert.equal(settled(), 1);
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete']);
  });

  it('waits for a promised barrier that trails the answer', async () => {
    const { made, ends } = ledger();
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.answered(id, 'max_tokens', 9, true);
    assert.deepEqual(ends(), []);
    made.turnComplete({ promptRequestId: '2', stopReason: undefined });
    assert.equal((await done).stopReason, 'max_tokens');
    assert.deepEqual(ends(), ['t1 max_tokens by turn_complete']);
  });

  it('says so where the promised barrier never comes', async () => {
    const { made, ends, events } = ledger();
    const { id, done } = made.begin();
    made.answered(id, 'end_turn', undefined, true);
    await done;
    assert.deepEqual(ends(), ['t1 end_turn by timeout']);
    assert.ok(events.some((event) => event.type === 'turn_ended' && event.note));
  });

  it('goes on where the answer never follows the barrier', async () => {
    const { made, ends, settled } = ledger();
    const { done } = made.begin();
    made.turnComplete({ promptRequestId: undefined, stopReason: undefined });
    assert.equal((await done).stopReason, 'unknown');
    assert.equal(settled(), 1);
    assert.deepEqual(ends(), ['t1 unknown by turn_complete']);
  });

  it('ignores a second barrier, and one that belongs to an earlier prompt', async () => {
    const { made, ends } = ledger();
    const first = made.begin();
    made.sent(first.id, '2');
    made.turnComplete({ promptRequestId: '2', stopReason: 'end_turn' });
    made.turnComplete({ promptRequestId: '2', stopReason: 'cancelled' });
    made.answered(first.id, 'end_turn', undefined, true);
    await first.done;
    const second = made.begin();
    made.sent(second.id, '3');
    made.turnComplete({ promptRequestId: '2', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete']);
    made.answered(second.id, 'end_turn', undefined, false);
    await second.done;
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete', 't2 end_turn by response']);
  });

  it('takes a barrier with an id that was never a prompt for the turn that runs', () => {
    const { made, ends } = ledger();
    const { id } = made.begin();
    made.sent(id, '2');
    made.turnComplete({ promptRequestId: 'abc', stopReason: 'refusal' });
    assert.deepEqual(ends(), ['t1 refusal by turn_complete']);
  });

  it('believes the answer more than the barrier', async () => {
    const { made, ends } = ledger();
    const { id, done } = made.begin();
    made.turnComplete({ promptRequestId: undefined, stopReason: 'end_turn' });
    made.answered(id, 'refusal', undefined, true);
    assert.equal((await done).stopReason, 'refusal');
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete', 't1 was refusal']);
  });

  it('never shows a cancelled turn as completed, and an error after a cancel is the cancel', async () => {
    const { made, ends, events } = ledger();
    const first = made.begin();
    made.cancelRequested();
    made.answered(first.id, 'end_turn', undefined, false);
    assert.equal((await first.done).stopReason, 'cancelled');
    const second = made.begin();
    made.cancelRequested();
    made.failed(second.id, { code: 'agent-error -32800', message: 'cancelled' });
    await second.done;
    assert.deepEqual(ends(), ['t1 cancelled by response', 't2 cancelled by response']);
    assert.ok(!events.some((event) => event.type === 'error'));
  });

  it('shows the error of a failed prompt before the end of its turn', async () => {
    const { made, events } = ledger();
    const { id, done } = made.begin();
    made.failed(id, { code: 'agent-error -32603', message: 'model overloaded' });
    assert.equal((await done).stopReason, 'error');
    assert.deepEqual(
      events.map((event) => event.type),
      ['turn_started', 'error', 'turn_ended'],
    );
  });

  it('ends the turn of an agent that died', async () => {
    const { made, ends } = ledger();
    const { id, done } = made.begin();
    made.exited('Claude exited with code 3.');
    assert.equal((await done).stopReason, 'error');
    made.answered(id, 'end_turn', undefined, false);
    assert.deepEqual(ends(), ['t1 error by exit']);
  });
});
