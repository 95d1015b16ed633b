// The client with an agent on the official SDK, which parses our messages with its own schemas.
// Shows rules that both our client and our test agents misread.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { SessionOpenStrategy } from '../../../src/client/connection/sessionOpenStrategy';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { type TestConversation, testConversation } from '../../support/sessions/conversation';

describe('an agent on the official SDK', () => {
  let cwd = '';
  const open: TestConversation[] = [];

  beforeEach(async () => {
    cwd = await scratchFolder();
  });

  afterEach(async () => {
    for (const session of open.splice(0)) await session.close();
    await removeScratch();
  });

  function start(opening?: SessionOpenStrategy): TestConversation {
    const args = [join(process.cwd(), 'out/support/agents/sdkAgent.js'), join(cwd, 'sessions.json')];
    const [agent] = parseAgents({ sdk: { name: 'SDK', command: process.execPath, args } }).agents;
    const session = testConversation({ agent: agent as AgentDefinition, cwd, ...(opening && { opening }) });
    open.push(session);
    return session;
  }

  const saidIn = ({ conversation }: TestConversation, kind: 'user' | 'agent' = 'agent'): string =>
    conversation.model.state.entries
      .flatMap((entry) =>
        entry.kind === kind ? entry.content.map((block) => (block.type === 'text' ? block.text : block.type)) : [],
      )
      .join('|');

  it('gets the chosen option of a permission request', async () => {
    const session = start();
    const { done } = session.conversation.send('permission');
    await session.until(({ model }) => model.state.permissions.size === 1);
    const [id = ''] = session.conversation.model.state.permissions.keys();
    assert.equal(session.conversation.answerPermission(id, 'no'), true);
    await done;
    assert.equal(saidIn(session), 'no');
  });

  it('reads files through the client', async () => {
    await writeFile(join(cwd, 'in.txt'), 'old\n');
    const session = start();
    await session.conversation.send(`read ${join(cwd, 'in.txt')}`).done;
    assert.equal(saidIn(session), 'old\n');
  });

  it('ends a cancelled turn as cancelled', async () => {
    const session = start();
    const { done } = session.conversation.send('wait');
    await session.until(() => saidIn(session) === 'waiting');
    session.conversation.cancel();
    assert.equal((await done).stopReason, 'cancelled');
  });

  it('shows an error as the end of its turn, and takes the next prompt', async () => {
    const session = start();
    assert.equal((await session.conversation.send('fail badly').done).stopReason, 'error');
    session.conversation.queueActions.resume();
    assert.equal((await session.conversation.send('say again').done).stopReason, 'end_turn');
    assert.equal(saidIn(session), 'again');
  });

  it('lists its sessions, and replays one that is loaded in another process', async () => {
    const first = start();
    await first.conversation.send('say kept').done;
    const sessionId = first.conversation.sessionId ?? '';
    const listed: string[] = [];
    for await (const page of first.conversation.ops.list({}, new AbortController().signal))
      listed.push(...page.map((info) => info.sessionId));
    assert.deepEqual(listed, [sessionId]);
    const second = start({ kind: 'reopen', sessionId, transcript: 'replay' });
    await second.conversation.start();
    assert.equal(second.conversation.connection.kind, 'ready');
    assert.deepEqual([saidIn(second, 'user'), saidIn(second)], ['say kept', 'kept']);
  });

  it('rejects an unknown session', async () => {
    const session = start({ kind: 'reopen', sessionId: 'other', transcript: 'replay' });
    await session.conversation.start();
    const { connection } = session.conversation;
    assert.equal(connection.kind === 'failed' && connection.error.code, 'session-not-found');
  });
});
