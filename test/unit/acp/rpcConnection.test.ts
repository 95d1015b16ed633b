// The wire against an agent in memory: what arrives, in which order, what is answered, and how it ends.
import assert from 'node:assert/strict';
import { RpcConnection, type RpcConnectionOptions, type RpcHandlers } from '../../../src/acp/rpcConnection';
import { RpcError, rpcCodes } from '../../../src/acp/rpcError';
import { Deferred } from '../../../src/base/deferred';
import { ParleyError } from '../../../src/base/errors';
import { type Log, silentLog } from '../../../src/base/log';
import { MemoryTransport } from '../../support/memoryTransport';

interface Wire {
  readonly transport: MemoryTransport;
  readonly connection: RpcConnection;
  /** Everything that happened, in order. */
  readonly seen: unknown[];
  readonly logged: string[];
  /** Resolves when `seen` holds that many entries. */
  count(entries: number): Promise<void>;
}

const open: RpcConnection[] = [];

function wire(handlers: Partial<RpcHandlers> = {}, options: Partial<RpcConnectionOptions> = {}): Wire {
  const transport = new MemoryTransport();
  const seen: unknown[] = [];
  const logged: string[] = [];
  const waiting: { entries: number; done: Deferred<void> }[] = [];
  const note = (entry: unknown): void => {
    seen.push(entry);
    for (const wait of waiting) if (seen.length >= wait.entries) wait.done.resolve();
  };
  const keep = (message: string): void => void logged.push(message);
  const log: Log = { ...silentLog, debug: keep, info: keep, warn: keep, error: keep };
  const connection = new RpcConnection({
    transport,
    log,
    handlers: {
      onUpdates: (batch) => {
        handlers.onUpdates?.(batch);
        for (const params of batch) note({ update: params });
      },
      onRequest: async (method, params, signal) => {
        note({ request: method, params });
        if (handlers.onRequest) return handlers.onRequest(method, params, signal);
        throw new RpcError(rpcCodes.methodNotFound, `No method ${method}`);
      },
      onNotification: (method, params) => {
        note({ notification: method, params });
        handlers.onNotification?.(method, params);
      },
    },
    ...options,
  });
  connection.onDidClose((error) => note({ closed: error?.code }));
  open.push(connection);
  const count = async (entries: number): Promise<void> => {
    const done = new Deferred<void>();
    waiting.push({ entries, done });
    if (seen.length >= entries) done.resolve();
    await done.promise;
  };
  return { transport, connection, seen, logged, count };
}

const update = (n: unknown) => ({ jsonrpc: '2.0', method: 'session/update', params: { n } });
const response = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result });

