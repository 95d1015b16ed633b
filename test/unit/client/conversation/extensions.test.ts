// Tests messages that are in no version of the protocol: requests are answered and shown,
// notifications ignored.

import { strict as assert } from 'node:assert';
import { at } from '../../../../src/base/untrusted';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { pluck } from '../../../support/pluck';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('an agent with custom methods', () => {
  const session = useAgentSession();
  const open = (script: AgentScript = {}, traceparent?: string) =>
    session.openAgent(scriptedAgent(script, session.agentLog), { services: { traceparent } }).conversation;

  it('has unknown requests refused and shown with their content', async () => {
    const conversation = open();
    await conversation.send('request vendor/ask_plan {"plan":"Do it"}').done;
    const shown = conversation.model.state.entries.find((entry) => entry.kind === 'notice');
    assert.equal(shown?.title, 'vendor/ask_plan');
    assert.deepEqual(shown?.raw, { sessionId: conversation.sessionId, plan: 'Do it' });
    assert.match(session.said(), /-32601/);
  });

  it('has an update shown that is sent as a request, although the request is refused', async () => {
    const conversation = open();
    await conversation.start();
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'sent as a request' } };
    const params = { sessionId: conversation.sessionId, update };
    await conversation.send(`request session/update ${JSON.stringify(params)}`).done;
    assert.match(session.said(), /sent as a request/);
  });

  it('sends notifications that are not shown', async () => {
    const conversation = open();
    await conversation.send(
      'notify _vendor/news {"a":1}\nnotify qwen/notify/session/mode-update {}\nnotify _auth/status_update {}\nsay done',
    ).done;
    assert.deepEqual(pluck(snapshotOf(conversation).entries, 'kind'), ['user', 'agent']);
  });

  it('gets the trace context with its prompts', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await open({}, `00-${trace}-b7ad6b7169203331-01`).send('say one').done;
    const log = readAgentLog(session.agentLog);
    const prompt = log.find(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt');
    assert.equal(String(at(prompt?.msg?.params, '_meta', 'traceparent')).split('-')[1], trace);
  });

  it('receives a cancellation of session/new when the start is stopped', async () => {
    const conversation = open({ mute: ['session/new'] });
    const start = conversation.start();
    await session.until((c) => c.stages.current?.name === 'session');
    conversation.cancel();
    await start;
    assert.equal(conversation.connection.kind, 'idle');
    const methods = calledMethods(readAgentLog(session.agentLog));
    assert.deepEqual(methods, ['initialize', 'session/new', '$/cancel_request']);
  });
});
