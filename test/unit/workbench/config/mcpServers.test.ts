// MCP servers of several folders all reach the agent, under different names.
import { strict as assert } from 'node:assert';
import { useFakeEditor } from '../../../support/fakeEditor';

describe("a workspace's MCP servers", () => {
  const set = useFakeEditor();
  const server = (...args: string[]) => ({ command: process.execPath, args });

  let problems: unknown[];

  async function gathered(): Promise<readonly [name: string, ...args: readonly string[]][]> {
    const { McpServers } = await import('../../../../src/workbench/config/mcpServers');
    const stored = new Map<string, unknown>();
    const memento = { get: (key: string) => stored.get(key), update: async () => {}, keys: () => [] };
    const servers = new McpServers({
      context: { workspaceState: memento, globalState: memento } as never,
      environment: async () => ({}),
      consent: { ask: async () => 'yes' } as never,
    });
    const offer = await servers.gather('/a/app');
    problems = offer.problems.map((text) => (text as { readonly args?: readonly unknown[] }).args?.[0]);
    return offer.servers.map((one) => [one.name, ...('args' in one ? one.args : [])]);
  }

  it('get different names if two folders use the same one, unless the user named it', async () => {
    const folders = {
      '/a/app': { mcpServers: { db: server('a') } },
      '/b/app': { mcpServers: { db: server('b'), 'db-app': server('c') } },
    };
    set({ folders }, true, ['/a/app', '/b/app']);
    assert.deepEqual(await gathered(), [
      ['db', 'a'],
      ['db-app-2', 'b'],
      ['db-app', 'c'],
    ]);
    assert.deepEqual(problems, []);
  });

  it("do not change the user's servers, which is reported", async () => {
    const folders = { '/b/app': { mcpServers: { db: server('b') } } };
    set({ user: { mcpServers: { db: server('mine') } }, folders }, true, ['/a/app', '/b/app']);
    assert.deepEqual(await gathered(), [['db', 'mine']]);
    assert.deepEqual(problems, ['db']);
  });
});
