// Whole conversations with agent processes that misbehave: how they end, and that nothing is left of them.
import { strict as assert } from 'node:assert';
import { AgentProcess } from '../../../../src/agents/agentProcess';
import { projectSession } from '../../../../src/client/view/projectSession';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { isGone } from '../../../support/processes';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('conversation with an agent process that misbehaves', function () {
  this.timeout(30_000);
  const session = useAgentSession();

  it('leaves no process behind, even of an agent that ignores every polite request', async () => {
    session.openAgent(scriptedAgent('stubborn', session.agentLog), {
      services: { startProcess: AgentProcess.start },
    });
    await session.conversation.start();
    const pids = readAgentLog(session.agentLog).flatMap((line) =>
      line.ev === 'child' ? [line.pid, Number(line.child)] : [],
    );
    assert.equal(pids.length, 2);
    await session.close();
    for (const pid of pids) assert.ok(await isGone(pid), `${pid} still runs`);
  });

  for (const how of ['3', 'SIGKILL']) {
    it(`says how an agent ended that dies in mid-turn (${how})`, async () => {
      session.openAgent(scriptedAgent('plain', session.agentLog), { services: { startProcess: AgentProcess.start } });
      assert.equal((await session.conversation.send(`die ${how}`).done).stopReason, 'error');
      await session.until((c) => c.connection.kind === 'exited');
      assert.match(session.said(), /last words/);
      const error = projectSession(session.conversation).error;
      assert.match(error?.message ?? '', how === '3' ? /code 3/ : /SIGKILL/);
      assert.match(error?.stderr ?? '', /terribly wrong/);
    });
  }
});
