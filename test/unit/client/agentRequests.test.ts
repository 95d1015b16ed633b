// Requests of an agent by their names: what has no answer here is refused, whatever it is called.
import { strict as assert } from 'node:assert';
import { RpcError } from '../../../src/acp/jsonrpc/rpcError';
import { answerRequest, type RequestContext } from '../../../src/client/agentRequests';

describe('requests of an agent', () => {
  const context = {
    key: 'key',
    roots: ['/secret/root'],
    sessionId: () => 's',
    agentSide: () => ({}),
    isSubagent: () => false,
    isCancelled: () => false,
  } as unknown as RequestContext;

  for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'no/such']) {
    it(`are answered “method not found” where they are called ${method}`, async () => {
      await assert.rejects(
        answerRequest(context, method, { sessionId: 's' }, new AbortController().signal),
        (error: unknown) => error instanceof RpcError && error.code === -32601,
      );
    });
  }
});
