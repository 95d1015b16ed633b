// What the build leaves out of packages is not missed: what remains of them works.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { RpcConnection } from '../../../src/acp/jsonrpc/rpcConnection';
import type { TransportSink } from '../../../src/acp/jsonrpc/transport';
import type { WebSocketTransport } from '../../../src/acp/transport/webSocketTransport';
import { silentLog } from '../../../src/base/log';
import type { unpackTar } from '../../../src/registry/unpack/unpackTar';
import type { UnpackTarget } from '../../../src/registry/unpack/unpackTarget';
import { tgzOf } from '../../support/archives';
import { closeLoopbacks, tcpLoopback } from '../../support/servers/loopback';

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

  it('unpack archives, and stop at one that is cut off', async () => {
    const module = await shipped<{ readonly unpackTar: typeof unpackTar }>('src/registry/unpack/unpackTar.ts');
    const large = Buffer.alloc(300_000, 'large ');
    const whole = await tgzOf([
      { name: 'agent', type: 'directory' },
      { name: 'agent/bin', mode: 0o755, text: large },
      { name: 'agent/empty', text: '' },
    ]);
    const seen: [string, number][] = [];
    const target = {
      file: async (name: string, _isProgram: boolean, content: AsyncIterable<Buffer>) => {
        let bytes = 0;
        for await (const chunk of content) bytes += chunk.length;
        seen.push([name, bytes]);
      },
      folder: async (name: string) => void seen.push([name, 0]),
    } as unknown as UnpackTarget;
    const archive = join(folder, 'agent.tgz');
    const { signal } = new AbortController();
    await writeFile(archive, whole);
    await module.unpackTar(archive, 'gzip', target, signal);
    assert.deepEqual(seen, [
      ['agent', 0],
      ['agent/bin', large.length],
      ['agent/empty', 0],
    ]);
    await writeFile(archive, (await readFile(archive)).subarray(0, 200));
    await assert.rejects(module.unpackTar(archive, 'gzip', target, signal));
  });

  it('refuse a server that turns on an extension of WebSocket', async () => {
    const entry = 'src/acp/transport/webSocketTransport.ts';
    const module = await shipped<{ readonly WebSocketTransport: typeof WebSocketTransport }>(entry);
    const { host } = await tcpLoopback((socket) =>
      socket.once('data', (head) => {
        const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? '';
        const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
        lines.push(`Sec-WebSocket-Accept: ${accepted}`, 'Sec-WebSocket-Extensions: permessage-deflate', '', '');
        socket.write(lines.join('\r\n'));
      }),
    );
    const url = new URL(`ws://${host}/`);
    const connecting = module.WebSocketTransport.connect(
      { url, headers: {}, log: silentLog },
      new AbortController().signal,
    );
    await assert.rejects(connecting, /isn't a WebSocket server/);
    await closeLoopbacks();
  });
});
