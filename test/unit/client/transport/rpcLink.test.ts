// Tests detached connections and those who wait for them.
import { strict as assert } from 'node:assert';
import { agentEnvironment } from '../../../../src/agents/agentEnvironment';
import { silentLog } from '../../../../src/base/log';
import { type LinkOptions, RpcLink } from '../../../../src/client/transport/rpcLink';
import { Stages } from '../../../../src/client/transport/stages';

/** Answers `initialize`, then closes its output and keeps running. */
const agent = `
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: 1, agentCapabilities: {} } }) + '\\n');
  else require('fs').closeSync(1);
});`;

function open(program: string, onTraffic?: LinkOptions['onTraffic']): Promise<RpcLink> {
  return RpcLink.open(
    {
      agent: {
        type: 'process',
        id: 'a',
        name: 'A',
        protocol: 1,
        command: process.execPath,
        args: ['-e', program],
        env: {},
      },
      cwd: process.cwd(),
      environment: async () => agentEnvironment(process.env, undefined),
      client: { name: 'test', title: 'Test', version: '0' },
      log: silentLog,
      onRequest: async () => null,
      onNotification() {},
      ...(onTraffic && { onTraffic }),
    },
    new Stages(Date.now, () => 10_000),
    new AbortController().signal,
  );
}

describe('a link to an agent', function () {
  this.timeout(20_000);

  it('reports its messages, its error output, and other output', async () => {
    const chatty = agent.replace(
      "if (method === 'initialize')",
      "console.error('warning: old'); console.log('Hi!'); $&",
    );
    const heard: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const link = await open(chatty, (kind, line) => {
      heard.push(`${kind} ${line.replace(/"id":\d+/, '"id":0').slice(0, 28)}`);
      if (heard.length === 4) resolve();
    });
    await promise;
    await link.close();
    assert.deepEqual(heard.sort(), [
      'in {"jsonrpc":"2.0","id":0,"res',
      'noise Hi!',
      'out {"jsonrpc":"2.0","id":0,"met',
      'stderr warning: old',
    ]);
  });

  for (const end of ['close', 'dispose'] as const) {
    it(`rejects pending waits for the agent's end on ${end}()`, async () => {
      const { signal } = new AbortController();
      const link = await open(agent);
      const closed = new Promise<void>((resolve) => link.rpc.onDidClose(() => resolve()));
      const asked = assert.rejects(
        link.until((inner) => link.rpc.request('x', {}, { signal: inner }), signal),
        { code: 'connection-closed' },
      );
      await closed;
      // The caller knows of it, and waits for the reason.
      await new Promise(setImmediate);
      if (end === 'close') await link.close();
      else link.dispose();
      await asked;
    });
  }
});
