// Messages of error responses, which agents put in many places.
import { strict as assert } from 'node:assert';
import { errorSentence } from '../../../../src/acp/jsonrpc/rpcError';
import { closeWires, wire } from './rpcWire';

describe('the message of an error response', () => {
  afterEach(closeWires);

  const cases: readonly (readonly [what: string, message: string, data: unknown, sentence: string])[] = [
    ['details', 'Internal error', { details: '401 wrong key' }, 'Internal error: 401 wrong key'],
    ['a message', 'Internal error', { message: 'No quota.' }, 'Internal error: No quota.'],
    ['a string', 'Invalid params', 'Unknown sessionId: s', 'Invalid params: Unknown sessionId: s'],
    ['nested errors', 'Failed.', { error: { cause: [{ reason: 'no disk' }] } }, 'Failed: no disk'],
    ['JSON text', 'Internal error', { details: '{"error":{"message":"Bad key"}}' }, 'Internal error: Bad key'],
    ['a message that is JSON text', '{"error":{"code":400,"message":"Bad key"}}', undefined, 'Bad key'],
    ['JSON text without words', '{"code":400}', undefined, '{"code":400}'],
    ['words that the message has', 'No session s.', { details: 'No session s' }, 'No session s.'],
    ['several lines and control characters', 'Error', { details: 'one\n\u001b[31mtwo\u202e' }, 'Error: one [31mtwo'],
    ['nothing that is words', 'Method not found', { method: 'session/list', code: 1 }, 'Method not found'],
    ['nothing at all', '', undefined, 'No reason given'],
  ];
  for (const [what, message, data, sentence] of cases) {
    it(`has the words of ${what}`, () => assert.equal(errorSentence(message, data), sentence));
  }

  it('is bounded, even for circular or deeply nested data', () => {
    const data: Record<string, unknown> = { details: 'x'.repeat(100_000) };
    data.cause = data;
    assert.ok(errorSentence('Internal error', data).length < 2100);
    assert.equal(errorSentence('Error', { details: ['a', 'b', 'c'].fill('y'.repeat(9000)) }).length, 2001);
  });

  it("is in the error of a failed request, without the connection's secrets", async () => {
    const { transport, connection } = wire({}, { scrub: (text) => text.replaceAll('sk-1', '***') });
    const answer = connection.request('session/prompt', {});
    const { id } = await transport.next();
    transport.sayJson({ jsonrpc: '2.0', id, error: { code: -32603, message: 'Internal error', data: 'bad key sk-1' } });
    await assert.rejects(answer, { code: -32603, message: 'Internal error: bad key ***' });
  });
});
