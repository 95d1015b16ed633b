// The prompt lifecycle of v2, and its proposal: prompts get receipts, turns have states, and agents
// may start turns.
import { strict as assert } from 'node:assert';
import { Deferred } from '../../../src/base/deferred';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { proof } from '../../support/protocol/proof';
import { skipTime } from '../../support/skipTime';
import { Rig } from './rig';

describe('the prompt lifecycle', function () {
  this.timeout(20_000);
  const rig = Rig.each(2);

  const forms: readonly (readonly [string, ReferenceScript])[] = [
    ['the id of its message', { receipt: 'id' }],
    ['an empty receipt', { receipt: 'empty' }],
    ['null', { receipt: 'null' }],
    ['what v1 would answer', { receipt: 'v1' }],
    ['its id before the message', { receipt: 'id', echo: 'after' }],
    ['its id, and the message in chunks', { receipt: 'id', echo: 'chunks' }],
    ['an empty receipt before the message', { receipt: 'empty', echo: 'after' }],
    ["the seed's word for states", { stateWord: 'state_change' }],
  ];
  for (const [words, script] of forms) {
    it(`shows a message once, and ends its turn in time, if the agent answers with ${words}`, async () => {
      rig.open(script);
      assert.equal(await rig.send('burst 50'), 'end_turn');
      assert.equal(await rig.send('say second'), 'end_turn');
      assert.equal(rig.said('user'), 'burst 50\nsay second');
      assert.match(rig.said(), /b50 \nsecond$/);
      assert.deepEqual(
        rig.entries.filter(({ late }) => late),
        [],
      );
      assert.deepEqual(
        rig.turns.map(({ stopReason, origin }) => [stopReason, origin]),
        [
          ['end_turn', 'user'],
          ['end_turn', 'user'],
        ],
      );
    });
  }

  proof(
    'ends a turn at the receipt of its prompt, or never',
    ['v2:initialize', 'v2:session/new', 'v2:session/prompt', 'v2:update/state_update', 'v2:update/user_message'],
    async () => {
      rig.open({});
      const { done } = rig.conversation.send('say begins\nwait');
      await rig.session.until(() => rig.said() === 'begins');
      assert.equal(rig.conversation.isBusy, true);
      rig.conversation.cancel();
      assert.equal((await done).stopReason, 'cancelled');
    },
  );

  it('shows a turn that the agent started', async () => {
    rig.open({});
    await rig.send('say x\nagent-turn I woke up');
    await rig.session.until(() => rig.said().includes('I woke up') && rig.turns.at(-1)?.stopReason !== undefined);
    assert.deepEqual(
      rig.turns.map(({ origin, stopReason }) => [origin, stopReason]),
      [
        ['user', 'end_turn'],
        ['agent', 'end_turn'],
      ],
    );
    assert.equal(await rig.send('say and on'), 'end_turn');
  });

  proof(
    'lets a turn that waits for an answer look like one that has ended',
    ['v2:session/request_permission'],
    async () => {
      rig.open({});
      const { done } = rig.conversation.send('ask');
      await rig.session.until(({ model }) => model.state.permissions.size > 0);
      assert.equal(rig.conversation.isBusy, true);
      const [id] = rig.conversation.model.state.permissions.keys();
      rig.conversation.answerPermission(id ?? '', 'allow');
      assert.equal((await done).stopReason, 'end_turn');
      assert.match(rig.said(), /permission → allow/);
    },
  );

  it('counts a repeated idle as the same end', async () => {
    rig.open({});
    await rig.send('say x\nlater y');
    await rig.send('state running\nsay z');
    assert.equal(rig.turns.length, 2);
  });

  proof('cannot take back a prompt that was not inserted yet', ['v2:session/cancel'], async () => {
    const sent = new Deferred<void>();
    rig.open(
      {},
      {
        onTraffic: (_, dir, line) => {
          if (dir === 'out' && line.includes('"session/prompt"')) sent.resolve();
        },
      },
    );
    rig.conversation.send('hold this back').done.catch(() => {});
    await sent.promise;
    rig.conversation.cancel();
    await rig.session.until(({ isBusy }) => !isBusy);
    assert.ok(rig.sessionMethods.includes('session/cancel'));
    rig.conversation.queueActions.remove();
    rig.conversation.queueActions.resume();
    assert.equal(await rig.send('say x'), 'end_turn');
  });

  it('asks for a sign-in if a turn ends without one, and sends its message again', async () => {
    rig.open({ authMethods: [{ id: 'login', methodId: 'login', name: 'Log in', type: 'agent' }] });
    const { done } = rig.conversation.send('fail -32000');
    done.catch(() => {});
    await rig.session.until(({ connection }) => connection.kind === 'authRequired');
    assert.deepEqual(
      rig.conversation.queue.items.map(({ text, state }) => [text, state]),
      [['fail -32000', 'queued']],
    );
    await rig.conversation.signIn('login');
    await rig.session.until(
      ({ connection, model }) => connection.kind === 'authRequired' && model.state.turns.length === 2,
    );
    assert.deepEqual(rig.sessionMethods.slice(-3), ['session/prompt', 'auth/login', 'session/prompt']);
  });

  describe('a message queued by the agent', () => {
    async function hold(script: ReferenceScript = {}): Promise<string> {
      rig.open(script);
      rig.conversation.send('say one\nwait').done.catch(() => {});
      await rig.session.until(() => rig.said() === 'one');
      const { id, done } = rig.conversation.send('hold two');
      done.catch(() => {});
      await rig.session.until(({ queue }) => queue.find(id)?.state === 'accepted');
      return id;
    }

    it('is withdrawn for editing', async () => {
      const id = await hold();
      rig.conversation.queueActions.takeBack(id);
      await rig.session.until(({ queue }) => queue.find(id)?.state === 'queued');
      const { queue } = rig.conversation;
      assert.equal(queue.paused, 'taken-back');
      assert.equal(rig.conversation.isBusy, true, 'the turn goes on');
      assert.equal(queue.edit(id, 'say two'), true);
      rig.conversation.queueActions.resume();
      await rig.session.until(() => queue.find(id)?.state === 'accepted');
      rig.conversation.cancel();
    });

    it('can be removed', async () => {
      const id = await hold();
      rig.conversation.queueActions.remove(id);
      await rig.session.until(({ queue }) => queue.items.length === 0);
      assert.equal(rig.conversation.queue.paused, undefined);
      assert.ok(rig.sessionMethods.includes('$/cancel_request'));
    });

    // Takes the five seconds that an agent has to return it.
    it('stays with a notice if the agent does not return it', async () => {
      const id = await hold({ keepsPrompts: true });
      await skipTime(async () => {
        rig.conversation.queueActions.remove(id);
        assert.equal(rig.conversation.queue.find(id)?.reason, 'taking-back');
        await rig.session.until(({ queue }) => queue.find(id)?.reason === 'not-given-back');
      });
      rig.conversation.cancel();
      await rig.session.until(({ isBusy }) => !isBusy);
      assert.equal(rig.conversation.queue.find(id)?.state, 'queued', 'Stop takes it back');
    });
  });

  it('queues a message that is sent during a turn', async () => {
    rig.open({});
    const first = rig.conversation.send('say one\nwait');
    await rig.session.until(() => rig.said() === 'one');
    const second = rig.conversation.send('say two');
    rig.conversation.cancel();
    assert.equal((await first.done).stopReason, 'cancelled');
    rig.conversation.queueActions.resume();
    await second.done;
    assert.match(rig.said(), /two$/);
  });
});

describe('the prompt lifecycle as a preview in version 1', function () {
  this.timeout(20_000);
  const rig = Rig.each(1);

  for (const lifecycle of ['echo-first', 'receipt-first', 'empty-first'] as const)
    it(`shows each message once, in a turn that ends by its states: ${lifecycle}`, async () => {
      rig.open({ lifecycle });
      const first = rig.conversation.send('say begins\nwait');
      await rig.session.until(() => rig.said() === 'begins');
      assert.equal(rig.conversation.isBusy, true);
      rig.conversation.cancel();
      assert.equal((await first.done).stopReason, 'cancelled');
      assert.equal(await rig.send('say second'), 'end_turn');
      assert.equal(rig.said('user'), 'say begins\nwait\nsay second');
      assert.equal(rig.said(), 'begins\nsecond');
      assert.deepEqual(
        rig.entries.filter(({ late }) => late),
        [],
      );
      assert.deepEqual(
        rig.turns.map(({ origin, barrier }) => [origin, barrier]),
        [
          ['user', 'state'],
          ['user', 'state'],
        ],
      );
    });
});
