// Tests messages without a user in the agent's own queue.
import { strict as assert } from 'node:assert';
import { NoTurn, UnattendedMessage } from '../../../../src/client/conversation/unattendedMessage';
import type { ReferenceScript } from '../../../support/agents/reference/referenceScript';
import { skipTime } from '../../../support/skipTime';
import { Rig } from '../../conformance/rig';

const signal = new AbortController().signal;

describe('an unattended message', function () {
  this.timeout(20_000);
  const rig = Rig.each(2);

  async function held(script: ReferenceScript = {}): Promise<UnattendedMessage> {
    rig.open(script);
    rig.session.conversation.send('say one\nwait').done.catch(() => {});
    await rig.session.until(() => rig.said() === 'one');
    const message = new UnattendedMessage(rig.session.conversation, 'hold two');
    await rig.session.until(({ queue }) => queue.items.at(-1)?.state === 'accepted');
    return message;
  }

  const asked = (): number => rig.methods.filter((method) => method === '$/cancel_request').length;

  it('is taken back once from the agent’s queue, without stopping the running turn', async () => {
    const message = await held();
    assert.equal(await message.withdraw(4000), true);
    const { queue, model } = rig.session.conversation;
    assert.deepEqual([queue.items.length, queue.paused, asked()], [0, undefined, 1]);
    assert.equal(model.state.turn?.cancelRequested, undefined);
  });

  it('is not withdrawn if the agent doesn’t return it in time', async () => {
    const message = await held({ keepsPrompts: true });
    assert.equal(await skipTime(() => message.withdraw(4000)), false);
    assert.equal(asked(), 1);
  });

  it('stays in the agent’s queue if the local queue is paused', async () => {
    const message = await held();
    rig.session.conversation.queue.pause('turn-failed');
    const stop = new AbortController();
    const attended = message.attend(() => {}, stop.signal);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('stopped'));
    await assert.rejects(attended, /stopped/);
    assert.equal(await message.withdraw(4000), true);
  });

  it('leaves a queue that a user has paused, with the reason', async () => {
    rig.open({});
    const message = new UnattendedMessage(rig.session.conversation, 'say one');
    rig.session.conversation.queue.pause('by-user');
    await assert.rejects(
      message.attend(() => {}, signal),
      (error: unknown) => error instanceof NoTurn && error.code === 'not-sent' && error.wait === 'by-user',
    );
    const { queue } = rig.session.conversation;
    assert.deepEqual([queue.items.length, queue.paused], [0, undefined]);
  });

  it('ends with the session', async () => {
    rig.open({});
    const message = new UnattendedMessage(rig.session.conversation, 'say one\nwait');
    const attended = message.attend(() => {}, signal);
    await rig.session.until(() => rig.said() === 'one');
    await rig.session.conversation.close();
    assert.equal((await attended).stopReason, 'error');
  });
});
