// A start that is stopped, at whatever stage, leaves no process behind.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { AgentProcess } from '../../../../src/agents/agentProcess';
import { descendantsOf } from '../../../../src/agents/processTree';
import { phaseOf } from '../../../../src/client/view/projectSession';
import type { StageName } from '../../../../src/panel/contract';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { goneFrom } from '../../../support/processes';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('a start of a process that is stopped', function () {
  this.timeout(30_000);
  const session = useAgentSession();

  async function agents(): Promise<number[]> {
    const pids = (await descendantsOf(process.pid)).map(({ pid }) => pid);
    return pids.filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('scriptedAgent');
      } catch {
        return false;
      }
    });
  }

  const stages: readonly [StageName, Parameters<typeof scriptedAgent>[0]][] = [
    ['resolve', 'plain'],
    ['spawn', 'plain'],
    ['initialize', { mute: ['initialize'] }],
    ['session', { mute: ['session/new'] }],
    ['session', { mute: ['session/new'], ignoreStdinEnd: true, ignoreSigterm: true, child: true }],
  ];
  for (const [stage, script] of stages) {
    const stubborn = typeof script === 'object' && script.ignoreSigterm ? ' of an agent that does not want to go' : '';
    it(`leaves nothing running at the stage “${stage}”${stubborn}`, async () => {
      const { conversation } = session.openAgent(scriptedAgent(script, session.agentLog), {
        services: { startProcess: AgentProcess.start },
      });
      const stopped = session.until((c) => {
        if (c.stages.current?.name !== stage || c.stages.current.state !== 'running') return false;
        c.cancel();
        return true;
      });
      await Promise.all([conversation.start(), stopped]);
      assert.equal(phaseOf(conversation), 'idle');
      for (const pid of await agents()) await goneFrom(pid);
      for (const { pid, child } of readAgentLog(session.agentLog)) {
        await goneFrom(pid);
        if (typeof child === 'number') await goneFrom(child);
      }
      await conversation.close();
      assert.deepEqual(await agents(), []);
    });
  }
});
