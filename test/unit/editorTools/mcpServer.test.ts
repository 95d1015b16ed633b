// The MCP server of the editor tools, with the SDK's own client.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as tick } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { build } from 'esbuild';
import { silentLog } from '../../../src/base/log';
import { acpServer } from '../../../src/editorTools/acpServer';
import { serveSocket } from '../../../src/editorTools/socketServer';
import type { ToolCaller } from '../../../src/editorTools/toolCaller';
import { ToolSocket } from '../../../src/editorTools/toolSocket';
import { listTools, readArgs, TOOL_NAMES } from '../../../src/editorTools/tools';

describe('editorTools/mcpServer', () => {
  const calls: unknown[] = [];
  const caller: ToolCaller = {
    version: '1.2.3',
    tools: () => ['get_diagnostics', 'hover'],
    call: async (name, args, signal) => {
      calls.push([name, args]);
      if (name === 'hover')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return { summary: '2 errors', lines: ['a', 'b'] };
    },
    others: {
      list: () => [
        {
          name: 'other_tool',
          description: 'Of another extension',
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
        },
      ],
      call: async (name, args) => {
        calls.push([name, args]);
        return { summary: 'many', lines: Array.from({ length: 1000 }, () => 'x') };
      },
    },
  };

  beforeEach(() => {
    calls.length = 0;
  });

  describe('over the program that agents start', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'));
    const program = join(folder, 'editorTools.js');
    let socket: ToolSocket;
    let client: Client;

    before(() =>
      build({
        entryPoints: ['src/editorTools/relay.ts'],
        outfile: program,
        bundle: true,
        platform: 'node',
        format: 'cjs',
      }),
    );

    after(() => rmSync(folder, { recursive: true, force: true }));

    beforeEach(async () => {
      socket = new ToolSocket(silentLog);
      const { path, token } = await socket.open((connection) => serveSocket(caller, connection));
      client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [program, path],
          env: { PARLEY_EDITOR_TOOLS: token },
        }),
      );
    });

    afterEach(async () => {
      await client.close();
      socket.dispose();
    });

    it('lists the allowed tools', async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
        [
          ['get_diagnostics', true],
          ['hover', true],
          ['other_tool', false],
        ],
      );
    });

    it('calls tools of other extensions that are listed, and bounds their answers', async () => {
      const { content } = await client.callTool({ name: 'other_tool', arguments: { path: 7 } });
      const [{ text = '' } = {}] = content as { text?: string }[];
      assert.deepEqual(calls, [['other_tool', { path: 7 }]]);
      assert.equal(text.split('\n').length, 202);
      assert.match(text, /… 800 more are left out$/);
    });

    it('answers calls', async () => {
      const { content } = await client.callTool({ name: 'get_diagnostics', arguments: { path: 'a.ts', offset: 1 } });
      assert.deepEqual(content, [{ type: 'text', text: '2 errors\nb' }]);
      assert.deepEqual(calls, [['get_diagnostics', { path: 'a.ts', offset: 1 }]]);
    });

    it('rejects forbidden tools and invalid arguments', async () => {
      for (const [name, args] of [
        ['rename_symbol', { symbol: 'a', new_name: 'b' }],
        ['toString', {}],
        ['unlisted_tool', {}],
        ['get_diagnostics', { path: 7 }],
        ['get_diagnostics', { path: 'x'.repeat(100_000) }],
        ['get_diagnostics', { severity: 'bad' }],
      ] as const) {
        const { isError } = await client.callTool({ name, arguments: args });
        assert.equal(isError, true, `${name} ${JSON.stringify(args).slice(0, 80)}`);
      }
      assert.deepEqual(calls, []);
    });

    it('ends the connection on an endless message', async () => {
      const { path, token } = await socket.open((connection) => serveSocket(caller, connection));
      const raw = connect(path);
      raw.on('error', () => undefined);
      raw.write(`${token}\n${'x'.repeat(1_000_000)}`);
      await new Promise((resolve) => raw.once('close', resolve));
    });
  });

  describe('with messages that SDK clients do not send', () => {
    let socket: ToolSocket;
    let raw: Socket;
    let answers: AsyncIterator<string>;

    beforeEach(async () => {
      socket = new ToolSocket(silentLog);
      const { path, token } = await socket.open((connection) => serveSocket(caller, connection));
      raw = connect(path);
      raw.on('error', () => undefined);
      raw.write(`${token}\n`);
      answers = createInterface(raw)[Symbol.asyncIterator]();
    });
    afterEach(() => {
      raw.destroy();
      socket.dispose();
    });

    function send(...messages: unknown[]): void {
      for (const one of messages) raw.write(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`);
    }
    async function answer(): Promise<Record<string, unknown>> {
      return JSON.parse((await answers.next()).value) as Record<string, unknown>;
    }
    const call = (id: unknown, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { symbol: 'a' } },
    });

    it('skips invalid messages', async () => {
      send('', '{', '[]', 'null', '7', { id: 1 }, { jsonrpc: '2.0', id: {}, method: 'ping' });
      for (const params of [null, [], 'x']) send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
      send({ jsonrpc: '2.0', method: 'notifications/cancelled' });
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'none' } });
      send({ jsonrpc: '2.0', id: 'a', result: {} });
      send({ jsonrpc: '2.0', id: 2, method: 'ping' });
      assert.deepEqual(await answer(), { jsonrpc: '2.0', id: 2, result: {} });
    });

    it('answers invalid params with an error', async () => {
      for (const params of [undefined, {}, { name: 7 }, { name: 'hover', arguments: [] }]) {
        send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
        assert.ok('error' in (await answer()), JSON.stringify(params));
      }
      send({ jsonrpc: '2.0', id: 1, method: '__proto__' });
      assert.equal(((await answer()).error as { code: number }).code, -32_601);
    });

    it('offers its latest version to a client with an unknown version', async () => {
      const params = { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
      send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
      assert.equal(((await answer()).result as { protocolVersion: string }).protocolVersion, '2025-11-25');
    });

    it('does not answer cancelled requests', async () => {
      send(call(1, 'hover'));
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
      send(call(2, 'get_diagnostics'));
      assert.equal((await answer()).id, 2);
    });
  });

  it('buffers few answers for a client that does not read', async () => {
    const socket = new ToolSocket(silentLog);
    let served: Socket | undefined;
    const { path, token } = await socket.open((connection) => {
      served = connection;
      return serveSocket(caller, connection);
    });
    const raw = connect(path);
    raw.on('error', () => undefined);
    const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`;
    raw.write(`${token}\n`);
    const requests = request.repeat(1000);
    let written = 0;
    while (written < 20_000_000 && raw.writableLength < 300_000) {
      raw.write(requests);
      written += requests.length;
      await tick();
    }
    assert.ok(written < 20_000_000, 'it takes all that is sent');
    assert.ok((served?.writableLength ?? 0) < 4_000_000, String(served?.writableLength));
    const count = written / request.length;
    let answers = 0;
    for await (const chunk of raw) {
      answers += String(chunk).split('\n').length - 1;
      if (answers === count) break;
    }
    socket.dispose();
  });

  describe('over ACP', () => {
    it('answers each request with its own result', async () => {
      const request = await acpServer(caller);
      const { signal } = new AbortController();
      const outcomes = await Promise.all([
        request('tools/list', undefined, signal),
        request('tools/call', { name: 'get_diagnostics', arguments: {} }, signal),
        request('no/such', undefined, signal),
        request('tools/list', { _meta: 7 }, signal),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => Object.keys(outcome)),
        [['result'], ['result'], ['error'], ['error']],
      );
    });

    it('aborts a call that the agent cancels', async () => {
      const started = Promise.withResolvers<AbortSignal>();
      const call = (_name: string, _args: unknown, signal: AbortSignal) => {
        started.resolve(signal);
        return new Promise<never>(() => undefined);
      };
      const request = await acpServer({ ...caller, call });
      const abort = new AbortController();
      const outcome = request('tools/call', { name: 'hover', arguments: { symbol: 'a' } }, abort.signal);
      const signal = await started.promise;
      abort.abort();
      assert.ok('error' in (await outcome));
      if (!signal.aborted) await once(signal, 'abort');
    });
  });

  it('costs a model at most 2,000 tokens', () => {
    const text = JSON.stringify(listTools(TOOL_NAMES));
    // JSON has four characters per token on average.
    assert.ok(text.length <= 8000, `${text.length} characters`);
  });

  it('accepts a call without arguments', () => {
    assert.deepEqual(readArgs('get_selection', undefined), {});
  });
});
