// Incoming requests, and the order of everything that an agent sends.
import assert from 'node:assert/strict';
import { RPC_CODES, RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import { closeWires, response, update, wire } from './rpcWire';

describe('RpcConnection', () => {
  afterEach(closeWires);

  describe('in wire order', () => {
    it('delivers updates, responses, requests and notifications, many in one chunk', async () => {
      const { transport, connection, seen, count } = wire({ onRequest: async () => null });
      const answer = connection.request('session/new', {}).then((result) => seen.push({ result }));
      const { id } = await transport.next();
      transport.sayJson(
        update(1),
        update(2),
        response(id, 'new'),
        update(3),
        { jsonrpc: '2.0', id: 5, method: 'fs/read_text_file', params: { path: '/a' } },
        update(4),
        { jsonrpc: '2.0', method: '_x', params: [1, 2] },
        update(5),
      );
      await answer;
      await count(8);
      assert.deepEqual(seen, [
        { update: { n: 1 } },
        { update: { n: 2 } },
        { result: 'new' },
        { update: { n: 3 } },
        { request: 'fs/read_text_file', params: { path: '/a' } },
        { update: { n: 4 } },
        { notification: '_x', params: [1, 2] },
        { update: { n: 5 } },
      ]);
    });

    it('delivers a flood of updates in few batches, each update once', async () => {
      const batches: number[] = [];
      const { transport, seen, count } = wire({ onUpdates: (batch) => batches.push(batch.length) });
      const all = Array.from({ length: 5000 }, (_, n) => update(n));
      transport.sayJson(...all.slice(0, 2500));
      transport.sayJson(...all.slice(2500));
      await count(5000);
      assert.deepEqual(
        seen,
        all.map(({ params }) => ({ update: params })),
      );
      assert.ok(batches.length <= 2, `${batches.length} batches`);
    });

    it('delivers updates and notifications in the event loop turn in which their bytes arrive', () => {
      const { transport, seen } = wire();
      transport.sayJson(update(1), update(2), { jsonrpc: '2.0', method: '_x', params: {} });
      assert.deepEqual(seen, [{ update: { n: 1 } }, { update: { n: 2 } }, { notification: '_x', params: {} }]);
    });

    it('runs code that awaits a response before a later update', async () => {
      const { transport, connection, seen, count } = wire();
      const answer = (async () => {
        const result = await connection.request('session/new', {});
        // An adapter takes some more steps to handle a response.
        for (let step = 0; step < 20; step++) await Promise.resolve();
        seen.push({ result });
      })();
      const { id } = await transport.next();
      transport.sayJson(response(id, 'new'), update(1));
      await Promise.all([answer, count(2)]);
      assert.deepEqual(seen, [{ result: 'new' }, { update: { n: 1 } }]);
    });

    it('answers two pending requests with the same id', async () => {
      const { transport, seen } = wire({ onRequest: async (method) => method });
      transport.sayJson(
        { jsonrpc: '2.0', id: 1, method: 'a' },
        { jsonrpc: '2.0', id: '1', method: 'b' },
        { jsonrpc: '2.0', id: 1, method: 'c' },
      );
      const answers = [await transport.next(), await transport.next(), await transport.next()];
      assert.deepEqual(
        answers.map((answer) => [answer.id, answer.result]),
        [
          [1, 'a'],
          ['1', 'b'],
          [1, 'c'],
        ],
      );
      assert.equal(seen.length, 3);
    });

    it('delivers everything before it reports the end', async () => {
      const { transport, connection, seen, count } = wire();
      const answer = connection.request('m', {});
      const { id } = await transport.next();
      transport.say(
        `${JSON.stringify(update(1))}\n${JSON.stringify(response(id, 'last'))}\n${JSON.stringify(update(2))}`,
      );
      transport.end();
      assert.equal(await answer, 'last');
      await count(3);
      assert.deepEqual(seen, [{ update: { n: 1 } }, { update: { n: 2 } }, { closed: undefined }]);
    });
  });

  describe('incoming requests', () => {
    it('are answered with the result, with null without one, or with the thrown error', async () => {
      const results: Record<string, () => unknown> = {
        value: () => ({ content: 'x' }),
        nothing: () => undefined,
        rpc: () => {
          throw new RpcError(RPC_CODES.resourceNotFound, 'gone', { sessionId: 's' });
        },
        plain: () => {
          throw new ParleyError('file-unreadable', 'The file cannot be read.');
        },
        odd: () => {
          throw 'just text';
        },
        circular: () => {
          const value: Record<string, unknown> = {};
          value.self = value;
          return value;
        },
      };
      const { transport } = wire({ onRequest: async (method) => results[method]?.() });
      const ask = async (method: string) => {
        transport.sayJson({ jsonrpc: '2.0', id: method, method });
        const { jsonrpc, id, ...rest } = await transport.next();
        assert.deepEqual([jsonrpc, id], ['2.0', method]);
        return rest;
      };
      assert.deepEqual(await ask('value'), { result: { content: 'x' } });
      assert.deepEqual(await ask('nothing'), { result: null });
      assert.deepEqual(await ask('rpc'), { error: { code: -32002, message: 'gone', data: { sessionId: 's' } } });
      assert.deepEqual(await ask('plain'), { error: { code: -32603, message: 'The file cannot be read.' } });
      assert.deepEqual(await ask('odd'), { error: { code: -32603, message: 'just text' } });
      const circular = (await ask('circular')).error as { code: number; message: string };
      assert.equal(circular.code, RPC_CODES.internal);
      assert.match(circular.message, /circular/i);
    });

    it('get their params unchanged: object, list, null or none', async () => {
      const { transport, seen, count } = wire({ onRequest: async () => null });
      for (const params of [{ a: 1 }, [1, 2], null]) transport.sayJson({ jsonrpc: '2.0', id: 1, method: 'm', params });
      transport.sayJson({ jsonrpc: '2.0', id: 1, method: 'm' });
      for (const params of [{ a: 1 }, [1, 2], null]) transport.sayJson({ jsonrpc: '2.0', method: 'n', params });
      await count(7);
      assert.deepEqual(
        seen.map((entry) => (entry as { params: unknown }).params),
        [{ a: 1 }, [1, 2], null, undefined, { a: 1 }, [1, 2], null],
      );
    });

    for (const [spelling, params] of [
      ['$/cancel_request', { requestId: 4 }],
      ['$/cancelRequest', { id: 4 }],
    ] as const) {
      it(`are aborted by ${spelling}, even in the same chunk`, async () => {
        const { transport } = wire({
          onRequest: (_method, _params, signal) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve({ outcome: 'cancelled' }))),
        });
        transport.sayJson(
          { jsonrpc: '2.0', id: 4, method: 'session/request_permission', params: {} },
          { jsonrpc: '2.0', method: spelling, params },
        );
        assert.deepEqual(await transport.next(), { jsonrpc: '2.0', id: 4, result: { outcome: 'cancelled' } });
      });
    }

    it('answer -32800 if their handler rejects because of the cancellation', async () => {
      const { transport } = wire({
        onRequest: (_method, _params, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      });
      transport.sayJson(
        { jsonrpc: '2.0', id: 4, method: 'm' },
        { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 4 } },
      );
      assert.equal(((await transport.next()).error as { code: number }).code, RPC_CODES.cancelled);
    });

    it('are aborted when the connection ends, so that a permission dialog closes', async () => {
      const aborted = new Deferred<void>();
      const { transport, count } = wire({
        onRequest: (_method, _params, signal) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve(aborted.resolve()))),
      });
      transport.sayJson({ jsonrpc: '2.0', id: 4, method: 'm' });
      await count(1);
      transport.end();
      await aborted.promise;
      await count(2);
      assert.equal(transport.sent.length, 0);
    });

    it('are rejected without a usable id, never left pending', async () => {
      const { transport, seen } = wire();
      for (const id of [null, true, {}]) {
        transport.sayJson({ jsonrpc: '2.0', id, method: 'fs/read_text_file', params: {} });
        const { error, ...rest } = await transport.next();
        assert.deepEqual(rest, { jsonrpc: '2.0', id: null });
        assert.equal((error as { code: number }).code, RPC_CODES.invalidRequest);
      }
      assert.deepEqual(seen, []);
    });
  });
});
