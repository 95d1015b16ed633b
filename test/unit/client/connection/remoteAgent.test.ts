// Tests conversations with remote agents on the official SDK's server, over both transports.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at } from '../../../../src/base/untrusted';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { phaseOf, projectSession, statusOf } from '../../../../src/client/view/projectSession';
import { Changes } from '../../../../src/session/model/changes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type RemoteAgentServer, serveAgent } from '../../../support/servers/remoteAgent';
import { agentText, parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

for (const transport of ['http', 'ws'] as const) {
  describe(`remote agent over ${transport}`, function () {
    this.timeout(30_000);
    let server: RemoteAgentServer;
    let session: TestConversation | undefined;
    let folder: string;

    beforeEach(async () => {
      folder = await scratchFolder();
      server = await serveAgent();
    });
    afterEach(async () => {
      await session?.close();
      session = undefined;
      await server.close();
      await removeScratch();
    });

    function open(entry: Record<string, unknown> = {}, services: Partial<ConversationServices> = {}): TestConversation {
      const agent = parseAgent({ name: 'Far', url: server[transport], ...entry }, 'far');
      session = testConversation({ agent, cwd: folder, services });
      return session;
    }
    const said = (): string => agentText(session!.conversation);

    it('handles updates that precede the session id', async () => {
      const { conversation } = open();
      const { stopReason } = await conversation.send('hello').done;
      assert.equal(stopReason, 'end_turn');
      assert.equal(said(), 'Early. You said hello.');
      assert.deepEqual(
        conversation.stages.view.map(({ name, state }) => `${name} ${state}`),
        ['resolve done', 'connect done', 'initialize done', 'session done', 'ready skipped'],
      );
    });

    it("can't read files or run commands here by default", async () => {
      const { conversation } = open();
      await writeFile(join(folder, 'secret.txt'), 'mine');
      await conversation.send(`read ${join(folder, 'secret.txt')}`).done;
      await conversation.send('run').done;
      assert.match(said(), /Read -32601Ran -32601/);
      const offered = at(server.received[0], 'params', 'clientCapabilities');
      assert.deepEqual(at(offered, 'fs'), { readTextFile: false, writeTextFile: false });
      assert.equal(at(offered, 'terminal'), false);
    });

    it('can use what the user has allowed', async () => {
      const { conversation } = open({ allow: { files: true } });
      await writeFile(join(folder, 'open.txt'), 'yours');
      await conversation.send(`read ${join(folder, 'open.txt')}`).done;
      await conversation.send('run').done;
      assert.match(said(), /Read "yours"Ran -32601/);
    });

    it('is not connected to from an untrusted workspace', async () => {
      const { conversation } = open({}, { isTrusted: () => false });
      await conversation.start();
      assert.equal(statusOf(conversation), 'Restricted Mode');
      assert.equal(server.requests.length, 0);
    });

    it('reopens its session after a lost connection', async () => {
      const { conversation, until } = open({}, { reconnectDelaysMs: [1, 1, 1] });
      const states = new Set<string>();
      conversation.model.observe(new Changes(() => states.add(conversation.connection.kind)));
      await conversation.send('one').done;
      const { sessionId } = conversation;
      server.drop();
      await until((one) => one.connection.kind === 'recovering');
      const { error, status, phase } = projectSession(conversation);
      assert.equal(phase, 'recovering');
      assert.equal(status, 'Connection lost, reconnecting (1 of 3)');
      assert.equal(error?.code, 'connection-lost');
      assert.match(error?.message ?? '', /^The connection to Far was lost: 127\.0\.0\.1:\d+ /);
      assert.equal(error?.actions[0]?.label, 'Reconnect');
      await until((one) => one.connection.kind === 'ready');
      assert.equal(conversation.sessionId, sessionId);
      await conversation.send('two').done;
      assert.equal(server.sessions.size, 1);
      assert.match(said(), /You said one\.You said two\.$/);
    });

    it("keeps a session that it still has and can't reopen, and gets session/ready for each opening", async () => {
      await server.close();
      server = await serveAgent({ capabilities: { sessionCapabilities: { status: {}, ready: {} } } });
      const { conversation, until } = open({}, { reconnectDelaysMs: [1, 1, 1] });
      await conversation.send('one').done;
      const { sessionId } = conversation;
      server.drop();
      await until((one) => one.connection.kind === 'recovering');
      await until((one) => one.connection.kind === 'ready');
      await conversation.send('two').done;
      assert.equal(conversation.sessionId, sessionId);
      assert.deepEqual([...server.sessions.keys()], [sessionId]);
      assert.deepEqual(
        server.received.flatMap(({ method }) => (method === undefined ? [] : [method])),
        [
          ...['initialize', 'session/new', 'session/ready', 'session/prompt'],
          ...['initialize', 'session/status', 'session/ready', 'session/prompt'],
        ],
      );
      assert.match(said(), /You said one\.You said two\.$/);
    });

    it('gives up reconnecting to a missing server, and says so', async () => {
      const { conversation, until } = open({}, { reconnectDelaysMs: [1, 1] });
      await conversation.send('one').done;
      await server.close();
      await until((one) => one.connection.kind === 'failed');
      const { error } = projectSession(conversation);
      assert.equal(error?.code, 'remote-unreachable');
      assert.match(error?.message ?? '', /^Far: .*127\.0\.0\.1:\d+ refuses connections\.$/);
    });

    it('stops reconnecting when the user stops it', async () => {
      const { conversation, until } = open({}, { reconnectDelaysMs: [3_600_000] });
      await conversation.send('one').done;
      server.drop();
      await until((one) => one.connection.kind === 'recovering');
      conversation.cancel();
      assert.equal(phaseOf(conversation), 'exited');
      assert.equal(projectSession(conversation).error?.actions[0]?.label, 'Reconnect');
      await conversation.restart();
      assert.equal(phaseOf(conversation), 'ready');
      assert.equal(server.sessions.size, 1);
    });

    it('keeps secrets out of the traffic log, and asks for each once', async () => {
      const traffic: string[] = [];
      const asked: string[] = [];
      const { conversation } = open(
        { headers: { Authorization: 'Bearer $\u007bsecret:token}' } },
        {
          onTraffic: (_key, _dir, line) => traffic.push(line),
          remote: {
            secret: async (origin, name) => {
              asked.push(`${origin} ${name}`);
              return 'sesame-street';
            },
            allowCleartext: async () => false,
          },
        },
      );
      await conversation.send('sesame-street').done; // the agent repeats it
      assert.ok(server.requests.every(({ headers }) => headers.authorization === 'Bearer sesame-street'));
      assert.deepEqual(asked, [`${new URL(server[transport]).origin} token`]);
      assert.ok(traffic.some((line) => line.includes('[redacted]')));
      assert.doesNotMatch(traffic.join('\n'), /sesame-street/);
    });

    it('gets no commands and keys of this machine', async () => {
      const key = { name: 'tool', type: 'stdio' as const, command: '/bin/tool', args: [], env: { KEY: 'sesame' } };
      const { conversation } = open({}, { mcpServers: async () => ({ servers: [key], problems: [] }) });
      await conversation.start();
      const opened = server.received.find(({ method }) => method === 'session/new');
      assert.deepEqual(at(opened, 'params', 'mcpServers'), []);
    });

    it("explains the server's error without the data that was sent", async () => {
      const refusing = await serveAgent({ refuse: () => 401 });
      try {
        const { conversation } = open({
          url: `${refusing[transport]}?key=topsecret`,
          headers: { Authorization: 'Bearer sesame-street' },
        });
        await conversation.start();
        const { error } = projectSession(conversation);
        assert.equal(error?.code, 'remote-unauthorized');
        assert.match(
          error?.message ?? '',
          /^Far: .*127\.0\.0\.1:\d+ requires valid credentials.*\(401 Unauthorized\)\.$/,
        );
        assert.match(error?.hint ?? '', /“headers”.*Manage Agents/);
        assert.doesNotMatch(JSON.stringify(error), /sesame|topsecret/);
        assert.equal(refusing.requests[0]?.headers.authorization, 'Bearer sesame-street');
      } finally {
        await refusing.close();
      }
    });
  });
}
