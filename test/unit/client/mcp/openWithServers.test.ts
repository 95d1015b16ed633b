// An agent that rejects MCP servers still opens a session, and the user learns what is missing.

import { strict as assert } from 'node:assert';
import { createInterface } from 'node:readline';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import type { AgentDescription, McpServer } from '../../../../src/acp/protocol/dialect';
import { inEnglish } from '../../../../src/base/localizable';
import { silentLog } from '../../../../src/base/log';
import { at } from '../../../../src/base/untrusted';
import type { EditorTools } from '../../../../src/client/mcp/editorTools';
import { openWithServers } from '../../../../src/client/mcp/openWithServers';
import { ServerRefusals } from '../../../../src/client/mcp/serverRefusals';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, testConversation } from '../../../support/sessions/conversation';
import { startProgram } from '../../../support/sessions/memoryAgents';

const server = (name: string): McpServer => ({ name, type: 'stdio', command: '/bin/x', args: [], env: {} });
const own = server('parley');
const users = server('files');

describe('a session of an agent that refuses MCP servers', () => {
  let refusals: ServerRefusals;
  let asked: string[];
  let version: string;

  beforeEach(() => {
    refusals = new ServerRefusals();
    asked = [];
    version = '1';
  });

  const hasEnded = (error: unknown): boolean => error instanceof Error && error.message === 'exited';
  const exits = (names: string): void => {
    if (names.includes('parley')) throw new Error('exited');
  };

  /** @param answer to the names of the servers @returns omitted servers */
  async function open(answer: (names: string) => void, servers = [own, users]): Promise<readonly string[]> {
    const agent = parseAgent({ command: 'claw' }, 'claw');
    const description = { version } as AgentDescription;
    const handed = { servers, problems: [], own: servers.find((one) => one === own) };
    const { given } = await openWithServers(
      { agent, description, handed, refusals, log: silentLog, hasEnded },
      async (mcp) => {
        const names = mcp.servers.map(({ name }) => name).join(' ');
        asked.push(names);
        answer(names);
      },
    );
    return given.problems.map(inEnglish);
  }

  const takesNone = (names: string): void => {
    if (names !== '') throw new RpcError(-32603, 'mcp is not supported');
  };
  const notOwn = (names: string): void => {
    if (names.includes('parley')) throw new RpcError(-32603, 'unknown server');
  };

  it('is opened without the product’s own server, without a notice', async () => {
    assert.deepEqual(await open(notOwn), []);
    assert.deepEqual(asked, ['parley files', 'files']);
    assert.deepEqual(await open(takesNone, [own]), []);
  });

  it('is opened without any, and reports which of the user’s are lost', async () => {
    assert.deepEqual(await open(takesNone), ['files: claw opens no session with this server.']);
    assert.deepEqual(asked, ['parley files', 'files', '']);
  });

  it('is opened directly in the way that worked for this version', async () => {
    await open(takesNone);
    asked = [];
    assert.equal((await open(takesNone)).length, 1);
    assert.deepEqual(asked, ['']);
    version = '2';
    await open(() => undefined);
    assert.deepEqual(asked, ['', 'parley files']);
  });

  it('is tried with servers again if the user has other ones', async () => {
    await open(takesNone);
    asked = [];
    await open(notOwn, [own, server('docs')]);
    assert.deepEqual(asked, ['parley docs', 'docs']);
  });

  it('fails with the first error if servers are not the reason, and is tried only once from then on', async () => {
    const refuse = (names: string): void => {
      throw new RpcError(-32602, names === 'parley files' ? 'no such folder' : 'another error');
    };
    await assert.rejects(open(refuse), /no such folder/);
    assert.equal(asked.length, 3);
    await assert.rejects(open(refuse), /no such folder/);
    assert.equal(asked.length, 4);
  });

  for (const [name, code] of Object.entries({
    'a sign-in': -32000,
    'an unknown session': -32002,
    'an unknown method': -32601,
  }))
    it(`fails with ${name} without another attempt`, async () => {
      await assert.rejects(
        open(() => {
          throw new RpcError(code, 'no');
        }),
      );
      assert.equal(asked.length, 1);
    });

  it('is opened without the product’s own server once an agent has exited with it', async () => {
    await assert.rejects(open(exits), /exited/);
    assert.deepEqual([refusals.takeSuspicion('claw@1'), refusals.takeSuspicion('claw@1')], [true, false]);
    assert.deepEqual(await open(exits), []);
    assert.deepEqual(await open(exits), []);
    assert.deepEqual(asked, ['parley files', 'files', 'files']);
  });

  it('gets all servers again if the agent also exits without the product’s own', async () => {
    const always = (): void => {
      throw new Error('exited');
    };
    await assert.rejects(open(always));
    await assert.rejects(open(always));
    assert.equal(refusals.takeSuspicion('claw@1'), false);
    await open(() => undefined);
    await assert.rejects(open(always));
    assert.equal(refusals.takeSuspicion('claw@1'), false, 'it has taken them before');
    assert.deepEqual(asked, ['parley files', 'files', 'parley files', 'parley files']);
  });

  it('fails as usual with an agent that has accepted these servers', async () => {
    await open(() => undefined);
    await assert.rejects(
      open(() => {
        throw new RpcError(-32603, 'overloaded');
      }),
    );
    assert.equal(asked.length, 2);
  });
});

describe('an agent that exits when it gets the editor’s tools', () => {
  after(removeScratch);

  it('is started again without them, once', async () => {
    const given: number[] = [];
    let alwaysEnds = false;
    const agent = parseAgent({ command: process.execPath }, 'frail');
    const program = { name: 'parley', type: 'stdio', command: '/bin/x', args: [], env: {} } as const;
    const editorTools = { grant: async () => ({ program, dispose() {} }) } as unknown as EditorTools;
    const open = async () =>
      testConversation({
        agent,
        cwd: await scratchFolder(),
        services: {
          editorTools,
          startProcess: (options) =>
            startProgram((process) => {
              createInterface({ input: process.stdin }).on('line', (line) => {
                const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: unknown };
                if (id === undefined) return;
                const { length = 0 } = (at(params, 'mcpServers') ?? []) as unknown[];
                if (method === 'session/new') given.push(length);
                if (method === 'session/new' && (alwaysEnds || length > 0)) {
                  process.exit(1);
                  return;
                }
                const result = method === 'initialize' ? { protocolVersion: 1 } : { sessionId: 's' };
                process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
              });
            }, options),
        },
      });
    const first = await open();
    await first.conversation.start();
    assert.equal(first.conversation.connection.kind, 'ready');
    assert.deepEqual(given.splice(0), [1, 0]);
    await first.close();
    alwaysEnds = true;
    const other = await open();
    await other.conversation.start();
    assert.equal(other.conversation.connection.kind, 'failed');
    assert.deepEqual(given, [1, 0]);
    await other.close();
  });
});
