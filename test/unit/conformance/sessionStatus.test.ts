// The proposal session/status against an agent that keeps its rules: each answer has its meaning, and asking changes nothing.
import { strict as assert } from 'node:assert';
import { proof } from '../../support/proof';
import { eachRig, type Rig } from './rig';

for (const version of [1, 2] as const)
  describe(`session/status in version ${version}`, function () {
    this.timeout(30_000);
    let rig: Rig;
    eachRig(version, (made) => {
      rig = made;
    });

    const meanings = [
      ['live', 'live'],
      ['open', 'live'],
      // The session was opened on this connection, so these say that the agent no longer has it in memory.
      ['not_found', 'not_found'],
      ['saved', 'not_found'],
      ['entangled', 'not_found'],
      [-32002, 'not_found'],
      [-32601, 'unknown'],
      [-32602, 'unknown'],
    ] as const;
    for (const [answer, expected] of meanings) {
      it(`shows something else than what the agent answers: ${answer}`, async () => {
        rig.open({ status: { answer } });
        await rig.send('say x');
        assert.equal(await rig.session.conversation.checkStatus(), expected);
      });
    }

    // It takes the five seconds that an agent gets to answer.
    if (version === 1)
      it('takes an agent for lost that can no longer be asked', async () => {
        rig.open({ status: { answer: 'silent' } });
        await rig.send('say x');
        assert.equal(await rig.session.conversation.checkStatus(), 'unknown');
        assert.equal(await rig.send('say still here'), 'end_turn');
      });

    proof(
      'changes something in the session by asking',
      ['v1:session/status', 'v1:agent/sessionCapabilities.status', 'v2:session/status', 'v2:agent/session.status'],
      async () => {
        rig.open({ status: {} });
        await rig.send('say x');
        const before = [JSON.stringify(rig.entries), rig.methods.length] as const;
        for (let times = 0; times < 3; times++) assert.equal(await rig.session.conversation.checkStatus(), 'live');
        assert.equal(JSON.stringify(rig.entries), before[0]);
        assert.deepEqual(rig.methods.slice(before[1]), ['session/status', 'session/status', 'session/status']);
      },
      version,
    );

    for (const path of [
      ['agentCapabilities', 'sessionCapabilities', 'status'],
      ['agentCapabilities', 'session', 'status'],
    ]) {
      it(`never asks an agent that offers it in ${path.join('.')}`, async () => {
        rig.open({ status: { path } });
        await rig.send('say x');
        assert.equal(await rig.session.conversation.checkStatus(), 'live');
      });
    }

    for (const value of [null, false, 'yes', 1, []]) {
      it(`asks an agent that did not offer it: ${JSON.stringify(value)}`, async () => {
        rig.open({ status: { value, counts: false } }, { quietMs: -1 });
        await rig.send('say x');
        assert.equal(await rig.session.conversation.checkStatus(), 'unknown');
        assert.ok(!rig.methods.includes('session/status'));
      });
    }

    it('loses the message that was about to go to a session that the agent no longer has', async () => {
      rig.open({ status: { answer: 'not_found' } }, { quietMs: -1 });
      rig.session.conversation.send('say x');
      await rig.session.until(({ queue }) => queue.paused !== undefined);
      assert.deepEqual(
        rig.session.conversation.queue.items.map(({ text }) => text),
        ['say x'],
      );
      assert.ok(!rig.methods.includes('session/prompt'));
    });
  });
