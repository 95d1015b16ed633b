// A session's state, for lists and for keeping the machine awake.
import { strict as assert } from 'node:assert';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { worksByItself } from '../../../../src/client/view/sessionStatus';
import { scriptedAgent } from '../../../support/agents/definition';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';

describe('a session', () => {
  afterEach(removeScratch);

  it('is working during a turn, but not while it waits for the user', async () => {
    const cwd = await scratchFolder();
    const [agent] = parseAgents({ tested: scriptedAgent('plain', `${cwd}/log`) }).agents;
    assert.ok(agent);
    const { conversation, until, close } = testConversation({ agent, cwd });
    await conversation.start();
    assert.equal(worksByItself(conversation), false);
    const done = conversation.send('permission {"toolCall":{"toolCallId":"t1","title":"Run","kind":"execute"}}').done;
    assert.equal(worksByItself(conversation), true);
    await until(({ model }) => model.state.permissions.size > 0);
    assert.equal(worksByItself(conversation), false);
    const [id = '', { options: [first] = [] } = {}] = [...conversation.model.state.permissions][0] ?? [];
    conversation.answerPermission(id, first?.optionId ?? null);
    assert.equal(worksByItself(conversation), true);
    done.catch(() => {});
    await close();
    assert.equal(worksByItself(conversation), false);
  });
});
