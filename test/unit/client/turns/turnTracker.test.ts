// When a turn is over: by its barrier, by its answer, by the death of the agent, and never twice.
import { strict as assert } from 'node:assert';
import { LONGEST_BARRIER_MS } from '../../../../src/acp/proposals/turnComplete';
import { toDisposable } from '../../../../src/base/disposable';
import { silentLog } from '../../../../src/base/log';
import type { Schedule } from '../../../../src/client/ports/grace';
import { TurnTracker } from '../../../../src/client/turns/turnTracker';
import type { SessionEvent } from '../../../../src/session/events/event';

function tracker(schedule?: Schedule) {
  const events: SessionEvent[] = [];
  let settled = 0;
  const made = new TurnTracker({
    apply: (event) => events.push(event),
    now: () => 0,
    log: silentLog,
    onSettled: () => settled++,
    barrierGraceMs: 1,
    answerGraceMs: 1,
    ...(schedule && { schedule }),
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

/** Timers that a test runs by hand. */
function heldTimers() {
  const held = new Map<() => void, number>();
  const schedule: Schedule = (run, ms) => {
    const one = (): void => {
      if (held.delete(one)) run();
    };
    held.set(one, ms);
    return toDisposable(() => held.delete(one));
  };
  const waiting = (ms?: number) => [...held].flatMap(([run, after]) => (ms === undefined || after === ms ? [run] : []));
  return { schedule, waiting };
}

describe('turn tracker', () => {
  it('ends a turn at its answer where no barrier is promised', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.answered(id, 'end_turn', undefined, false);
    assert.deepEqual(await done, { turnId: 't1', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by response']);
  });

  it('ends a turn at the barrier and waits for the answer before the next prompt', async () => {
    const { made, ends, settled } = tracker();
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

  it('ends no turn of the agent by the late barrier of an earlier prompt', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.answered(id, 'end_turn', undefined, false);
    await done;
    made.state({ state: 'running' });
    made.turnComplete({ promptRequestId: '2', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by response']);
    made.state({ state: 'idle', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by response', 't2 end_turn by state']);
  });

  it('waits for a promised barrier that trails the answer', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.answered(id, 'max_tokens', { tokens: 9 }, true);
    assert.deepEqual(ends(), []);
    made.turnComplete({ promptRequestId: '2', stopReason: undefined });
    assert.equal((await done).stopReason, 'max_tokens');
    assert.deepEqual(ends(), ['t1 max_tokens by turn_complete']);
  });

  it('says so where the promised barrier never comes', async () => {
    const { made, ends, events } = tracker();
    const { id, done } = made.begin();
    made.answered(id, 'end_turn', undefined, true);
    await done;
    assert.deepEqual(ends(), ['t1 end_turn by timeout']);
    assert.ok(events.some((event) => event.type === 'turn_ended' && event.note));
  });

  it('lets the next prompt go where the answer never follows the barrier, and ignores that answer later', async () => {
    const { made, ends, settled } = tracker();
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.turnComplete({ promptRequestId: '2', stopReason: undefined });
    assert.equal((await done).stopReason, 'unknown');
    assert.equal(settled(), 1);
    assert.equal(made.hasWaiting, false);
    const next = made.begin();
    made.answered(id, 'refusal', undefined, true);
    made.answered(next.id, 'end_turn', undefined, false);
    await next.done;
    assert.deepEqual(ends(), ['t1 unknown by turn_complete', 't2 end_turn by response']);
  });

  it('waits for the promised barrier as long as updates come', async () => {
    const timers = heldTimers();
    const { made, ends } = tracker(timers.schedule);
    const { id, done } = made.begin();
    made.sent(id, '2');
    made.answered(id, 'end_turn', undefined, true);
    for (let update = 0; update < 5; update++) {
      const [before] = timers.waiting(1);
      made.updated();
      assert.notEqual(timers.waiting(1)[0], before, 'the quiet time begins again');
      assert.equal(timers.waiting(1).length, 1);
    }
    assert.deepEqual(ends(), []);
    made.turnComplete({ promptRequestId: '2', stopReason: 'end_turn' });
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete']);
    assert.equal(timers.waiting().length, 0, 'nothing is waited for any more');
    await done;
  });

  it('ends a turn whose promised barrier does not come although updates never stop', () => {
    const timers = heldTimers();
    const { made, ends } = tracker(timers.schedule);
    const { id } = made.begin();
    made.answered(id, 'end_turn', undefined, true);
    made.updated();
    timers.waiting(LONGEST_BARRIER_MS)[0]?.();
    assert.deepEqual(ends(), ['t1 end_turn by timeout']);
  });

  it('ignores a second barrier, and one that belongs to an earlier prompt', async () => {
    const { made, ends } = tracker();
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

  it('ignores a barrier that names the prompt of another client', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.turnComplete({ promptRequestId: 'other-client-7', stopReason: 'refusal' });
    made.sent(id, '2');
    made.turnComplete({ promptRequestId: 'other-client-7', stopReason: 'refusal' });
    assert.deepEqual(ends(), []);
    made.answered(id, 'end_turn', undefined, false);
    await done;
    assert.deepEqual(ends(), ['t1 end_turn by response']);
  });

  it('takes the ids of the next connection for new ones', async () => {
    const { made, ends } = tracker();
    const first = made.begin();
    made.sent(first.id, '2');
    made.answered(first.id, 'end_turn', undefined, false);
    await first.done;
    made.exited('It exited.');
    const second = made.begin();
    made.sent(second.id, '2');
    made.turnComplete({ promptRequestId: '2', stopReason: 'max_tokens' });
    assert.deepEqual(ends(), ['t1 end_turn by response', 't2 max_tokens by turn_complete']);
  });

  describe('with a v1 agent that answers a prompt without a reason', () => {
    it('treats a later state as a sign that the turn continues', async () => {
      const timers = heldTimers();
      const { made, ends } = tracker(timers.schedule);
      const { id, done } = made.begin();
      made.answered(id, undefined, undefined, false);
      assert.deepEqual(ends(), []);
      made.state({ state: 'running' });
      assert.equal(timers.waiting().length, 0);
      made.state({ state: 'idle', stopReason: 'max_tokens' });
      assert.equal((await done).stopReason, 'max_tokens');
      assert.deepEqual(ends(), ['t1 max_tokens by state']);
    });

    it('takes an idle without a reason that follows for the end', () => {
      const { made, ends } = tracker(heldTimers().schedule);
      const { id } = made.begin();
      made.answered(id, undefined, undefined, false);
      made.state({ state: 'idle' });
      assert.deepEqual(ends(), ['t1 end_turn by state']);
    });

    it('ends the turn when nothing follows', () => {
      const timers = heldTimers();
      const { made, ends } = tracker(timers.schedule);
      const { id } = made.begin();
      made.answered(id, undefined, undefined, false);
      made.updated();
      assert.deepEqual(ends(), []);
      for (const run of timers.waiting()) run();
      assert.deepEqual(ends(), ['t1 unknown by response']);
      assert.equal(made.hasWaiting, false);
    });

    it('takes a barrier that was not promised for the end', async () => {
      const { made, ends, settled } = tracker(heldTimers().schedule);
      const { id, done } = made.begin();
      made.answered(id, undefined, undefined, false);
      made.turnComplete({ promptRequestId: undefined, stopReason: 'refusal' });
      assert.equal((await done).stopReason, 'refusal');
      assert.equal(settled(), 1);
      assert.deepEqual(ends(), ['t1 refusal by turn_complete']);
    });
  });

  it('believes the answer more than the barrier', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.turnComplete({ promptRequestId: undefined, stopReason: 'end_turn' });
    made.answered(id, 'refusal', undefined, true);
    assert.equal((await done).stopReason, 'refusal');
    assert.deepEqual(ends(), ['t1 end_turn by turn_complete', 't1 was refusal']);
  });

  it('never shows a cancelled turn as completed, and an error after a cancel is the cancel', async () => {
    const { made, ends, events } = tracker();
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
    const { made, events } = tracker();
    const { id, done } = made.begin();
    made.failed(id, { code: 'agent-error -32603', message: 'model overloaded' });
    assert.equal((await done).stopReason, 'error');
    assert.deepEqual(
      events.map((event) => event.type),
      ['turn_started', 'error', 'turn_ended'],
    );
  });

  it('ends the turn of an agent that died', async () => {
    const { made, ends } = tracker();
    const { id, done } = made.begin();
    made.exited('Claude exited with code 3.');
    assert.equal((await done).stopReason, 'error');
    made.answered(id, 'end_turn', undefined, false);
    assert.deepEqual(ends(), ['t1 error by exit']);
  });

  describe('with an agent that reports its states', () => {
    const terms = {
      promptId: 'q1',
      content: [{ type: 'text', text: 'Hello' }],
      endsBy: 'state',
      promised: false,
    } as const;
    const later = { ...terms, promptId: 'q2', content: [{ type: 'text', text: 'Later' }] } as const;
    const echo = (messageId: string, text: string): SessionEvent => ({
      type: 'message',
      role: 'user',
      messageId,
      content: [{ type: 'text', text }],
    });
    const began = (events: readonly SessionEvent[]): string[] =>
      events.flatMap((event) => (event.type === 'turn_started' ? [`${event.turnId} ${event.origin}`] : []));

    it('ends a turn with the idle that follows its running, and only once', async () => {
      const { made, ends } = tracker();
      const { id, done } = made.begin(terms);
      made.state({ state: 'idle' });
      made.received(id, 'u1');
      made.state({ state: 'running' });
      made.state({ state: 'brooding' });
      assert.deepEqual(ends(), []);
      made.state({ state: 'idle', stopReason: 'refusal' });
      made.state({ state: 'idle', stopReason: 'refusal' });
      assert.equal((await done).stopReason, 'refusal');
      assert.deepEqual(ends(), ['t1 refusal by state']);
    });

    it('does not take the end of the agent’s own work for the end of a prompt that still waits', () => {
      const { made, ends } = tracker();
      made.begin(terms);
      made.state({ state: 'running' });
      made.state({ state: 'idle', stopReason: 'end_turn' });
      assert.deepEqual(ends(), []);
      made.heard(echo('u1', 'Hello'));
      made.state({ state: 'running' });
      made.state({ state: 'idle', stopReason: 'end_turn' });
      assert.deepEqual(ends(), ['t1 end_turn by state']);
    });

    it('ends a turn whose idle came before its receipt and echo, without a running, when nothing follows', async () => {
      const timers = heldTimers();
      const { made, ends } = tracker(timers.schedule);
      const { id, done } = made.begin(terms);
      made.state({ state: 'idle', stopReason: 'refusal' });
      made.received(id, 'u1');
      made.heard(echo('u1', 'Hello'));
      assert.deepEqual(ends(), []);
      for (const run of timers.waiting()) run();
      assert.equal((await done).stopReason, 'refusal');
      assert.deepEqual(ends(), ['t1 refusal by state']);
    });

    it('does not end a turn by an idle that came before its receipt where the agent runs after it', () => {
      const timers = heldTimers();
      const { made, ends } = tracker(timers.schedule);
      const { id } = made.begin(terms);
      made.state({ state: 'idle', stopReason: 'end_turn' });
      made.heard(echo('u1', 'Hello'));
      made.received(id, 'u1');
      made.state({ state: 'running' });
      assert.equal(timers.waiting().length, 0);
      assert.deepEqual(ends(), []);
      made.state({ state: 'idle', stopReason: 'refusal' });
      assert.deepEqual(ends(), ['t1 refusal by state']);
    });

    it('shows the echo of a v1 prompt once, and no other words as that prompt', () => {
      const { made, events } = tracker();
      const { id } = made.begin({ ...terms, endsBy: 'response' });
      made.heard(echo('u0', '[Function Response: write_file]'));
      made.heard(echo('u1', 'Hello'));
      made.received(id, 'u1');
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'prompt_inserted' ? [event.messageId] : [])),
        ['u1'],
      );
    });

    it('calls a turn the agent’s own only where no prompt is on its way', () => {
      const { made, events } = tracker();
      made.state({ state: 'running' });
      const waiting = made.follow(later);
      made.state({ state: 'idle' });
      made.state({ state: 'running' });
      made.received(waiting.id, 'u2');
      assert.deepEqual(began(events), ['t1 agent', 't2 user']);
    });

    it('puts a prompt into the turn that takes it in, by the id or the text of its echo', async () => {
      const { made, events } = tracker();
      const first = made.begin(terms);
      made.state({ state: 'running' });
      const second = made.follow(later);
      made.heard(echo('u2', ' Later\n'));
      made.received(second.id, 'u2');
      made.heard(echo('u1', 'Hello'));
      made.received(first.id, 'u1');
      made.state({ state: 'idle', stopReason: 'end_turn' });
      assert.deepEqual(await second.done, { turnId: 't1', stopReason: 'end_turn' });
      assert.deepEqual(
        events.flatMap((event) =>
          event.type === 'prompt_sent' || event.type === 'prompt_inserted'
            ? [[event.type, event.promptId, event.messageId]]
            : [],
        ),
        [
          ['prompt_sent', 'q2', 'u2'],
          ['prompt_inserted', 'q1', 'u1'],
        ],
      );
    });

    it('gives back a prompt that was refused before a turn took it in, and all of them when the agent dies', async () => {
      const { made, ends } = tracker();
      made.begin(terms);
      const [second, third] = [made.follow(later), made.follow({ ...later, promptId: 'q3' })];
      made.cancelRequested();
      const refused = made.failed(second.id, { code: 'agent-error -32800', message: 'cancelled' }, true);
      assert.deepEqual(refused, { kind: 'refused', asked: true });
      assert.equal(await second.done, undefined);
      made.exited('It exited.');
      assert.equal(await third.done, undefined);
      assert.deepEqual(ends(), ['t1 cancelled by exit']);
    });

    it('lets only the answer end a v1 turn, unless the answer has no reason and states were seen', async () => {
      const { made, ends } = tracker();
      const first = made.begin();
      made.state({ state: 'running' });
      made.state({ state: 'idle', stopReason: 'refusal' });
      assert.deepEqual(ends(), []);
      made.answered(first.id, 'end_turn', undefined, false);
      const second = made.begin();
      made.state({ state: 'running' });
      made.received(second.id, undefined);
      made.state({ state: 'idle', stopReason: 'max_tokens' });
      await second.done;
      assert.deepEqual(ends(), ['t1 end_turn by response', 't2 max_tokens by state']);
    });

    it('does not lock the user out where a v1 agent says that it works and never that it is done', async () => {
      const { made, ends, events } = tracker();
      made.state({ state: 'running' });
      assert.equal(made.isOwnWork, true);
      const { id, done } = made.begin();
      made.state({ state: 'idle' });
      assert.deepEqual(ends(), []);
      made.answered(id, 'end_turn', undefined, false);
      await done;
      assert.deepEqual(began(events), ['t1 agent']);
      assert.deepEqual(ends(), ['t1 end_turn by response']);
    });
  });
});
