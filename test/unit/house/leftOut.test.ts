// What the build leaves out of packages is not missed: what remains of them works.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { RpcConnection } from '../../../src/acp/jsonrpc/rpcConnection';
import type { TransportSink } from '../../../src/acp/jsonrpc/transport';
import { silentLog } from '../../../src/base/log';

describe('packages without what Parley never uses', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-left-out-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Bundles a file of the product as it ships, and loads it. */
  async function shipped<T>(entry: string): Promise<T> {
    const script = pathToFileURL(join(process.cwd(), 'scripts/lib/leftOut.mjs')).href;
    const { leftOut } = (await import(script)) as { readonly leftOut: Plugin };
    const outfile = join(folder, 'bundle.cjs');
    const mainFields = ['module', 'main'];
    const options = { bundle: true, minify: true, platform: 'node', format: 'cjs', mainFields } as const;
    await build({ ...options, entryPoints: [entry], outfile, plugins: [leftOut], logLevel: 'error' });
    return (await import(pathToFileURL(outfile).href)) as T;
  }

  it('exchange messages with an agent', async () => {
    const module = await shipped<{ readonly RpcConnection: typeof RpcConnection }>('src/acp/jsonrpc/rpcConnection.ts');
    let sink: TransportSink | undefined;
    const written: string[] = [];
    const asked: string[] = [];
    const connection = new module.RpcConnection({
      transport: {
        listen: (given: TransportSink) => {
          sink = given;
        },
        write: async (line: string) => {
          written.push(line);
        },
        dispose() {},
      } as never,
      handlers: {
        onUpdates() {},
        onNotification() {},
        onRequest: async (method) => {
          asked.push(method);
          return { answer: true };
        },
      },
      log: silentLog,
    });
    const say = (message: object): void => sink?.data(Buffer.from(`${JSON.stringify(message)}\n`));
    const answer = connection.request('initialize', { a: 1 });
    while (written.length < 1) await new Promise(setImmediate);
    assert.deepEqual(JSON.parse(written[0] ?? ''), { jsonrpc: '2.0', id: 0, method: 'initialize', params: { a: 1 } });
    say({ jsonrpc: '2.0', id: 0, result: { ok: 1 } });
    assert.deepEqual(await answer, { ok: 1 });
    say({ jsonrpc: '2.0', id: 'x', method: 'fs/read', params: {} });
    while (written.length < 2) await new Promise(setImmediate);
    assert.deepEqual(
      [JSON.parse(written[1] ?? ''), asked],
      [{ jsonrpc: '2.0', id: 'x', result: { answer: true } }, ['fs/read']],
    );
    connection.dispose();
  });
});
