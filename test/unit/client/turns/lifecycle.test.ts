// The v2 prompt lifecycle, played step by step by a real agent process: whatever the order of echo, receipt and states, each message stands once, in its place.
import { strict as assert } from 'node:assert';
import { phaseOf } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { useV2Session } from '../conversation/v2Session';

describe('v2 lifecycle', function () {
  this.timeout(20_000);
  const { session, open, entries } = useV2Session();
  const turns = (): string[] =>
    snapshotOf(session.conversation).turns.map(
      ({ id, origin, stopReason, barrier }) => `${id} ${origin} ${stopReason} by ${barrier}`,
    );

  describe('a message', () => {
    for (const [name, steps] of Object.entries({
      'repeated before its receipt': 'echo\nreceipt\nrunning',
      'repeated after its receipt': 'receipt\nrunning\necho',
      'repeated in pieces before its receipt': 'echo-chunks\nreceipt\nrunning',
      'repeated in pieces after its receipt': 'running\nreceipt\necho-chunks',
      'never repeated': 'running\nreceipt',
      'repeated, with an empty receipt': 'running\nreceipt-as {}\necho',
      'repeated, with null for a receipt': 'running\nreceipt-as null\necho',
      'repeated, with a receipt that has a reason as in v1': 'running\nreceipt-as {"stopReason":"end_turn"}\necho',
      'repeated, with the receipt at the very end': 'echo\nrunning',
    })) {
      it(`stands once where it is ${name}, and its turn ends with idle`, async () => {
        const conversation = open();
        const late = steps.includes('receipt') ? '' : '\nreceipt';
        const text = `${steps}\nsay Hello\nidle end_turn${late}`;
        assert.equal((await conversation.send(text).done).stopReason, 'end_turn');
        assert.deepEqual(entries(), [`t1 user: ${text}`, 't1 agent: Hello']);
        assert.deepEqual(turns(), ['t1 user end_turn by state']);
        assert.equal(phaseOf(conversation), 'ready');
      });
    }

    it('takes the words that the agent repeats it in', async () => {
      await open().send('echo-as My words\nreceipt\nrunning\nidle end_turn').done;
      assert.deepEqual(entries(), ['t1 user: My words']);
    });

    it('ends its turn once where the receipt trails idle', async () => {
      const conversation = open();
      await conversation.send('running\nsay Hello\nidle end_turn\nreceipt').done;
      assert.deepEqual(turns(), ['t1 user end_turn by state']);
    });

    it('is done only when all that came before the end was applied', async () => {
      const text = `echo\nreceipt\nrunning\n${Array.from({ length: 300 }, (_, at) => `say ${at},`).join('\n')}\nidle end_turn`;
      await open().send(text).done;
      assert.ok(entries().at(-1)?.endsWith('299,'));
    });
  });

  describe('the end of a turn', () => {
    it('is end_turn where the agent names no reason', async () => {
      assert.equal((await open().send('echo\nreceipt\nrunning\nidle').done).stopReason, 'end_turn');
    });

    it('shows the error of a turn that ended with one', async () => {
      const error = '{"state":"idle","stopReason":"error","error":{"code":-32603,"message":"model overloaded"}}';
      const { stopReason } = await open().send(`echo\nreceipt\nrunning\nstate ${error}`).done;
      assert.equal(stopReason, 'error');
      assert.equal(entries().at(-1), 't1 error: model overloaded');
    });

    it('never comes with a state that is not known, nor with one that only repeats idle', async () => {
      const conversation = open();
      const text =
        'idle\necho\nreceipt\nidle\nrunning\nstate {"state":"pondering"}\nstate {"state":"unknown"}\nawait-prompt\nidle end_turn\nidle end_turn\ntake\necho\nreceipt\nrunning\nidle refusal';
      const first = conversation.send(text);
      await session.until(({ model }) => model.state.agentState === 'unknown');
      assert.equal(phaseOf(conversation), 'running');
      const second = conversation.send('go on');
      assert.equal((await first.done).stopReason, 'end_turn');
      assert.equal((await second.done).stopReason, 'refusal');
      assert.deepEqual(turns(), ['t1 user end_turn by state', 't2 user refusal by state']);
    });

    it('comes with the seed’s state_change as well, with its tokens', async () => {
      const conversation = open();
      await conversation.send(
        'receipt\nstate-change {"state":"running"}\nstate-change {"state":"idle","stopReason":"max_tokens","usage":{"totalTokens":7}}',
      ).done;
      assert.deepEqual(turns(), ['t1 user max_tokens by state']);
      assert.equal(conversation.model.state.turns[0]?.tokens, 7);
    });

    for (const [order, steps] of Object.entries({
      before: 'turn-complete\nidle end_turn',
      after: 'idle end_turn\nturn-complete',
    })) {
      it(`waits for a promised turn_complete that comes ${order} idle`, async () => {
        const conversation = open({ turnComplete: { when: 'before' } });
        await conversation.send(`echo\nreceipt\nrunning\n${steps}`).done;
        assert.deepEqual(turns(), ['t1 user end_turn by turn_complete']);
      });
    }

    it('asks the user where the agent says that it requires action', async () => {
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
    it('has turns of its own, and its late updates are shown', async () => {
      const conversation = open();
      await conversation.send(
        'echo\nreceipt\nrunning\nidle end_turn\nrunning\nupdate {"sessionUpdate":"agent_message","messageId":"own","content":[{"type":"text","text":"By the way"}]}\nidle end_turn',
      ).done;
      await session.until(({ model }) => model.state.turns.length === 2 && model.state.turn === undefined);
      assert.deepEqual(turns(), ['t1 user end_turn by state', 't2 agent end_turn by state']);
      assert.equal(entries().at(-1), 't2 agent: By the way');
    });

    it('keeps background work when a turn ends', async () => {
      const conversation = open();
      await conversation.send(
        'echo\nreceipt\nrunning\nupdate {"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"Watch","status":"in_progress"}\nstate {"state":"idle","stopReason":"end_turn","background":[{"type":"tool_call","toolCallId":"c1"}]}',
      ).done;
      assert.deepEqual(conversation.model.state.background, [{ type: 'tool_call', id: 'c1' }]);
      assert.equal(snapshotOf(conversation).entries.at(-1)?.tool?.status, 'in_progress');
    });
  });

  it('stops a message that was not taken in at all', async () => {
    const conversation = open();
    const sent = conversation.send('await-cancel\nrefuse -32800\nidle cancelled');
    await session.until(({ isBusy }) => isBusy);
    conversation.cancel();
    assert.equal((await sent.done).stopReason, 'cancelled');
    assert.equal((await conversation.send('again').done).stopReason, 'end_turn');
    assert.equal(entries().at(-1), 't2 agent: Echo: again');
  });

  it('reads terminals, patches, commands and options as version 2 has them', async () => {
    const bytes = Buffer.from('größe 🚀\n');
    const chunk = (from: number, to?: number): string =>
      `update ${JSON.stringify({ sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: bytes.subarray(from, to).toString('base64') })}`;
    const patch = 'diff --git a/w/f.txt b/w/f.txt\n--- a/w/f.txt\n+++ b/w/f.txt\n@@ -5,2 +5,2 @@\n same\n-old\n+new\n';
    const content = [
      { type: 'terminal', terminalId: 'x' },
      {
        type: 'diff',
        changes: [{ operation: 'modify', path: '/w/f.txt' }],
        patch: { format: 'git_patch', text: patch },
      },
    ];
    const conversation = open({
      commands: [{ type: 'command', name: 'plan', description: 'Plans', input: { type: 'text', hint: 'what' } }],
      configOptions: [
        { configId: 'web', name: 'Web', type: 'boolean', currentValue: false },
        {
          configId: 'm',
          name: 'Model',
          type: 'select',
          currentValue: 'a',
          options: [{ groupId: 'g', name: 'G', options: [{ value: 'a', name: 'A' }] }],
        },
      ],
    });
    await conversation.start();
    await conversation.choices.setConfigOption('web', true);
    await conversation.send(
      [
        'echo',
        'receipt',
        'running',
        chunk(0, 3),
        chunk(3, 9),
        chunk(9),
        `update ${JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId: 'c', title: 'Edit', status: 'completed', content })}`,
        'idle end_turn',
      ].join('\n'),
    ).done;
    const { model } = conversation;
    assert.equal(model.state.terminals.get('x')?.output, 'größe 🚀\n');
    const tool = model.state.entries.find((entry) => entry.kind === 'tool');
    const [, diff] = tool?.kind === 'tool' ? tool.content : [];
    assert.deepEqual(diff?.type === 'diff' && diff.hunks, [
      { oldStart: 5, newStart: 5, lines: [' same', '-old', '+new'] },
    ]);
    assert.deepEqual(model.state.commands, [{ name: 'plan', description: 'Plans', hint: 'what' }]);
    assert.deepEqual(
      model.state.config.map(({ id, value }) => [id, value]),
      [
        ['web', true],
        ['m', 'a'],
      ],
    );
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

  it('shows what was said in a session that is resumed', async () => {
    const conversation = open({}, { opening: { kind: 'reopen', sessionId: 's1', transcript: 'replay' } });
    await conversation.start();
    assert.deepEqual(
      snapshotOf(conversation).entries.map(({ kind, text }) => `${kind}: ${text}`),
      ['user: An old question', 'agent: An old answer'],
    );
    assert.equal((await conversation.send('and now').done).stopReason, 'end_turn');
    assert.equal(snapshotOf(conversation).entries.at(-1)?.text, 'Echo: and now');
  });
});