describe('RpcConnection', () => {
  afterEach(() => {
    for (const connection of open.splice(0)) connection.dispose();
  });

  describe('requests of ours', () => {
    it('get their result, and their id is known before the answer can come', async () => {
      const { transport, connection } = wire();
      let id: unknown;
      const answer = connection.request('session/prompt', { a: 1 }, { onSent: (sent) => (id = sent) });
      assert.notEqual(id, undefined);
      const sent = await transport.next();
      assert.deepEqual(sent, { jsonrpc: '2.0', id, method: 'session/prompt', params: { a: 1 } });
      transport.sayJson(response(id, { stopReason: 'end_turn' }));
      assert.deepEqual(await answer, { stopReason: 'end_turn' });
    });

    it('keep their ids apart when many leave at once', async () => {
      const { transport, connection } = wire();
      const ids: unknown[] = [];
      const answers = [1, 2, 3].map((n) => connection.request('m', { n }, { onSent: (id) => ids.push(id) }));
      assert.equal(new Set(ids).size, 3);
      for (const id of [...ids].reverse()) transport.sayJson(response(id, { id }));
      assert.deepEqual(
        await Promise.all(answers),
        ids.map((id) => ({ id })),
      );
    });

    it('reject with the code, message and data of an error answer', async () => {
      const { transport, connection } = wire();
      const answer = connection.request('session/new', {});
      const { id } = await transport.next();
      transport.sayJson({ jsonrpc: '2.0', id, error: { code: -32000, message: 'Sign in', data: { why: 1 } } });
      await assert.rejects(answer, (error) => {
        assert.ok(error instanceof RpcError);
        assert.deepEqual([error.code, error.message, error.data], [rpcCodes.authRequired, 'Sign in', { why: 1 }]);
        return true;
      });
    });

    for (const [shape, given, code, message] of [
      ['a string', { error: 'broken' }, rpcCodes.internal, 'broken'],
      ['an HTTP number', { error: { code: 401, message: 'no' } }, 401, 'no'],
      ['no code', { error: { message: 'no' } }, rpcCodes.internal, 'no'],
      ['nothing at all', {}, rpcCodes.internal, 'The answer of the agent has neither a result nor an error'],
    ] as const) {
      it(`end when the error answer has an odd shape: ${shape}`, async () => {
        const { transport, connection } = wire();
        const answer = connection.request('m', {});
        const { id } = await transport.next();
        transport.sayJson({ jsonrpc: '2.0', id, ...given });
        await assert.rejects(answer, { name: 'RpcError', code, message });
      });
    }

    it('accept an answer whose id came back as a string, or whose result is null', async () => {
      const { transport, connection } = wire();
      const first = connection.request('m', {});
      transport.sayJson(response(String((await transport.next()).id), 'yes'));
      assert.equal(await first, 'yes');
      const second = connection.request('m', {});
      transport.sayJson({ ...response((await transport.next()).id, null), error: null });
      assert.equal(await second, null);
    });

    it('are left alone by answers that nobody waits for', async () => {
      const { transport, connection, logged, count } = wire();
      transport.sayJson(response(77, 1), response('x', 1), {
        jsonrpc: '2.0',
        id: null,
        error: { code: 1, message: 'm' },
      });
      transport.sayJson(update(1));
      await count(1);
      assert.equal(connection.isClosed, false);
      assert.equal(logged.filter((line) => line.includes('nobody waits for')).length, 2);
      assert.equal(logged.filter((line) => line.includes('belongs to nothing')).length, 1);
    });

    it('say $/cancel_request when aborted, once, and still wait for the answer', async () => {
      const { transport, connection } = wire();
      const controller = new AbortController();
      const answer = connection.request('session/prompt', {}, { signal: controller.signal });
      const { id } = await transport.next();
      controller.abort();
      assert.deepEqual(await transport.next(), {
        jsonrpc: '2.0',
        method: '$/cancel_request',
        params: { requestId: id },
      });
      transport.sayJson(response(id, { stopReason: 'cancelled' }));
      assert.deepEqual(await answer, { stopReason: 'cancelled' });
      assert.equal(transport.sent.length, 2);
    });

    it('are not sent when aborted before, and say nothing when aborted after their answer', async () => {
      const { transport, connection } = wire();
      await assert.rejects(connection.request('m', {}, { signal: AbortSignal.abort() }), { code: rpcCodes.cancelled });
      const controller = new AbortController();
      const answer = connection.request('m', {}, { signal: controller.signal });
      transport.sayJson(response((await transport.next()).id, 1));
      await answer;
      controller.abort();
      await connection.notify('end', {});
      assert.deepEqual(
        transport.sent.map((line) => (JSON.parse(line) as { method: string }).method),
        ['m', 'end'],
      );
    });

    it('that are larger than the limit are refused here, and the connection lives on', async () => {
      const { transport, connection } = wire({}, { maxMessageBytes: 1000 });
      await assert.rejects(connection.request('m', { text: 'é'.repeat(500) }), { code: 'message-too-large' });
      await assert.rejects(connection.notify('m', { text: 'x'.repeat(1000) }), { code: 'message-too-large' });
      const answer = connection.request('m', {});
      transport.sayJson(response((await transport.next()).id, 1));
      assert.equal(await answer, 1);
      assert.equal(connection.stats.oversize, 2);
    });

    it('that JSON cannot hold reject with the reason', async () => {
      const { connection } = wire();
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      await assert.rejects(connection.request('m', circular), /circular/i);
    });
  });

  describe('order', () => {
    it('updates, answers, requests and notifications come in the order of the wire, many in one chunk', async () => {
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

    it('a flood of updates arrives in few batches, each once', async () => {
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

    it('two waiting requests with one id are both answered', async () => {
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

    it('everything that came before the end is delivered before the end is told', async () => {
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

  describe('requests of the agent', () => {
    it('are answered with the result, with null for none, and with the error that was thrown', async () => {
      const results: Record<string, () => unknown> = {
        value: () => ({ content: 'x' }),
        nothing: () => undefined,
        rpc: () => {
          throw new RpcError(rpcCodes.resourceNotFound, 'gone', { sessionId: 's' });
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
      assert.equal(circular.code, rpcCodes.internal);
      assert.match(circular.message, /circular/i);
    });

    it('get their params as they are: object, list, null or none', async () => {
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
      it(`are aborted by ${spelling}, also when it comes in the same chunk`, async () => {
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

    it('answer -32800 when their handler gives up because of the cancel', async () => {
      const { transport } = wire({
        onRequest: (_method, _params, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      });
      transport.sayJson(
        { jsonrpc: '2.0', id: 4, method: 'm' },
        { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 4 } },
      );
      assert.equal(((await transport.next()).error as { code: number }).code, rpcCodes.cancelled);
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

    it('without a usable id are refused, never left hanging', async () => {
      const { transport, seen } = wire();
      for (const id of [null, true, {}]) {
        transport.sayJson({ jsonrpc: '2.0', id, method: 'fs/read_text_file', params: {} });
        const { error, ...rest } = await transport.next();
        assert.deepEqual(rest, { jsonrpc: '2.0', id: null });
        assert.equal((error as { code: number }).code, rpcCodes.invalidRequest);
      }
      assert.deepEqual(seen, []);
    });
  });

  describe('bad input', () => {
    it('cancels for unknown requests, without params or with odd ids harm nothing', async () => {
      const { transport, seen, count } = wire();
      for (const method of ['$/cancel_request', '$/cancelRequest'])
        for (const params of [undefined, null, {}, [1], { requestId: null }, { requestId: 99 }, { id: {} }, { id: 99 }])
          transport.sayJson({ jsonrpc: '2.0', method, params });
      transport.sayJson(update(1));
      await count(1);
      assert.deepEqual(seen, [{ update: { n: 1 } }]);
    });

    it('other LSP notifications are ordinary notifications', async () => {
      const { transport, seen, count } = wire();
      for (const method of ['$/progress', '$/logTrace', '$/setTrace', 'parley/inbound', '__proto__', ''])
        transport.sayJson({ jsonrpc: '2.0', method, params: { kind: 'updates', batch: [1] } });
      await count(6);
      assert.deepEqual(
        seen.map((entry) => (entry as { notification: string }).notification),
        ['$/progress', '$/logTrace', '$/setTrace', 'parley/inbound', '__proto__', ''],
      );
    });

    it('lines that are no messages are counted, shown and never answered', async () => {
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

    it('a million lines of noise do not flood the log', async () => {
      const { transport, connection, logged, count } = wire();
      transport.say('garbage\n'.repeat(10_000));
      transport.sayJson(update(1));
      await count(1);
      assert.equal(connection.stats.notJson, 10_000);
      assert.ok(logged.length < 70, `${logged.length} log lines`);
    });

    it('a batch is refused with one answer and nothing of it is applied', async () => {
      const { transport, connection, seen, count } = wire();
      transport.sayJson([update(1), { jsonrpc: '2.0', id: 1, method: 'm' }], []);
      const first = await transport.next();
      assert.equal(first.id, null);
      assert.equal((first.error as { code: number }).code, rpcCodes.invalidRequest);
      await transport.next();
      transport.sayJson(update(2));
      await count(1);
      assert.deepEqual(seen, [{ update: { n: 2 } }]);
      assert.equal(connection.stats.batchesRefused, 2);
    });

    it('handlers that throw do not stop what follows', async () => {
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

    it('a traffic view that throws does not stop the conversation', async () => {
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

    it('a message past the limit ends the connection with its size, after what came before it', async () => {
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

  describe('the end', () => {
    it('rejects what is pending and what comes after, and says so once', async () => {
      const { transport, connection, seen, count } = wire();
      const answers = [connection.request('a', {}), connection.request('b', {})];
      const rejected = answers.map((answer) => assert.rejects(answer, { code: 'connection-closed' }));
      transport.end();
      transport.end();
      await Promise.all(rejected);
      await count(1);
      assert.equal(connection.isClosed, true);
      await assert.rejects(connection.request('c', {}), { code: 'connection-closed' });
      await assert.rejects(connection.notify('c', {}), { code: 'connection-closed' });
      assert.deepEqual(seen, [{ closed: undefined }]);
    });

    it('names the reason when the stream broke', async () => {
      const { transport, seen, count, connection } = wire();
      const answer = assert.rejects(connection.request('a', {}), { code: 'connection-closed', message: /ECONNRESET/ });
      transport.end(new Error('read ECONNRESET'));
      await answer;
      await count(1);
      assert.deepEqual(seen, [{ closed: 'connection-closed' }]);
    });

    it('by dispose rejects what is pending and fires no event', async () => {
      const { transport, connection, seen } = wire();
      const answer = assert.rejects(connection.request('a', {}), { code: 'connection-closed' });
      connection.dispose();
      connection.dispose();
      await answer;
      transport.end();
      transport.sayJson(update(1));
      assert.deepEqual(seen, []);
      assert.equal(transport.isDisposed, true);
    });
  });

  it('the traffic view sees both directions as they were on the wire, and the counters agree', async () => {
    const lines: string[] = [];
    const { transport, connection, count } = wire({}, { onTraffic: (dir, line) => lines.push(`${dir} ${line}`) });
    const sentence = 'line\u2028separator\u2029and é';
    await connection.notify('n', { sentence });
    const out = transport.sent[0] ?? '';
    assert.doesNotMatch(out, /[\u2028\u2029]/);
    assert.deepEqual((JSON.parse(out) as { params: unknown }).params, { sentence });
    transport.say('{"method":"session/update","params":{"n":1}}\n');
    await count(1);
    assert.deepEqual(lines, [`out ${out}`, 'in {"method":"session/update","params":{"n":1}}']);
    assert.deepEqual(connection.stats, {
      messagesIn: 1,
      messagesOut: 1,
      bytesIn: 45,
      notJson: 0,
      batchesRefused: 0,
      oversize: 0,
    });
  });
});

/** Waits until the connection has handled all that it was told. */
async function wireTurn(transport: MemoryTransport): Promise<void> {
  transport.sayJson({ jsonrpc: '2.0', id: 'turn', method: 'turn' });
  await transport.next();
}
