// Prompts are spans of the environment's trace.
import { strict as assert } from 'node:assert';
import type { RpcCaller } from '../../../../src/acp/jsonrpc/rpcConnection';
import { traced } from '../../../../src/acp/protocol/traceContext';

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function caller(): { rpc: RpcCaller; sent: [string, unknown][] } {
  const sent: [string, unknown][] = [];
  const rpc: RpcCaller = {
    request: async (method, params) => {
      sent.push([method, params]);
      return undefined;
    },
    notify: async (method, params) => {
      sent.push([method, params]);
    },
  };
  return { rpc, sent };
}

describe('trace context', () => {
  it('makes each prompt a separate span of the trace', async () => {
    const { rpc, sent } = caller();
    const tracing = traced(rpc, parent);
    for (const text of ['a', 'b'])
      await tracing.request('session/prompt', { sessionId: 's', text, _meta: { mine: 1 } });
    const spans = sent.map(([, params]) => (params as { _meta: { traceparent: string; mine: number } })._meta);
    for (const { traceparent, mine } of spans) {
      assert.match(traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
      assert.equal(mine, 1);
    }
    assert.notEqual(spans[0]?.traceparent, spans[1]?.traceparent);
    assert.ok(spans.every(({ traceparent }) => traceparent !== parent));
  });

  it('is sent only with prompts, and only if the environment has a trace', async () => {
    const { rpc, sent } = caller();
    await traced(rpc, parent).request('session/new', { cwd: '/' });
    await traced(rpc, parent).notify('session/cancel', { sessionId: 's' });
    for (const none of [undefined, '', 'nonsense', '01-x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])
      await traced(rpc, none).request('session/prompt', { sessionId: 's' });
    assert.deepEqual(
      sent.filter(([, params]) => '_meta' in (params as object)),
      [],
    );
  });
});
