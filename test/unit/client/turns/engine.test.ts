// Tests when a turn ends: by its barrier, its answer or the agent's exit, and never twice.
import { strict as assert } from 'node:assert';
import { GRACES, isOwnWork } from '../../../../src/client/turns/turnState';
import { PlayedTurns } from '../../../support/turns';

const { barrierMs, unclearMs, longestBarrierMs } = GRACES;

describe('the turn engine', () => {
  let turns: PlayedTurns;
  beforeEach(() => {
    turns = new PlayedTurns();
  });

  it('ends a turn at the barrier and waits for the answer before the next prompt', () => {
    const id = turns.prompt({ promised: true, requestId: '2' });
    turns.complete('2', 'end_turn');
    assert.deepEqual([turns.ends, turns.settled], [['t1 end_turn by turn_complete'], 0]);
    turns.answer(id, 'end_turn');
    assert.deepEqual([turns.ends, turns.settled], [['t1 end_turn by turn_complete'], 1]);
  });

  it('does not end an agent turn by the late barrier of an earlier prompt', () => {
    const id = turns.prompt({ requestId: '2' });
    turns.answer(id, 'end_turn');
    turns.report('running');
    turns.complete('2', 'end_turn');
    assert.deepEqual(turns.ends, ['t1 end_turn by response']);
    assert.equal(turns.marks.at(-1)?.note, 'doubled');
    turns.report('idle', { stopReason: 'end_turn' });
    assert.deepEqual(turns.ends, ['t1 end_turn by response', 't2 end_turn by state']);
  });

  describe('with a promised barrier', () => {
    const begun = (): string => turns.prompt({ promised: true, requestId: '2' });

    it('does not give up while a tool call of the turn is open, unless the user stopped it', () => {
      const id = begun();
      turns.call('c1', 'in_progress');
      turns.answer(id, 'end_turn');
      turns.pass(3_600_000);
      assert.deepEqual(turns.ends, []);
      turns.call('c1', 'completed');
      turns.pass(barrierMs - 1);
      assert.deepEqual(turns.ends, []);
      turns.call('c2', 'in_progress');
      turns.pass(barrierMs);
      turns.feed({ type: 'cancel' });
      turns.pass(barrierMs);
      assert.deepEqual(turns.ends, ['t1 cancelled by timeout']);
    });
  });

  it('treats the ids of the next connection as new ones', () => {
    turns.answer(turns.prompt({ requestId: '2' }), 'end_turn');
    turns.feed({ type: 'exited', note: 'It exited.', interrupted: false });
    turns.prompt({ requestId: '2' });
    turns.complete('2', 'max_tokens');
    assert.deepEqual(turns.ends, ['t1 end_turn by response', 't2 max_tokens by turn_complete']);
  });

  describe('that waits for the end of tool calls', () => {
    const lateUpdate = (id: string): void =>
      turns.hear({ type: 'tool_call', toolCallId: id, patch: { status: 'in_progress' }, announced: false });

    it('does not wait for a finished call or one of an earlier turn', () => {
      const first = turns.prompt({ promised: true, requestId: '2' });
      turns.call('c1', 'in_progress');
      turns.call('c2', 'in_progress');
      turns.call('c2', 'completed');
      turns.answer(first, 'end_turn');
      turns.complete('2');
      const second = turns.prompt({ promised: true, requestId: '3' });
      lateUpdate('c1');
      lateUpdate('c2');
      turns.answer(second, 'end_turn');
      turns.pass(barrierMs);
      assert.equal(turns.ends.at(-1), 't2 end_turn by timeout');
    });

    it('waits for a new call with the id of an earlier one', () => {
      const first = turns.prompt({ promised: true, requestId: '2' });
      turns.call('c1', 'in_progress');
      turns.call('c1', 'completed');
      turns.answer(first, 'end_turn');
      turns.complete('2');
      const second = turns.prompt({ promised: true, requestId: '3' });
      turns.call('c1', 'in_progress');
      turns.answer(second, 'end_turn');
      turns.pass(10 * barrierMs);
      assert.equal(turns.ends.length, 1);
    });
  });

  it('ignores foreign barriers after its own barrier was late', () => {
    const first = turns.prompt({ promised: true, requestId: '2' });
    turns.answer(first, 'end_turn');
    turns.complete('900');
    turns.pass(unclearMs);
    turns.complete('2');
    const second = turns.prompt({ promised: true, requestId: '3' });
    turns.answer(second, 'end_turn');
    turns.complete('901');
    assert.equal(turns.ends.length, 1);
    turns.complete('3', 'end_turn');
    assert.equal(turns.ends.at(-1), 't2 end_turn by turn_complete');
  });

  for (const [what, begin] of Object.entries({
    'an answer without a reason': () => turns.answer(turns.prompt()),
    'a foreign barrier': () => {
      turns.answer(turns.prompt({ promised: true, requestId: '2' }), 'end_turn');
      turns.complete('900');
    },
    'an early idle': () => {
      const id = turns.prompt({ endsBy: 'state' });
      turns.report('idle', { stopReason: 'end_turn' });
      turns.receipt(id, 'u1');
    },
  }))
    it(`ends a turn after ${what} although updates without progress keep coming`, () => {
      begin();
      for (let at = 0; at <= longestBarrierMs; at += unclearMs / 2) {
        turns.feed({ type: 'update', isOutput: false });
        turns.pass(unclearMs / 2);
      }
      assert.equal(turns.ends.length, 1);
    });

  it('shows a turn as cancelled, or as failed, if the error after its barrier says so', () => {
    const first = turns.prompt({ promised: true, requestId: '2' });
    turns.complete('2', 'end_turn');
    const error = { code: 'agent-error -32800', message: 'cancelled' };
    turns.feed({ type: 'failed', handle: first, error, withdrawn: true });
    assert.deepEqual(turns.results.get(first), { turnId: 't1', stopReason: 'cancelled' });
    const second = turns.prompt({ endsBy: 'state', requestId: '3' });
    turns.receipt(second, 'u1');
    turns.report('running');
    turns.complete('3', 'end_turn');
    turns.report('idle', { error: { code: 'agent-error -32603', message: 'no money' } });
    assert.deepEqual(turns.results.get(second), { turnId: 't2', stopReason: 'error' });
    assert.ok(turns.events.some((event) => event.type === 'error' && event.turnId === 't2'));
  });

  it('begins a turn of the agent if it runs again after the barrier', () => {
    const id = turns.prompt({ endsBy: 'state', requestId: '2' });
    turns.receipt(id, 'u1');
    turns.report('running');
    turns.complete('2', 'end_turn');
    turns.report('running');
    turns.report('idle', { stopReason: 'refusal' });
    assert.deepEqual(turns.begins, ['t1 user', 't2 agent']);
    assert.deepEqual(turns.ends, ['t1 end_turn by turn_complete', 't2 refusal by state']);
  });

  it('waits for nothing if the receipt follows the barrier', () => {
    const first = turns.prompt({ requestId: '2' });
    turns.complete('2', 'end_turn');
    turns.answer(first, undefined, { messageId: 'u1' });
    assert.equal(turns.settled, 1);
    const second = turns.prompt({ endsBy: 'state', promised: true, requestId: '3' });
    turns.report('running');
    turns.report('idle', { stopReason: 'refusal' });
    turns.complete('3');
    turns.receipt(second, 'u2');
    assert.deepEqual(turns.results.get(second), { turnId: 't2', stopReason: 'refusal' });
  });

  it('ends a turn once each of its prompts has failed', () => {
    const first = turns.prompt({ endsBy: 'state', text: 'A' });
    const second = turns.prompt({ endsBy: 'state', text: 'B' });
    turns.user('u1', 'A');
    turns.user('u2', 'B');
    const error = { code: 'agent-error', message: 'no money' };
    turns.feed({ type: 'failed', handle: first, error, withdrawn: false });
    assert.deepEqual(turns.ends, []);
    turns.feed({ type: 'failed', handle: second, error, withdrawn: false });
    assert.deepEqual(turns.ends, ['t1 error by response']);
  });

  it('uses the answer if the agent dies before its barrier', () => {
    const id = turns.prompt({ promised: true, requestId: '2' });
    turns.answer(id, 'max_tokens');
    turns.feed({ type: 'exited', note: 'It exited.', interrupted: true });
    assert.deepEqual(turns.results.get(id), { turnId: 't1', stopReason: 'max_tokens' });
  });

  describe('with an agent that reports its states', () => {
    const terms = { endsBy: 'state' } as const;
    const later = { endsBy: 'state', text: 'Later' } as const;

    it('does not end a waiting prompt when the agent’s own work ends', () => {
      turns.prompt(terms);
      turns.report('running');
      turns.report('idle', { stopReason: 'end_turn' });
      assert.deepEqual(turns.ends, []);
      turns.user('u1', 'Hello');
      turns.report('running');
      turns.report('idle', { stopReason: 'end_turn' });
      turns.pass(unclearMs);
      assert.deepEqual(turns.ends, ['t1 end_turn by state']);
    });

    it('shows the echo of a v1 prompt once, and never other text as that prompt', () => {
      const id = turns.prompt();
      turns.user('u0', '[Function Response: write_file]');
      turns.user('u1', 'Hello');
      turns.receipt(id, 'u1');
      const inserted = turns.events.flatMap((event) => (event.type === 'prompt_inserted' ? [event.messageId] : []));
      assert.deepEqual(inserted, ['u1']);
    });

    it('attributes a turn to the agent only if no prompt was sent', () => {
      turns.report('running');
      const waiting = turns.prompt(later);
      turns.report('idle');
      turns.report('running');
      turns.receipt(waiting, 'u2');
      assert.deepEqual(turns.begins, ['t1 agent', 't2 user']);
    });

    it('returns a prompt that was refused before its turn, and all waiting ones when the agent dies', () => {
      turns.prompt(terms);
      const [second, third] = [turns.prompt(later), turns.prompt(later)];
      turns.feed({ type: 'cancel' });
      const error = { code: 'agent-error -32800', message: 'cancelled' };
      const [done] = turns.feed({ type: 'failed', handle: second, error, withdrawn: true }).slice(-1);
      assert.deepEqual(done, { type: 'done', handle: second, promptId: second, refused: { asked: true } });
      turns.feed({ type: 'exited', note: 'It exited.', interrupted: false });
      assert.ok(turns.results.has(third) && turns.results.get(third) === undefined);
      assert.deepEqual(turns.ends, ['t1 cancelled by exit']);
    });

    it('ends the agent’s own work at another client’s turn_complete, and sends the next prompt', () => {
      turns.report('running');
      turns.complete('900', 'end_turn');
      assert.deepEqual([turns.ends, turns.settled], [['t1 end_turn by turn_complete'], 1]);
      assert.equal(turns.state.agentState, 'idle');
    });

    it('does not block prompts if a v1 agent reports work but never its end', () => {
      turns.report('running');
      assert.equal(isOwnWork(turns.state), true);
      const id = turns.prompt();
      turns.report('idle');
      assert.deepEqual(turns.ends, []);
      turns.answer(id, 'end_turn');
      assert.deepEqual([turns.begins, turns.ends], [['t1 agent'], ['t1 end_turn by response']]);
    });
  });

  it('links a prompt to its message if the receipt or echo follows the end', () => {
    const id = turns.prompt({ endsBy: 'state', requestId: '2', text: '/mine' });
    turns.report('running');
    turns.complete('2', 'end_turn');
    turns.receipt(id, 'u1');
    turns.user('u1', 'Do what is mine');
    const types = turns.events
      .map(({ type }) => type)
      .filter((type) => type.startsWith('prompt_') || type === 'message');
    assert.deepEqual(types, ['prompt_sent', 'prompt_inserted', 'message']);
  });

  it('does not end a turn by an idle from before its prompt was sent again', () => {
    const id = turns.prompt({ endsBy: 'state', requestId: '1' });
    turns.report('idle', { stopReason: 'end_turn' });
    turns.feed({ type: 'sent', handle: id, requestId: '2' });
    turns.receipt(id, 'u1');
    turns.pass(10 * unclearMs);
    assert.deepEqual(turns.ends, []);
    turns.report('running');
    turns.report('idle', { stopReason: 'max_tokens' });
    assert.deepEqual(turns.ends, ['t1 max_tokens by state']);
  });
});
