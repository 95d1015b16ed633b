// Messages sent while a turn of protocol version 2 runs: each stands once, where the agent took it in, and none is lost.
import { strict as assert } from 'node:assert';
import { projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { useV2Session } from '../conversation/v2Session';

describe('v2 lifecycle', function () {
  this.timeout(20_000);
  const { session, open, entries } = useV2Session();

  describe('a message sent while a turn runs', () => {
    it('goes out at once, waits in the queue, and stands where the agent takes it in', async () => {
      const conversation = open();
      const first = conversation.send(
        'echo\nreceipt\nrunning\nsay one\nawait-prompt\nsay two\nawait-cancel\ntake\nidle cancelled',
      );
      await session.until(({ model }) => model.state.agentState === 'running');
      conversation.send('the second');
      await session.until(({ queue }) => queue.items[0]?.state === 'accepted');
      assert.match(projectSession(conversation).queue[0]?.reason ?? '', /Accepted by agent/);
      conversation.queueActions.remove();
      assert.equal(conversation.queue.items.length, 1, 'what the agent has cannot be taken away from it');
      conversation.cancel();
      assert.equal((await first.done).stopReason, 'cancelled');
    });

    it('is steered into the turn that runs', async () => {
      const conversation = open();
      const first = conversation.send(
        'echo\nreceipt\nrunning\nsay one\nawait-prompt\ntake\necho\nreceipt\nsay two\nidle end_turn',
      );
      await session.until(({ model }) => model.state.agentState === 'running');
      const second = conversation.send('the second');
      assert.equal((await second.done).turnId, (await first.done).turnId);
      assert.deepEqual(entries().slice(1), ['t1 agent: one', 't1 user: the second', 't1 agent: two']);
      assert.equal(conversation.queue.items.length, 0);
    });

    it('begins the next turn, in the order in which messages were sent', async () => {
      const conversation = open();
      const sent = [conversation.send('echo\nreceipt\nrunning\nawait-prompt\nsay one\nidle end_turn')];
      await session.until(({ model }) => model.state.agentState === 'running');
      sent.push(conversation.send('second'), conversation.send('third'));
      await Promise.all(sent.map(({ done }) => done));
      assert.deepEqual(entries().slice(1), [
        't1 agent: one',
        't2 user: second',
        't2 agent: Echo: second',
        't3 user: third',
        't3 agent: Echo: third',
      ]);
    });

    it('comes back to the queue, paused, where the turn is stopped before it was taken in', async () => {
      const conversation = open();
      const first = conversation.send('echo\nreceipt\nrunning\nawait-prompt\nawait-cancel\nidle cancelled');
      await session.until(({ model }) => model.state.agentState === 'running');
      const second = conversation.send('the second');
      await session.until(({ queue }) => queue.items[0]?.state === 'accepted');
      conversation.cancel();
      await first.done;
      await session.until(({ queue }) => queue.items[0]?.state === 'queued');
      assert.deepEqual(
        snapshotOf(conversation).queue.map(({ text, state }) => [text, state]),
        [['the second', 'paused']],
      );
      conversation.queueActions.resume();
      assert.equal((await second.done).stopReason, 'end_turn');
      assert.deepEqual(entries().slice(1), ['t2 user: the second', 't2 agent: Echo: the second']);
    });

    it('stays in the queue with its reason where the agent refuses it', async () => {
      const conversation = open();
      const first = conversation.send('echo\nreceipt\nrunning\nawait-prompt\ntake\nrefuse -32603\nidle end_turn');
      await session.until(({ model }) => model.state.agentState === 'running');
      conversation.send('the second');
      await first.done;
      assert.deepEqual(
        snapshotOf(conversation).queue.map(({ text, state, reason }) => [text, state, reason]),
        [['the second', 'failed', 'refused']],
      );
    });

    it('can be sent now: the turn is stopped, and it goes before the others', async () => {
      const conversation = open();
      const first = conversation.send('echo\nreceipt\nrunning\nawait-prompt\nawait-cancel\nidle cancelled');
      await session.until(({ model }) => model.state.agentState === 'running');
      const second = conversation.send('second');
      const third = conversation.send('third');
      await session.until(({ queue }) => queue.items.every(({ state }) => state === 'accepted'));
      conversation.queueActions.sendNow(third.id);
      assert.equal((await first.done).stopReason, 'cancelled');
      await Promise.all([second.done, third.done]);
      assert.deepEqual(
        entries()
          .filter((line) => line.includes('user'))
          .slice(1),
        ['t2 user: third', 't3 user: second'],
      );
    });

    it('is in the queue again where the agent dies before it was taken in', async () => {
      const conversation = open();
      conversation.send('echo\nreceipt\nrunning\nawait-prompt\nawait-cancel');
      await session.until(({ model }) => model.state.agentState === 'running');
      conversation.send('the second');
      await session.until(({ queue }) => queue.items[0]?.state === 'accepted');
      await conversation.restart();
      assert.deepEqual(
        snapshotOf(conversation).queue.map(({ text, state }) => [text, state]),
        [['the second', 'failed']],
        'nobody knows whether the agent had begun with it: the user is asked',
      );
    });
  });
});
