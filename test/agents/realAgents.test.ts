// Each real agent does its work over plain stdio with the scripted model: if this fails, the set-up is broken and not the extension.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModelServer, startModelServer } from './modelServer';
import { type Answer, choose, diskAnswers, RawClient } from './rawClient';
import { type RealAgent, realAgents } from './realAgents';

const ids = ['claude', 'gemini', 'opencode'] as const;

describe('real agents over plain stdio', () => {
  let folder: string;
  let agents: readonly RealAgent[];
  let model: ModelServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley agents-'));
    model = await startModelServer();
    agents = await realAgents(join(folder, 'homes'), model.url);
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const id of ids) {
    describe(id, () => {
      let agent: RealAgent;
      let client: RawClient;
      let cwd: string;
      let sessionId: string;
      let permission: Answer;
      let from: number;

      /** Plays a script. @returns why the turn ended */
      async function play(script: Parameters<RealAgent['prompt']>[0]): Promise<string> {
        const result = await client.request('session/prompt', {
          sessionId,
          prompt: [{ type: 'text', text: agent.prompt(script, cwd) }],
        });
        return result.stopReason;
      }

      function asked(): boolean {
        return client.received.slice(from).some(({ method }) => method === 'session/request_permission');
      }

      before(async () => {
        agent = agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`);
        cwd = join(folder, `work ${id}`);
        await mkdir(cwd);
        client = new RawClient(agent.definition, cwd, {
          ...diskAnswers,
          'session/request_permission': (params, requestId) => permission(params, requestId),
        });
        await client.request('initialize', {
          protocolVersion: 1,
          clientInfo: { name: 'parley-tests', version: '0.0.0' },
          clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
        });
        if (agent.signIn) await client.request('authenticate', { methodId: agent.signIn });
        ({ sessionId } = await client.request('session/new', { cwd, mcpServers: [] }));
      });

      beforeEach(() => {
        permission = choose('allow');
        from = client.received.length;
      });

      after(async () => {
        await client?.close();
      });

      it('streams text', async () => {
        assert.equal(await play('text'), 'end_turn');
        assert.match(
          client.text('agent_message_chunk', from),
          /Hello from the \*\*scripted\*\* model\.[\s\S]*That was all of it\./,
        );
        assert.ok(client.updates('agent_message_chunk', from).length > 3);
      });

      it('thinks aloud', async () => {
        assert.equal(await play('think'), 'end_turn');
        assert.match(client.text('agent_thought_chunk', from), /thinking about this/i);
      });

      it('writes no file that was rejected', async () => {
        permission = choose('reject');
        await play('write');
        assert.ok(asked());
        assert.equal(existsSync(join(cwd, 'written.txt')), false);
      });

      it('writes a file with permission', async () => {
        assert.equal(await play('write'), 'end_turn');
        assert.ok(asked());
        assert.equal(await readFile(join(cwd, 'written.txt'), 'utf8'), 'line one\nline two\n');
      });

      it('runs no command that was rejected', async () => {
        permission = choose('reject');
        await play('command');
        assert.ok(asked());
        assert.equal(existsSync(join(cwd, 'ran.txt')), false);
      });

      it('runs a command with permission', async () => {
        assert.equal(await play('command'), 'end_turn');
        assert.ok(asked());
        assert.ok(existsSync(join(cwd, 'ran.txt')));
      });

      it('stops in mid-stream', async () => {
        const turn = play('slow');
        await client.until((message) => message.params?.update?.content?.text?.includes('tick'), from);
        client.notify('session/cancel', { sessionId });
        assert.equal(await turn, 'cancelled');
        assert.doesNotMatch(client.text('agent_message_chunk', from), /tick600/);
      });

      it('works after a stop', async () => {
        assert.equal(await play('text'), 'end_turn');
        assert.deepEqual(client.noise, []);
      });
    });
  }
});
