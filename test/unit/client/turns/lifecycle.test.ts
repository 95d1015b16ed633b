// Tests the prompt lifecycle of version 2 with a real agent process.
import { strict as assert } from 'node:assert';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { ProtocolOffers } from '../../../../src/client/transport/protocolOffers';
import { phaseOf, projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { pluck } from '../../../support/pluck';
import { useAgentSession } from '../../../support/sessions/agentSession';
import { queueStates } from '../../../support/sessions/conversation';

describe('v2 lifecycle', function () {
  this.timeout(20_000);
  const session = useAgentSession();
  const open = (script: AgentScript = {}, protocol: 2 | 'auto' = 2, services: Partial<ConversationServices> = {}) =>
    session.openAgent({ ...scriptedAgent({ versions: [2], ...script }, session.agentLog), protocol }, { services })
      .conversation;
  const entries = (): string[] =>
    snapshotOf(session.conversation).entries.map(({ kind, text, turnId }) => `${turnId ?? '-'} ${kind}: ${text}`);

  describe('the end of a turn', () => {
    it('asks the user if the agent reports requires_action', async () => {
      const conversation = open();
      const sent = conversation.send(
        'echo\nreceipt\nrunning\nstate {"state":"requires_action"}\nawait-cancel\nidle cancelled',
      );
      await session.until((c) => phaseOf(c) === 'requiresAction');
      conversation.cancel();
      assert.equal((await sent.done).stopReason, 'cancelled');
      assert.equal(phaseOf(conversation), 'ready');
    });
  });

  describe('an agent that works on its own', () => {
    it('keeps background work when a turn ends', async () => {
      const conversation = open();
      await conversation.send(
        'echo\nreceipt\nrunning\nupdate {"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"Watch","status":"in_progress"}\nstate {"state":"idle","stopReason":"end_turn","background":[{"type":"tool_call","toolCallId":"c1"}]}',
      ).done;
      assert.deepEqual(conversation.model.state.background, [{ type: 'tool_call', id: 'c1' }]);
      assert.equal(snapshotOf(conversation).entries.at(-1)?.tool?.status, 'in_progress');
    });
  });

  for (const [name, subject] of Object.entries({
    'a tool call': { type: 'tool_call', toolCall: { toolCallId: 'c1', title: 'Write a file', kind: 'edit' } },
    'a command': { type: 'command', command: 'rm -r build', cwd: '/w' },
    'something that is not known': { type: 'teleport', to: 'Mars' },
    nothing: null,
  })) {
    it(`asks for permission for ${name}`, async () => {
      const conversation = open();
      const ask = JSON.stringify({ title: 'May I?', description: 'It is needed', subject });
      const sent = conversation.send(`echo\nreceipt\nrunning\npermission ${ask}\nidle end_turn`);
      await session.until(({ model }) => model.state.permissions.size === 1);
      const [asked] = conversation.model.state.permissions.values();
      assert.equal(asked?.title, 'May I?');
      assert.equal(asked?.description, 'It is needed');
      assert.equal(asked?.command?.line, name === 'a command' ? 'rm -r build' : undefined);
      assert.equal(asked?.toolCallId, name === 'a tool call' ? 'c1' : undefined);
      conversation.answerPermission(asked?.id ?? '', 'yes');
      await sent.done;
      assert.equal(entries().at(-1), 't1 agent: permission yes');
    });
  }

  describe('a message sent while a turn runs', () => {
    it('is sent immediately, stays queued, and is shown where the agent takes it in', async () => {
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

    it('returns to the paused queue if the turn is stopped before it is taken in', async () => {
      const conversation = open();
      const first = conversation.send('echo\nreceipt\nrunning\nawait-prompt\nawait-cancel\nidle cancelled');
      await session.until(({ model }) => model.state.agentState === 'running');
      const second = conversation.send('the second');
      await session.until(({ queue }) => queue.items[0]?.state === 'accepted');
      conversation.cancel();
      await first.done;
      await session.until(({ queue }) => queue.items[0]?.state === 'queued');
      assert.deepEqual(queueStates(conversation), [['the second', 'paused']]);
      conversation.queueActions.resume();
      assert.equal((await second.done).stopReason, 'end_turn');
      assert.deepEqual(entries().slice(1), ['t2 user: the second', 't2 agent: Echo: the second']);
    });

    it('stays queued with the reason if the agent refuses it', async () => {
      const conversation = open();
      const first = conversation.send('echo\nreceipt\nrunning\nawait-prompt\ntake\nrefuse -32603\nidle end_turn');
      await session.until(({ model }) => model.state.agentState === 'running');
      conversation.send('the second');
      await first.done;
      assert.deepEqual(pluck(snapshotOf(conversation).queue, 'text', 'state', 'reason'), [
        ['the second', 'failed', 'refused'],
      ]);
    });

    it('can be sent now, which stops the turn and sends it first', async () => {
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

    it('returns to the queue if the agent dies before it is taken in', async () => {
      const conversation = open();
      conversation.send('echo\nreceipt\nrunning\nawait-prompt\nawait-cancel');
      await session.until(({ model }) => model.state.agentState === 'running');
      conversation.send('the second');
      await session.until(({ queue }) => queue.items[0]?.state === 'accepted');
      await conversation.restart();
      assert.deepEqual(
        queueStates(conversation),
        [['the second', 'failed']],
        'nobody knows whether the agent had begun with it: the user is asked',
      );
    });
  });

  describe('the protocol version', () => {
    const offered = (): unknown[] =>
      readAgentLog(session.agentLog).flatMap(({ dir, msg }) =>
        dir === 'in' && msg?.method === 'initialize'
          ? [(msg.params as { protocolVersion: number }).protocolVersion]
          : [],
      );

    it('is 1 unless the user says otherwise', async () => {
      const conversation = open({ versions: [1, 2] }, 'auto');
      await conversation.start();
      assert.deepEqual(offered(), [1]);
      assert.equal(snapshotOf(conversation).protocol, 1);
    });

    it('is 2 if the user chooses it and the agent supports it', async () => {
      const conversation = open({ versions: [1, 2] });
      await conversation.start();
      assert.deepEqual(offered(), [2]);
      assert.equal(snapshotOf(conversation).protocol, 2);
    });

    it('falls back to 1 with all client capabilities, for the rest of the window', async () => {
      const offers = new ProtocolOffers();
      const conversation = open({ versions: [1] }, 2, { offers });
      await conversation.start();
      assert.equal(snapshotOf(conversation).protocol, 1);
      assert.deepEqual(offered(), [2, 1]);
      await conversation.restart();
      assert.deepEqual(offered(), [2, 1, 1]);
    });

    it('becomes 2 if the agent supports nothing else', async () => {
      const conversation = open({ versions: [2] }, 'auto');
      await conversation.send('hello').done;
      assert.deepEqual(offered(), [1, 2]);
      assert.equal(snapshotOf(conversation).protocol, 2);
    });

    it('is part of the error if there is no common one', async () => {
      const conversation = open({ versions: [3, 4] });
      await conversation.start();
      const { connection } = conversation;
      assert.equal(connection.kind === 'failed' && connection.error.code, 'protocol-version');
      assert.match(connection.kind === 'failed' ? connection.error.message : '', /versions 3, 4/);
    });
  });
});
