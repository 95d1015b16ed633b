// Tests messages that are put into a running turn (src/acp/proposals/steering.ts).
import { strict as assert } from 'node:assert';
import { MAX_MESSAGE_BYTES } from '../../../../src/acp/jsonrpc/ndjsonReader';
import { announcesSteering, readSteering, STEERING } from '../../../../src/acp/proposals/steering';
import { InlineAgent, useInlineAgents } from '../../../support/agents/inlineAgent';
import { AttachWindow } from '../../../support/keeper/attachWindow';
import { MemoryKeeper } from '../../../support/keeper/memoryKeeper';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { skipTime } from '../../../support/skipTime';
import { type Lived, playLive } from '../../../support/wires/playWire';
import { acts } from '../../../support/wires/scriptedWires';
import { shapeOf } from '../../../support/wires/shapeOf';

const play = (words: string, more: object = {}): Promise<Lived> =>
  playLive({ protocol: 1, can: { loadSession: true }, steers: true, acts: acts(words), ...more });

/** Returns the user's messages in the transcript and in the queue. */
async function messagesOf(words: string, more: object = {}): Promise<readonly (readonly string[])[]> {
  const { model, queue } = await play(words, more);
  const said = shapeOf(model)
    .split('\n')
    .filter((line) => /^\d+( late)? user: /.test(line));
  return [said, queue];
}

