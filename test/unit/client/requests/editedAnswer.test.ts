// The answer to a request whose change the user has edited.
import { strict as assert } from 'node:assert';
import { type AgentDefinition, parseAgents } from '../../../../src/agents/agentDefinition';
import { scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('a request whose change the user has edited', () => {
  let session: TestConversation;
  const used: string[] = [];

  beforeEach(async () => {
    const [agent] = parseAgents({ scripted: scriptedAgent('plain') }).agents;
    session = testConversation({
      agent: agent as AgentDefinition,
      cwd: await scratchFolder(),
      services: { useEdited: (...answer) => used.push(answer.join(' ')) > 0 && answer[2] === 'allow' },
    });
  });

  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  it('is not answered by an option that uses the edited version, and by any other one', async () => {
    const { conversation } = session;
    const turn = conversation.send('permission');
    await session.until((c) => c.model.state.permissions.size === 1);
    const [id = ''] = conversation.model.state.permissions.keys();
    assert.ok(conversation.answerPermission(id, 'allow'));
    assert.deepEqual(used.splice(0), [`test ${id} allow`]);
    assert.ok(conversation.model.state.permissions.has(id));
    assert.ok(conversation.answerPermission(id, 'reject'));
    assert.deepEqual(used, [`test ${id} reject`]);
    await turn.done;
  });
});
