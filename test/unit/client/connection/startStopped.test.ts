// Tests that a stopped start leaves no agent behind, at any stage, and that the next one works. The
// slow tier uses processes.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { AgentProcess } from '../../../../src/agents/agentProcess';
import { descendantsOf } from '../../../../src/agents/processTree';
import { phaseOf } from '../../../../src/client/view/projectSession';
import type { StageName } from '../../../../src/panel/contract';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { goneFrom, isAlive } from '../../../support/processes';
import { useAgentSession } from '../../../support/sessions/agentSession';
import { seeds } from '../../../support/tier';

type Script = Parameters<typeof scriptedAgent>[0];

const usesProcesses = seeds(0, 1) === 1;
const stubborn: Script = { mute: ['session/new'], ignoreStdinEnd: true, ignoreSigterm: true, child: true };

describe('a start that is stopped', function () {
  this.timeout(30_000);
  const session = useAgentSession();

  function isAgent(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('scriptedAgent');
    } catch {
      return false;
    }
  }
  async function agents(): Promise<number[]> {
    const started = readAgentLog(session.agentLog).flatMap(({ ev, pid, child }) => [
      ...(ev === 'start' ? [pid] : []),
      ...(typeof child === 'number' ? [child] : []),
    ]);
    const processes = usesProcesses ? (await descendantsOf(process.pid)).map(({ pid }) => pid).filter(isAgent) : [];
    return [...new Set([...started.filter(isAlive), ...processes])];
  }

  const stages: readonly (readonly [StageName, string, Script])[] = [
    ['resolve', 'a plain agent', 'plain'],
    ['spawn', 'a plain agent', 'plain'],
    ['initialize', 'a silent agent', { mute: ['initialize'] }],
    ['session', 'a silent agent', { mute: ['session/new'] }],
    ...(usesProcesses ? [['session', 'an agent that ignores signals', stubborn] as const] : []),
  ];
  for (const [stage, what, script] of stages) {
    it(`leaves nothing running at the stage “${stage}” of ${what}`, async () => {
      const { conversation } = session.openAgent(scriptedAgent(script, session.agentLog), {
        services: usesProcesses ? { startProcess: AgentProcess.start } : {},
      });
      const stopped = session.until((c) => {
        if (c.stages.current?.name !== stage || c.stages.current.state !== 'running') return false;
        c.cancel();
        return true;
      });
      await Promise.all([conversation.start(), stopped]);
      assert.equal(phaseOf(conversation), 'idle');
      await Promise.all((await agents()).map(goneFrom));
      await conversation.close();
      assert.deepEqual(await agents(), []);
    });
  }

  it('is followed immediately by the next one', async () => {
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
    for (let round = 0; round < 5; round++) {
      const starting = conversation.start();
      conversation.cancel();
      await starting;
    }
    assert.equal((await conversation.send('say here').done).stopReason, 'end_turn');
    const [only, ...others] = await agents();
    assert.ok(only);
    await Promise.all(others.map(goneFrom));
  });

  it('is followed by a start for a message sent, or a queue resumed, before it has ended', async () => {
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

  it('ends when its session is closed, at any stage', async () => {
    for (const wait of [0, 5, 20, 60]) {
      const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
      void conversation.start();
      await new Promise((resolve) => setTimeout(resolve, wait));
      await conversation.close();
      await Promise.all((await agents()).map(goneFrom));
    }
  });
});
