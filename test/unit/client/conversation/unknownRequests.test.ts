// Requests of an agent that the client does not have, and updates that come as requests: both are shown.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../../../support/agents/definition';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('a request of the agent', () => {
  const session = useAgentSession();

  it('that the client does not have is refused and shown with what it says', async () => {
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
    await conversation.send('request vendor/ask_plan {"plan":"Do it"}').done;
    const shown = conversation.model.state.entries.find((entry) => entry.kind === 'notice');
    assert.equal(shown?.title, 'vendor/ask_plan');
    assert.deepEqual(shown?.raw, { sessionId: conversation.sessionId, plan: 'Do it' });
    assert.match(session.said(), /-32601|not found/i);
  });

  it('that is an update counts as one, although it is refused', async () => {
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog));
    await conversation.start();
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'sent as a request' } };
    const params = { sessionId: conversation.sessionId, update };
    await conversation.send(`request session/update ${JSON.stringify(params)}`).done;
    assert.match(session.said(), /sent as a request/);
  });
});
