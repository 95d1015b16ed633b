// An agent that ends when it is given the product's own MCP server, which nobody asked for.
import { strict as assert } from 'node:assert';
import { createInterface } from 'node:readline';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { at } from '../../../../src/base/untrusted';
import type { EditorTools } from '../../../../src/client/mcp/editorTools';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';
import { startProgram } from '../../../support/sessions/memoryAgents';

describe('an agent that ends when it is given the editor’s tools', () => {
  after(removeScratch);

  it('is started again without them, once', async () => {
    const given: number[] = [];
    let alwaysEnds = false;
    const [agent] = parseAgents({ frail: { command: process.execPath } }).agents;
    assert.ok(agent);
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
