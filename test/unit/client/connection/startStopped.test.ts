// A start that is stopped, at whatever stage, leaves no agent behind, and the next one works.
import { strict as assert } from 'node:assert';
import { phaseOf } from '../../../../src/client/view/projectSession';
import type { StageName } from '../../../../src/panel/contract';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { goneFrom, isAlive } from '../../../support/processes';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('a start that is stopped', function () {
  this.timeout(30_000);
  const session = useAgentSession();

  function agents(): number[] {
    return readAgentLog(session.agentLog).flatMap(({ ev, pid }) => (ev === 'start' && isAlive(pid) ? [pid] : []));
  }

  const stages: readonly [StageName, Parameters<typeof scriptedAgent>[0]][] = [
    ['resolve', 'plain'],
    ['spawn', 'plain'],
    ['initialize', { mute: ['initialize'] }],
    ['session', { mute: ['session/new'] }],
  ];
  for (const [stage, script] of stages) {
    it(`leaves nothing running at the stage “${stage}”`, async () => {
      const { conversation } = session.openAgent(scriptedAgent(script, session.agentLog));
      const stopped = session.until((c) => {
        if (c.stages.current?.name !== stage || c.stages.current.state !== 'running') return false;
        c.cancel();
        return true;
      });
      await Promise.all([conversation.start(), stopped]);
      assert.equal(phaseOf(conversation), 'idle');
      await Promise.all(agents().map(goneFrom));
      await conversation.close();
      assert.deepEqual(agents(), []);
    });
  }

  it('gives way to the next one at once', async () => {
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
    for (let round = 0; round < 5; round++) {
      const starting = conversation.start();
      conversation.cancel();
      await starting;
    }
    assert.equal((await conversation.send('say here').done).stopReason, 'end_turn');
    const [only, ...others] = agents();
    assert.ok(only);
    for (const pid of others) await goneFrom(pid);
  });

  it('is followed by one for a message that is sent, or a queue that is resumed, before it has ended', async () => {
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
    void conversation.start();
    await session.until((c) => c.stages.current?.name === 'initialize');
    conversation.cancel();
    const first = conversation.send('say here');
    conversation.cancel();
    assert.equal(conversation.queue.paused, 'start-stopped');
    conversation.queueActions.resume();
    assert.equal((await first.done).stopReason, 'end_turn');
    assert.equal(conversation.connection.kind, 'ready');
  });

  it('ends with its session, whatever it is about', async () => {
    for (const wait of [0, 5, 20, 60]) {
      const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
      void conversation.start();
      await new Promise((resolve) => setTimeout(resolve, wait));
      await conversation.close();
      for (const pid of agents()) await goneFrom(pid);
    }
  });
});
