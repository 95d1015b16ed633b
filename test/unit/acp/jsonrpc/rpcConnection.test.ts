// Outgoing requests, and their outcome when the connection closes.
import assert from 'node:assert/strict';
import { RPC_CODES, RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { closeWires, response, update, wire } from './rpcWire';

describe('RpcConnection', () => {
  afterEach(closeWires);

  describe('outgoing requests', () => {
    it('get their result, and their id is known before the response can arrive', async () => {
      const { transport, connection } = wire();
      let id: unknown;
      const answer = connection.request('session/prompt', { a: 1 }, { onSent: (sent) => (id = sent) });
      assert.notEqual(id, undefined);
      const sent = await transport.next();
      assert.deepEqual(sent, { jsonrpc: '2.0', id, method: 'session/prompt', params: { a: 1 } });
      transport.sayJson(response(id, { stopReason: 'end_turn' }));
      assert.deepEqual(await answer, { stopReason: 'end_turn' });
    });

    it('have ids that no other connection has, which fit in 31 bits', async () => {
      const connections = Array.from({ length: 20 }, () => wire());
      const ids: number[] = [];
      for (const { connection } of connections)
        for (let n = 0; n < 3; n++)
          connection.request('session/prompt', {}, { onSent: (id) => ids.push(Number(id)) }).catch(() => {});
      assert.equal(new Set(ids).size, 60);
      for (const id of ids) assert.ok(Number.isInteger(id) && id > 0 && id < 2 ** 31, `${id}`);
    });

    it('continue the ids of an earlier connection with the same agent, and get their own results', async () => {
      const { transport, connection } = wire({}, { firstId: 7 });
      const answers = ['first', 'second'].map((method) => connection.request(method, {}));
      for (const id of [7, 8]) assert.equal((await transport.next()).id, id);
      transport.sayJson(response(8, 'of the second'), response(7, 'of the first'));
      assert.deepEqual(await Promise.all(answers), ['of the first', 'of the second']);
      assert.equal(connection.nextId, 9);
    });

    it('reject with the code, message and data of an error response', async () => {
      const { transport, connection } = wire();
      const answer = connection.request('session/new', {});
      const { id } = await transport.next();
      transport.sayJson({ jsonrpc: '2.0', id, error: { code: -32000, message: 'Sign in', data: { why: 1 } } });
      await assert.rejects(answer, (error) => {
        assert.ok(error instanceof RpcError);
        assert.deepEqual([error.code, error.message, error.data], [RPC_CODES.authRequired, 'Sign in', { why: 1 }]);
        return true;
      });
    });

    for (const [shape, given, code, message] of [
      ['a string', { error: 'broken' }, RPC_CODES.internal, 'broken'],
      ['an HTTP number', { error: { code: 401, message: 'no' } }, 401, 'no'],
      ['no code', { error: { message: 'no' } }, RPC_CODES.internal, 'no'],
      ['nothing at all', {}, RPC_CODES.internal, 'The answer of the agent has neither a result nor an error'],
    ] as const) {
      it(`reject if the error response is malformed: ${shape}`, async () => {
        const { transport, connection } = wire();
        const answer = connection.request('m', {});
        const { id } = await transport.next();
        transport.sayJson({ jsonrpc: '2.0', id, ...given });
        await assert.rejects(answer, { name: 'RpcError', code, message });
      });
    }

    it('accept a response whose id is a string, or whose result is null', async () => {
      const { transport, connection } = wire();
      const first = connection.request('m', {});
      transport.sayJson(response(String((await transport.next()).id), 'yes'));
      assert.equal(await first, 'yes');
      const second = connection.request('m', {});
      transport.sayJson({ ...response((await transport.next()).id, null), error: null });
      assert.equal(await second, null);
    });

    it('ignore unexpected responses', async () => {
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

    it('send $/cancel_request once when aborted, and still wait for the response', async () => {
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

    it('are not sent if already aborted, and send nothing if aborted after their response', async () => {
      const { transport, connection } = wire();
      await assert.rejects(connection.request('m', {}, { signal: AbortSignal.abort() }), { code: RPC_CODES.cancelled });
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

    it('are refused over the size limit, and the connection stays open', async () => {
      const { transport, connection } = wire({}, { maxMessageBytes: 1000 });
      await assert.rejects(connection.request('m', { text: 'é'.repeat(500) }), { code: 'message-too-large' });
      await assert.rejects(connection.notify('m', { text: 'x'.repeat(1000) }), { code: 'message-too-large' });
      const answer = connection.request('m', {});
      transport.sayJson(response((await transport.next()).id, 1));
      assert.equal(await answer, 1);
      assert.equal(connection.stats.oversize, 2);
    });

    it('reject with the reason if JSON cannot represent them', async () => {
      const { connection } = wire();
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      await assert.rejects(connection.request('m', circular), /circular/i);
    });
  });

  describe('the close', () => {
    it('rejects pending and later requests, and fires once', async () => {
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

    it('has a reason if the stream broke', async () => {
      const { transport, seen, count, connection } = wire();
      const answer = assert.rejects(connection.request('a', {}), { code: 'connection-closed', message: /ECONNRESET/ });
      transport.end(new Error('read ECONNRESET'));
      await answer;
      await count(1);
      assert.deepEqual(seen, [{ closed: 'connection-closed' }]);
    });

    it('rejects pending requests and fires no event on dispose', async () => {
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

  it('reports traffic in both directions as on the wire, with matching counters', async () => {
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
