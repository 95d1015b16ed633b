// Branches of a session that only an agent server has: reported immediately with a button, kept
// when the window ends, and never merged.

import { strict as assert } from 'node:assert';
import type { AgentDefinition } from '../../../../src/agents/agentDefinition';
import type { DescriptorPort } from '../../../../src/client/http/communicationRecord';
import { isBranch, SHOW_BRANCH } from '../../../../src/distributed/client/handOver';
import { mintId } from '../../../../src/distributed/model/model';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { echo, type RunningServer, rivalOf, serve, stopServers } from '../../../support/servers/servedAgents';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('a session with another branch on a server', function () {
  this.timeout(20_000);
  const open: TestConversation[] = [];
  const texts = new Map<string, string>();
  const descriptors: DescriptorPort = {
    read: async (key) => texts.get(key),
    write: async (key, text) => void texts.set(key, text),
  };

  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    texts.clear();
    await stopServers();
    await removeScratch();
  });

  function agentAt({ baseUrl, token }: RunningServer): AgentDefinition {
    const far = { type: 'communication', name: 'Far', url: baseUrl, agent: 'echo' };
    const agent = parseAgent({ ...far, headers: { Authorization: `Bearer ${token}` } }, 'far');
    return agent;
  }
  async function openAt(server: RunningServer): Promise<TestConversation['conversation']> {
    const one = testConversation({ agent: agentAt(server), cwd: await scratchFolder(), services: { descriptors } });
    open.push(one);
    return one.conversation;
  }
  /**
   * A conversation that continued beside a rival and has sent a message since, so that the server
   * has both branches.
   */
  async function diverged() {
    const server = await serve([echo]);
    const conversation = await openAt(server);
    await conversation.send('one').done;
    const { descriptor } = conversation.communication;
    assert.ok(descriptor);
    const elsewhere = rivalOf(server, descriptor);
    await conversation.send('here').done;
    await elsewhere('there');
    await conversation.send('go on').done;
    return { server, conversation, elsewhere };
  }
  const forkNotices = ({ model }: TestConversation['conversation']) =>
    model.state.entries.filter((entry) => entry.kind === 'notice').filter(({ said }) => said?.code === 'server-branch');

  it('shows the server’s branch on request', async () => {
    const { conversation } = await diverged();
    const [notice, ...others] = forkNotices(conversation);
    assert.deepEqual(others, []);
    assert.deepEqual(notice?.said?.args.slice(1), [2, 3]);
    const name = notice?.action?.id.slice(SHOW_BRANCH.length) ?? '';
    const [branch, ...more] = (await conversation.communication.known())?.branches ?? [];
    assert.deepEqual(more, []);
    assert.ok(branch && isBranch(branch, name));
    assert.equal(branch.history.length, 5);
    const ours = conversation.communication.descriptor;
    assert.ok(ours && !isBranch(ours, name), 'ours went on without it');
    assert.equal(ours.history.length, 6);
  });

  it('reports a branch once, and again only if it is another one', async () => {
    const { conversation, elsewhere } = await diverged();
    await elsewhere('and there');
    await conversation.send('still here').done;
    const notices = forkNotices(conversation);
    assert.equal(notices.length, 1);
    const branches = (await conversation.communication.known())?.branches ?? [];
    assert.deepEqual(
      branches.map(({ history }) => history.length),
      [7],
    );
    assert.ok(isBranch(branches[0] ?? { id: mintId(), history: [] }, notices[0]?.action?.id.slice(7) ?? ''));
  });

  it('has a button that still works in a reopened window', async () => {
    const { server, conversation } = await diverged();
    const id = forkNotices(conversation)[0]?.action?.id ?? '';
    await open.pop()?.close();
    const again = await openAt(server);
    const { descriptor: ours, branches = [] } = (await again.communication.known()) ?? {};
    assert.equal(again.connection.kind, 'idle', 'no agent was needed for it');
    assert.equal(ours?.history.length, 6);
    assert.deepEqual(
      branches.map((branch) => isBranch(branch, id.slice(SHOW_BRANCH.length))),
      [true],
    );
  });
});