describe('a message that is put into the running turn', () => {
  const open = useInlineAgents();

  it('is offered only by an agent that announces it', () => {
    assert.ok(announcesSteering({ _meta: { steering: { supported: true } } }));
    for (const steering of [{}, true, { supported: false }, { supported: 'yes' }, null])
      assert.ok(!announcesSteering({ _meta: { steering } }));
  });

  it('is accepted only if the agent has the message', () => {
    assert.deepEqual(readSteering({ outcome: 'injected' }), { ends: false });
    assert.deepEqual(readSteering({ outcome: 'startedNewTurn' }), { ends: true });
    const codes = { promptRequired: 'prompt-required', failed: 'not-steered', later: 'steering-unclear' };
    for (const [outcome, code] of Object.entries(codes)) assert.throws(() => readSteering({ outcome }), { code });
    assert.throws(() => readSteering(null), { code: 'steering-unclear' });
  });

  it('is sent as `_session/steering` and returned if no turn runs', async () => {
    const { recording } = await play('prompt one; steer two; outcome 2 injected; ends 1');
    const sent = recording.find(({ message }) => message.method === '_session/steering')?.message;
    assert.deepEqual(sent?.params, {
      sessionId: 'wire-session',
      prompt: [{ type: 'text', text: 'two' }],
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    });
  });

  it("waits for the end of the turn if the agent can't steer", async () => {
    const { recording } = await play('prompt one; steer two; ends 1; ends 2', { steers: false });
    assert.ok(recording.every(({ message }) => message.method !== '_session/steering'));
  });

  it('precedes other queued messages if the agent has no turn for it', async () => {
    const [said] = await messagesOf(
      'prompt one; prompt two; steer three; outcome 2 promptRequired; ends 1; ends 3; ends 4',
    );
    assert.deepEqual(said, ['1 user: one', '2 user: three', '3 user: two']);
  });

  it('is in doubt without an answer, with an unknown outcome, and after a crash', async () => {
    for (const end of ['ends 1', 'outcome 2 tomorrow; ends 1', 'exits'])
      assert.deepEqual(await messagesOf(`prompt one; says hi; steer two; ${end}`), [
        ['1 user: one'],
        ['two failed doubtful'],
      ]);
  });

  it('is in doubt if the agent ends before its answer, after the turn', async () => {
    assert.deepEqual((await messagesOf('prompt one; steer two; ends 1; +100 exits'))[1], ['two failed doubtful']);
  });

  it('is sent once even if its answer arrives long after the turn', async () => {
    const [said, queue] = await messagesOf(
      'prompt one; steer two; ends 1; +9000 outcome 2 injected; prompt three; ends 3',
    );
    assert.deepEqual([said, queue], [['1 user: one', '1 late user: two', '2 user: three'], []]);
  });

  it('blocks no other message if the agent echoes it after the turn', async () => {
    for (const protocol of [1, 2]) {
      const [said, queue] = await messagesOf(
        protocol === 1
          ? 'prompt one; steer two; ends 1; piece u2 two; outcome 2 injected; +5000 prompt three; ends 3'
          : 'prompt one; running; receipt 1; steer two; idle end_turn; echo u2 two; outcome 2 injected; +5000 prompt three; running; receipt 3; idle end_turn',
        { protocol, ...(protocol === 2 && { can: { session: {} } }) },
      );
      assert.deepEqual([said, queue], [['1 user: one', '2 user: two', '3 user: three'], []]);
    }
  });

  it('is in doubt without an answer in an attached window too', async () => {
    const keeper = new MemoryKeeper();
    const ids = new Map<unknown, unknown>();
    const results: Readonly<Record<string, object>> = {
      initialize: { protocolVersion: 1, _meta: { steering: { supported: true } } },
      'session/new': { sessionId: 's' },
    };
    keeper.onMessage = ({ id, method }) => {
      ids.set(method, id);
      const result = results[String(method)];
      if (result) keeper.say({ jsonrpc: '2.0', id, result });
    };
    const folder = await scratchFolder();
    await skipTime(async () => {
      const first = new AttachWindow(folder, keeper, Number.POSITIVE_INFINITY);
      const { conversation, until } = first.session;
      conversation.send('one').done.catch(() => {});
      await until(() => ids.has('session/prompt'));
      const { id, done } = conversation.send('two');
      done.catch(() => {});
      conversation.queueActions.steer(id);
      await until((c) => ids.has(STEERING) && c.queue.items[0]?.state === 'accepted');
      first.wait();
      first.kill();
      const second = new AttachWindow(folder, keeper, Number.POSITIVE_INFINITY);
      const { session } = second;
      void session.conversation.start();
      await session.until((c) => c.connection.kind === 'ready');
      assert.equal(session.conversation.queue.items[0]?.state, 'accepted');
      keeper.say({ jsonrpc: '2.0', id: ids.get('session/prompt'), result: { stopReason: 'end_turn' } });
      await session.until((c) => !c.isBusy && c.queue.items[0]?.doubtful === true);
      second.kill();
    });
    await removeScratch();
  });

  it('stays queued if it is too large to be sent', async () => {
    const agent = new InlineAgent({});
    agent.answers.initialize = () => ({ protocolVersion: 1, _meta: { steering: { supported: true } } });
    agent.answers['session/prompt'] = () => undefined;
    const { conversation, until } = await open(agent);
    conversation.send('one').done.catch(() => {});
    await until((c) => c.model.state.turn !== undefined);
    const { id, done } = conversation.send('x'.repeat(MAX_MESSAGE_BYTES));
    done.catch(() => {});
    conversation.queueActions.steer(id);
    await until(({ queue }) => queue.items[0]?.reason?.startsWith('not-steered') === true);
    assert.equal(conversation.queue.items[0]?.state, 'queued');
  });

  it('stays queued if the turn was stopped', async () => {
    const [said, queue] = await messagesOf('prompt one; steer two; stop; outcome 2 promptRequired; ends 1 cancelled');
    assert.deepEqual([said, queue], [['1 user: one'], ['two queued']]);
  });

  it('is skipped by the command if it is in doubt or being edited', async () => {
    const agent = new InlineAgent({});
    agent.answers.initialize = () => ({ protocolVersion: 1, _meta: { steering: { supported: true } } });
    agent.answers['session/prompt'] = () => undefined;
    const { conversation, until } = await open(agent);
    const { queue, queueActions } = conversation;
    conversation.send('one').done.catch(() => {});
    await until((c) => c.model.state.turn !== undefined);
    const items = ['two', 'three', 'four'].map((text) => queue.add(text, []));
    const [two, three, four] = items;
    if (two) queue.doubt(two);
    if (three) queue.hold(three.id, true);
    assert.equal(queueActions.steerable, four);
  });

  it('is not offered for the capabilities of an earlier start in another version', async () => {
    const agent = new InlineAgent({ session: {} }, 2);
    const { initialize } = agent.answers;
    agent.answers['session/prompt'] = (_params, _agent, id) => {
      const { length: count } = agent.prompts;
      if (count > 2) return undefined;
      agent.answer(id, { messageId: `m${count}` });
      agent.update('s1', { sessionUpdate: 'state_update', state: 'running' });
      return undefined;
    };
    const { conversation, until } = await open(agent);
    const steers = () => conversation.turns.steers({ text: 'x', attachments: [] });
    for (const text of ['one', 'two']) conversation.send(text).done.catch(() => {});
    await until(() => steers() === true);
    agent.update('s1', { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
    await until((c) => !c.isBusy);
    agent.answers.initialize = (...asked) => ({ ...(initialize?.(...asked) as object), protocolVersion: 1 });
    await conversation.restart();
    conversation.send('three').done.catch(() => {});
    await until((c) => c.model.state.turn !== undefined);
    assert.equal(conversation.link?.description.protocol, 1);
    assert.equal(steers(), undefined);
  });

  it('is an ordinary prompt in version 2 if the agent has inserted one before', async () => {
    const one = 'prompt one; running; receipt 1; prompt two; echo u2 two; receipt 2; says hi';
    const more = { protocol: 2, steers: false, can: { session: {} } };
    const { recording, model } = await play(`${one}; steer three; echo u3 three; receipt 3; idle end_turn`, more);
    assert.ok(recording.every(({ message }) => message.method !== 'session/cancel'));
    assert.match(shapeOf(model), /1 user: one\n1 user: two\n1 agent: hi\n1 user: three\n1 end/);
  });
});
