// The protocol's data as other implementations send it, including nulls and quirks; invalid data is
// rejected.

import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import {
  agentManifestSchema,
  isDepthWithin,
  MAX_PARTS,
  parseBounded,
  readAs,
  readEvent,
  readMessage,
  runCreateSchema,
  sessionSchema,
} from '../../../../src/distributed/model/model';

describe('a message', () => {
  it('is rejected if a required field is missing', () => {
    assert.deepEqual(readMessage({ parts: [{}] }), {
      role: 'user',
      parts: [{ content_type: 'text/plain', content_encoding: 'plain' }],
    });
    assert.deepEqual(readMessage({ role: null, parts: [], created_at: null, completed_at: null }), {
      role: 'user',
      parts: [],
    });
  });

  it('is rejected if it violates the protocol, without being quoted', () => {
    const bad: unknown[] = [
      null,
      'secret-text',
      {},
      { parts: 'secret-text' },
      { parts: ['secret-text'] },
      { role: 'assistant', parts: [] },
      { role: 'agent/', parts: [] },
      { role: 'agent/a b', parts: [] },
      { parts: [{ content: 'secret-text', content_url: 'http://a/' }] },
      { parts: [{ content_url: 'file:///secret-text' }] },
      { parts: [{ content_url: 'javascript:secret-text' }] },
      { parts: [{ content: 5 }] },
      { parts: [{ content_encoding: 'secret-text' }] },
      { parts: Array(MAX_PARTS + 1).fill({}) },
    ];
    for (const value of bad) {
      assert.throws(
        () => readMessage(value),
        (error: Error & { code?: string }) => error.code === 'invalid-data' && !error.message.includes('secret-text'),
        JSON.stringify(value)?.slice(0, 80),
      );
    }
  });

  it('does not pollute prototypes', () => {
    const message = readMessage(JSON.parse('{"parts":[{"__proto__":{"content":"x"}}],"__proto__":{"polluted":1}}'));
    assert.equal((message as { polluted?: unknown }).polluted, undefined);
    assert.equal(message.parts[0]?.content, undefined);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});

describe('the rest of the protocol', () => {
  it('skips unknown events in a stream', () => {
    assert.deepEqual(readEvent({ type: 'run.paused', x: 1 }), {
      type: 'unknown',
      name: 'run.paused',
      raw: { type: 'run.paused', x: 1 },
    });
    for (const value of [null, {}, { type: 5 }, { type: 'message.part' }, { type: 'run.completed', run: {} }]) {
      assert.throws(() => readEvent(value), { code: 'invalid-data' });
    }
  });

  it('accepts what clients send, and rejects ids that could leave their folder', () => {
    const run = readAs(
      runCreateSchema,
      { agent_name: 'history_echo', session_id: null, session: null, input: [] },
      'x',
    );
    assert.deepEqual(run, { agent_name: 'history_echo', input: [], mode: 'sync' });
    const safe = ['session-123', '3F3487FD-0db3-42bd-8d03-a01add7f517a', 'a', 'a.b_c~d:e'];
    for (const id of safe) assert.equal(readAs(sessionSchema, { id }, 'x').id, id);
    for (const id of ['', '.', '..', '../x', 'a/b', 'a\\b', 'a b', 'a\n', '%2e', '-a', 'x'.repeat(129), 5, null]) {
      assert.ok(!z.safeParse(sessionSchema, { id }).success, String(id));
    }
    assert.ok(!z.safeParse(agentManifestSchema, { name: 'a/b' }).success);
  });

  it('is limited in size and depth, and errors quote nothing', () => {
    const cases: readonly (readonly [text: string | Uint8Array, code: string])[] = [
      ['{"secret-text"', 'not-json'],
      ['', 'not-json'],
      [Buffer.from([0x22, 0xff, 0x22]), 'not-json'],
      [`"${'é'.repeat(600)}"`, 'too-large'],
      ['['.repeat(400) + ']'.repeat(400), 'too-deep'],
    ];
    for (const [text, code] of cases) {
      assert.throws(
        () => parseBounded(text, 1000),
        (error: Error & { code?: string }) => error.code === code && !error.message.includes('secret-text'),
      );
    }
    const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    assert.ok(!isDepthWithin(deep, 100));
    assert.ok(isDepthWithin({ a: [{ b: 'x' }] }, 3) && !isDepthWithin({ a: [{ b: 'x' }] }, 2));
  });
});
