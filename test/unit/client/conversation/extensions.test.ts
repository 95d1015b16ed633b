// What agents send that no version of the protocol has: requests get an answer, notifications get silence, and neither reaches the transcript.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { at } from '../../../../src/base/untrusted';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('an agent with methods of its own', () => {
  let session: TestConversation;
  let log: string;

  async function open(script: AgentScript, traceparent?: string): Promise<TestConversation> {
    const folder = await scratchFolder();
    log = join(folder, 'agent.ndjson');
    const [agent] = parseAgents({ scripted: scriptedAgent(script, log) }).agents;
    assert.ok(agent);
    session = testConversation({ agent, cwd: folder, services: { traceparent } });
    return session;
  }

  afterEach(async () => {
    await session.close();
    assert.deepEqual(
      readAgentLog(log).filter(({ ev }) => ev === 'violation'),
      [],
    );
    await removeScratch();
  });

  for (const method of ['_vendor/ask', 'craft/drainMidTurnQueue', 'session/unheard_of']) {
    it(`gets an answer to its request ${method}`, async () => {
      const { conversation } = await open({});
      await conversation.send(`request ${method} {"sessionId":"any"}\nsay done`).done;
      const text = snapshotOf(conversation)
        .entries.map((entry) => entry.text)
        .join('');
      assert.match(text, new RegExp(`${method} → \\{"code":-32601`));
      assert.match(text, /done/);
    });
  }

  it('sends notifications that are not shown', async () => {
    const { conversation } = await open({});
    await conversation.send(
      'notify _vendor/news {"a":1}\nnotify qwen/notify/session/mode-update {}\nnotify _auth/status_update {}\nsay done',
    ).done;
    assert.deepEqual(
      snapshotOf(conversation).entries.map(({ kind }) => kind),
      ['user', 'agent'],
    );
  });

  it('gets the trace context with its prompts', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const { conversation } = await open({}, `00-${trace}-b7ad6b7169203331-01`);
    await conversation.send('say one').done;
    const prompts = readAgentLog(log).filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt');
    const traceparent = at(prompts[0]?.msg?.params, '_meta', 'traceparent');
    assert.equal(String(traceparent).split('-')[1], trace);
  });

  it('is told to stop opening a session when the start is stopped', async () => {
    const { conversation, until } = await open({ mute: ['session/new'] });
    const start = conversation.start();
    await until((c) => c.stages.current?.name === 'session');
    conversation.cancel();
    await start;
    assert.equal(conversation.connection.kind, 'idle');
    assert.deepEqual(calledMethods(readAgentLog(log)), ['initialize', 'session/new', '$/cancel_request']);
  });
});
