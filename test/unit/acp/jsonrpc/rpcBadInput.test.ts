// Invalid input on a connection is bounded, and nothing hangs.
import assert from 'node:assert/strict';
import { RPC_CODES } from '../../../../src/acp/jsonrpc/rpcError';
import type { MemoryTransport } from '../../../support/memoryTransport';
import { closeWires, update, wire } from './rpcWire';

describe('RpcConnection', () => {
  afterEach(closeWires);

  describe('given bad input', () => {
    it('ignores cancellations of unknown requests, without params or with malformed ids', async () => {
      const { transport, seen, count } = wire();
      for (const method of ['$/cancel_request', '$/cancelRequest'])
        for (const params of [undefined, null, {}, [1], { requestId: null }, { requestId: 99 }, { id: {} }, { id: 99 }])
          transport.sayJson({ jsonrpc: '2.0', method, params });
      transport.sayJson(update(1));
      await count(1);
      assert.deepEqual(seen, [{ update: { n: 1 } }]);
    });

    it('treats other LSP notifications as ordinary ones', async () => {
      const { transport, seen, count } = wire();
      for (const method of ['$/progress', '$/logTrace', '$/setTrace', 'parley/inbound', '__proto__', ''])
        transport.sayJson({ jsonrpc: '2.0', method, params: { kind: 'updates', batch: [1] } });
      await count(6);
      assert.deepEqual(
        seen.map((entry) => (entry as { notification: string }).notification),
        ['$/progress', '$/logTrace', '$/setTrace', 'parley/inbound', '__proto__', ''],
      );
    });

    it('counts and reports lines that are not messages, and never answers them', async () => {
      const noise: string[] = [];
      const { transport, connection, seen, count, logged } = wire({}, { onNoise: (line) => noise.push(line) });
      transport.say('npm warn deprecated\r\n42\n"text"\nnull\n{"jsonrpc":"2.0",\n\n  \r\n');
      transport.say(`${'x'.repeat(10_000)}\n`);
      transport.sayJson(update(1));
      await count(1);
      assert.deepEqual(noise.slice(0, 5), ['npm warn deprecated', '42', '"text"', 'null', '{"jsonrpc":"2.0",']);
      assert.ok(noise[5] && noise[5].length <= 2049);
      assert.equal(noise.length, 6);
      assert.equal(connection.stats.notJson, 6);
      assert.equal(connection.stats.messagesIn, 1);
      assert.equal(transport.sent.length, 0);
      assert.equal(logged.length, 6);
      assert.equal(seen.length, 1);
    });

    it('does not parse lines nested deeper than any message', async () => {
      const { transport, connection, seen, count } = wire();
      const nested = (depth: number) =>
        `{"jsonrpc":"2.0","method":"x","params":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      transport.say(`${nested(600)}\n${nested(400)}\n`);
      transport.sayJson({ jsonrpc: '2.0', method: 'x', params: { text: `${'[{\\"'.repeat(600)}\\` } });
      await count(2);
      assert.equal(seen.length, 2);
      assert.equal(connection.stats.notJson, 1);
    });

    it('treats lines of a JSON log as noise, neither responses nor requests', async () => {
      const { transport, connection, seen, count } = wire({}, { firstId: 0 });
      const answer = connection.request('initialize', {});
      for (const entry of [
        { level: 'info', id: 0, msg: 'x' },
        { level: 'error', id: 0, error: 'x', time: 1 },
        { level: 'info', id: 0, result: 'ok', msg: 'x' },
        { id: 0 },
        { id: 0, params: {} },
        { level: 'info', id: 7, method: 'GET', url: '/' },
        { level: 'info', method: 'GET', url: '/' },
        ['info', 0, { msg: 'x' }],
      ])
        transport.sayJson(entry);
      transport.sayJson(update(1));
      await count(1);
      transport.sayJson({ jsonrpc: '2.0', id: 0, result: { protocolVersion: 1 } });
      assert.deepEqual(await answer, { protocolVersion: 1 });
      assert.deepEqual(seen, [{ update: { n: 1 } }]);
      assert.equal(connection.stats.notJson, 8);
      assert.equal(transport.sent.length, 1);
    });

    it('logs refused lines without the signed-in account', async () => {
      const { transport, seen, count, logged } = wire();
      const told = { method: '_auth/status_update', params: { authStatus: { kind: 'account', label: 'Max' } } };
      const result = { state: 'authenticated', accounts: [{ label: 'Max' }], more: 'x'.repeat(10_000) };
      transport.sayJson([told]);
      transport.sayJson({ jsonrpc: '2.0', id: null, result });
      transport.say(`sent ${JSON.stringify(told)}\n`);
      transport.sayJson(update(1));
      await count(1);
      assert.equal(seen.length, 1);
      assert.equal(logged.length, 3);
      assert.doesNotMatch(logged.join('\n'), /Max/);
    });

    it('does not flood the log with a million lines of noise', async () => {
      const { transport, connection, logged, count } = wire();
      transport.say('garbage\n'.repeat(10_000));
      transport.sayJson(update(1));
      await count(1);
      assert.equal(connection.stats.notJson, 10_000);
      assert.ok(logged.length < 70, `${logged.length} log lines`);
    });

    it('rejects a batch with one response and applies none of it', async () => {
      const { transport, connection, seen, count } = wire();
      transport.sayJson([update(1), { jsonrpc: '2.0', id: 1, method: 'm' }], []);
      const first = await transport.next();
      assert.equal(first.id, null);
      assert.equal((first.error as { code: number }).code, RPC_CODES.invalidRequest);
      await transport.next();
      transport.sayJson(update(2));
      await count(1);
      assert.deepEqual(seen, [{ update: { n: 2 } }]);
      assert.equal(connection.stats.batchesRefused, 2);
    });

    it('continues after a handler throws', async () => {
      let calls = 0;
      const { transport, count, logged } = wire({
        onUpdates: () => {
          if (calls++ === 0) throw new Error('bug in a reducer');
        },
        onNotification: () => {
          throw new Error('bug in a handler');
        },
      });
      transport.sayJson(update(1), { jsonrpc: '2.0', method: 'x' }, update(2));
      await count(2);
      assert.ok(logged.some((line) => line.includes('bug in a reducer')));
      await wireTurn(transport);
    });

    it('continues after a traffic listener throws', async () => {
      const fail = (): never => {
        throw new Error('bug in a view');
      };
      const { transport, seen, count } = wire({}, { onTraffic: fail, onNoise: fail });
      transport.say('noise\n');
      transport.sayJson(update(1));
      await count(1);
      assert.deepEqual(seen, [{ update: { n: 1 } }]);
      await wireTurn(transport);
    });

    it('closes at a message over the limit and reports its size, after earlier messages', async () => {
      const { transport, connection, seen, count } = wire({}, { maxMessageBytes: 1000 });
      const answer = connection.request('m', {});
      const failed = assert.rejects(answer, { code: 'message-too-large', message: /1000 bytes/ });
      await transport.next();
      transport.sayJson(update(1));
      transport.say('{"jsonrpc":"2.0","method":"session/update","params":"');
      transport.say('x'.repeat(600));
      transport.say('x'.repeat(600));
      transport.say('"}\n');
      transport.sayJson(update(2));
      await failed;
      await count(2);
      assert.deepEqual(seen, [{ update: { n: 1 } }, { closed: 'message-too-large' }]);
      assert.equal(connection.stats.oversize, 1);
      assert.equal(transport.isDisposed, true);
      await assert.rejects(connection.request('m', {}), { code: 'message-too-large' });
    });
  });
});

async function wireTurn(transport: MemoryTransport): Promise<void> {
  transport.sayJson({ jsonrpc: '2.0', id: 'turn', method: 'turn' });
  await transport.next();
}
