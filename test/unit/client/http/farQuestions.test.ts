// Questions of an HTTP agent: the next message answers them, also after a restart and in the next
// window.
import { strict as assert } from 'node:assert';
import { phaseOf } from '../../../../src/client/view/projectSession';
import { define, Kept, notices, remoteFor, TOKEN, texts, useFarAgents } from './farAgents';

describe('an HTTP agent in the panel', function () {
  this.timeout(20_000);
  const { open, openServed } = useFarAgents();

  describe('that asks a question', () => {
    it('continues its run with the answer', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      assert.equal((await conversation.send('go').done).stopReason, 'end_turn');
      assert.deepEqual(texts(opened), ['Proceed?']);
      assert.deepEqual(notices(opened), ['agent-awaits']);
      assert.equal(phaseOf(conversation), 'requiresAction');
      const notes = (): unknown[] => [...conversation.model.state.turns.values()].map(({ note }) => note);
      assert.deepEqual(notes(), ['awaits-answer']);
      await conversation.send('yes').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: yes']);
      assert.equal(phaseOf(conversation), 'ready');
      assert.equal(conversation.communication.descriptor?.history.length, 2);
    });

    it('pauses messages that were queued before the question', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      const first = conversation.send('go');
      const second = conversation.send('and then delete everything');
      await first.done;
      assert.equal(conversation.queue.paused, 'agent-asks');
      assert.deepEqual(texts(opened), ['Proceed?']);
      await conversation.send('no').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: no']);
      conversation.queueActions.sendNow(second.id);
      await second.done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: no', 'Proceed?']);
    });

    it('keeps the question across a restart', async () => {
      const opened = await openServed('awaiting');
      const { conversation } = opened;
      await conversation.send('go').done;
      await conversation.restart();
      assert.equal(phaseOf(conversation), 'requiresAction');
      await conversation.send('yes').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'resumed with: yes']);
    });

    it('withdraws the question after Stop', async () => {
      const opened = await openServed('awaiting');
      const { conversation, until } = opened;
      await conversation.send('go').done;
      conversation.cancel();
      await until(() => notices(opened).at(-1) === 'question-withdrawn');
      assert.equal(phaseOf(conversation), 'ready');
      await conversation.send('go again').done;
      assert.deepEqual(texts(opened), ['Proceed?', 'Proceed?']);
    });

    it('keeps the question when the window ends', async () => {
      const descriptors = new Kept();
      const { conversation, server } = await openServed('awaiting', { descriptors });
      await conversation.send('go').done;
      const { sessionId } = conversation;
      await conversation.close();
      const again = open(
        define(server.baseUrl, 'awaiting', { Authorization: TOKEN }),
        { descriptors, remote: remoteFor(server) },
        sessionId,
      );
      await again.conversation.start();
      assert.equal(phaseOf(again.conversation), 'requiresAction');
      await again.conversation.send('yes').done;
      assert.deepEqual(texts(again), ['resumed with: yes']);
      assert.equal(again.conversation.communication.descriptor?.id, sessionId);
      assert.equal(again.conversation.communication.descriptor?.history.length, 2);
    });
  });
});
