// The proposal session/status with a conforming agent: the effect of each answer, and requests
// without side effects.
import { strict as assert } from 'node:assert';
import { setTimeout } from 'node:timers/promises';
import { phaseOf, statusOf } from '../../../src/client/view/projectSession';
import { proof } from '../../support/protocol/proof';
import { Rig } from './rig';

for (const version of [1, 2] as const)
  describe(`session/status in version ${version}`, function () {
    this.timeout(30_000);
    const rig = Rig.each(version);
    const untilLogged = async (method: string): Promise<void> => {
      while (!rig.sessionMethods.includes(method)) await setTimeout(5);
    };

    const meanings = [
      ['live', 'live', 'live'],
      ['open', 'live', 'live'],
      ['not_found', 'not_found', 'not_found'],
      [-32002, 'not_found', 'not_found'],
      // A saved session is reopened by the next message.
      ['saved', 'saved', 'unknown'],
      ['entangled', 'saved', 'unknown'],
      // An error says nothing about the session, which was opened and answered its prompt.
      [-32603, 'failed', 'live'],
      [-32601, 'unsupported', 'live'],
      [-32602, 'unsupported', 'live'],
    ] as const;
    for (const [answer, expected, liveness] of meanings) {
      it(`returns the answer of the agent and shows its meaning: ${answer}`, async () => {
        rig.open({ status: { answer } });
        await rig.send('say x');
        assert.equal(await rig.conversation.checkStatus(), expected);
        assert.equal(rig.conversation.probe.liveness, liveness);
      });
    }

    const questions = (): number => rig.sessionMethods.filter((method) => method === 'session/status').length;
    const untilAsked = async (times: number): Promise<void> => {
      while (questions() < times) await setTimeout(5);
    };

    for (const [answer, times] of [
      [-32603, 3],
      [-32601, 1],
      [-32602, 1],
    ] as const)
      it(`sends the message after the answer ${answer}, and asks ${times} times for three messages`, async () => {
        rig.open({ status: { answer } }, { quietMs: -1 });
        for (const text of ['say a', 'say b', 'say c']) assert.equal(await rig.send(text), 'end_turn');
        assert.equal(rig.conversation.queue.paused, undefined);
        assert.equal(questions(), times);
      });

    it('reopens a session that the agent has unloaded before sending the message', async () => {
      const offers = version === 1 ? (['load'] as const) : [];
      rig.open(
        { status: { answer: 'unloads' }, offers, ready: { path: ['capabilities', 'session', 'ready'] } },
        { quietMs: -1 },
      );
      await rig.conversation.start();
      // Messages during the request would contradict the answer.
      await rig.session.until(({ model }) => model.state.commands.length > 0);
      assert.equal(await rig.send('say a'), 'end_turn');
      assert.equal(await rig.send('say b'), 'end_turn');
      const again = version === 1 ? 'session/load' : 'session/resume';
      const once = ['session/status', again, 'session/ready', 'session/prompt'];
      assert.deepEqual(rig.sessionMethods, ['initialize', 'session/new', 'session/ready', ...once, ...once]);
      assert.equal(rig.said(), 'a\nb');
      assert.equal(rig.said('user'), 'say a\nsay b');
      assert.equal(rig.conversation.probe.liveness, 'live');
    });

    it('reopens a session that the agent has unloaded silently, and sends the message in the same turn', async () => {
      rig.open({ unloads: true, offers: version === 1 ? ['resume'] : [] });
      assert.equal(await rig.send('say a'), 'end_turn');
      assert.equal(await rig.send('say b'), 'end_turn');
      assert.deepEqual(rig.sessionMethods.slice(-3), ['session/prompt', 'session/resume', 'session/prompt']);
      assert.equal(rig.said('user'), 'say a\nsay b');
      assert.equal(rig.said('error'), '');
      assert.equal(rig.turns.length, 2);
    });

    it('sends the message in a new session if the session cannot be reopened', async () => {
      if (version === 2) rig.open({ unloads: true, refuse: { 'session/resume': -32002 } });
      else rig.open({ unloads: true });
      assert.equal(await rig.send('say a'), 'end_turn');
      const before = rig.conversation.sessionId;
      assert.equal(await rig.send('say b'), 'end_turn');
      const tried = version === 2 ? ['session/resume'] : [];
      assert.deepEqual(rig.sessionMethods.slice(-3 - tried.length), [
        'session/prompt',
        ...tried,
        'session/new',
        'session/prompt',
      ]);
      assert.notEqual(rig.conversation.sessionId, before);
      assert.equal(rig.said('user'), 'say a\nsay b');
      assert.equal(rig.turns.length, 2);
    });

    it('sends the message in a new session if the agent fails to reopen the session', async () => {
      const method = version === 1 ? 'session/load' : 'session/resume';
      const offers = version === 1 ? (['load'] as const) : [];
      rig.open({ status: { answer: 'saved' }, offers, refuse: { [method]: -32603 } }, { quietMs: -1 });
      assert.equal(await rig.send('say a'), 'end_turn');
      assert.deepEqual(rig.sessionMethods.slice(-4), ['session/status', method, 'session/new', 'session/prompt']);
    });

    it('cancels a message before it is sent, while the agent is asked', async () => {
      rig.open({ status: { answer: 'silent' } }, { quietMs: -1 });
      const { done } = rig.conversation.send('say a');
      done.catch(() => {});
      await untilAsked(1);
      assert.equal(phaseOf(rig.conversation), 'running');
      assert.equal(statusOf(rig.conversation), 'Checking session');
      rig.conversation.cancel();
      await rig.session.until(({ isBusy }) => !isBusy);
      assert.equal(rig.conversation.queue.paused, 'stopped');
      rig.conversation.queueActions.remove();
      assert.deepEqual(rig.conversation.queue.items, []);
      await untilLogged('$/cancel_request');
      assert.ok(!rig.sessionMethods.includes('session/prompt'));
    });

    for (const all of [true, false])
      it(`removes a message that is about to be sent, and sends the next one: ${all ? 'Clear' : 'Remove'}`, async () => {
        rig.open({ status: { answer: 'silent' } }, { quietMs: -1 });
        const first = rig.conversation.send('say a');
        first.done.catch(() => {});
        await untilAsked(1);
        const second = rig.conversation.send('say b');
        second.done.catch(() => {});
        rig.conversation.queueActions.remove(all ? undefined : first.id);
        assert.deepEqual(
          rig.conversation.queue.items.map(({ id }) => id),
          all ? [] : [second.id],
        );
        if (!all) await untilAsked(2);
      });

    if (version === 1)
      it('asks once per silence', async () => {
        rig.open({ status: { answer: 'not_found' }, offers: ['load'] }, { quietMs: 60_000, clock: { now: () => now } });
        let now = Date.now();
        await rig.send('say a');
        now += 120_000;
        assert.equal(await rig.send('say b'), 'end_turn');
        assert.equal(await rig.send('say c'), 'end_turn');
        assert.equal(questions(), 1);
        assert.equal(rig.conversation.probe.liveness, 'live');
      });

    // Takes the five seconds that an agent has to answer.
    if (version === 1)
      it('pauses if the agent does not answer, with a notice, and cancels the request', async () => {
        rig.open({ status: { answer: 'silent' } }, { quietMs: -1 });
        const { done } = rig.conversation.send('say x');
        await rig.session.until(({ queue }) => queue.paused !== undefined);
        assert.equal(rig.conversation.queue.paused, 'agent-silent');
        assert.equal(await rig.conversation.checkStatus(), 'unresponsive');
        while (rig.sessionMethods.filter((method) => method === '$/cancel_request').length < 2) await setTimeout(5);
        rig.conversation.queueActions.remove();
        await assert.rejects(done);
      });

    if (version === 2)
      it('applies the state in an answer', async () => {
        rig.open({ status: { answer: 'open', state: 'running' } });
        await rig.conversation.start();
        await rig.session.until(({ model }) => model.state.commands.length > 0);
        assert.equal(await rig.conversation.checkStatus(), 'live');
        assert.equal(phaseOf(rig.conversation), 'running');
      });

    proof(
      'changes something in the session by asking',
      ['v1:session/status', 'v1:agent/sessionCapabilities.status', 'v2:session/status', 'v2:agent/session.status'],
      async () => {
        rig.open({ status: {} });
        await rig.send('say x');
        const before = [JSON.stringify(rig.entries), rig.sessionMethods.length] as const;
        for (let times = 0; times < 3; times++) assert.equal(await rig.conversation.checkStatus(), 'live');
        assert.equal(JSON.stringify(rig.entries), before[0]);
        assert.deepEqual(rig.sessionMethods.slice(before[1]), ['session/status', 'session/status', 'session/status']);
      },
      version,
    );

    for (const value of [null, false, 'yes', 1, []]) {
      it(`does not ask an agent that did not offer it: ${JSON.stringify(value)}`, async () => {
        rig.open({ status: { value, counts: false } }, { quietMs: -1 });
        await rig.send('say x');
        assert.equal(await rig.conversation.checkStatus(), 'unsupported');
        assert.ok(!rig.sessionMethods.includes('session/status'));
      });
    }
  });
