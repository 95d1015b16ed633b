// The protocol's data as other implementations really send it: nulls, quirks and all; and what nobody may send.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  agentManifestSchema,
  citationOf,
  errorSchema,
  isDepthWithin,
  MAX_PARTS,
  mintId,
  parseBounded,
  readAs,
  readEvent,
  readMessage,
  runCreateSchema,
  runSchema,
  sessionSchema,
  timestamp,
  trajectoryOf,
} from '../../../../src/distributed/model/model';
import { sameData } from '../../../support/sameData';

function recorded(): readonly Record<string, unknown>[] {
  const text = ['basic', 'edge']
    .map((name) => readFileSync(join(process.cwd(), `test/fixtures/communication/${name}.txt`), 'utf8'))
    .join('\n');
  return text
    .split('\n')
    .map((line) => line.replace(/^data: /, ''))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function substance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(substance);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, substance(field)]),
  );
}

describe('what the protocol’s own server sent', () => {
  const readers: readonly (readonly [
    kind: string,
    is: (value: Record<string, unknown>) => boolean,
    read: (value: unknown) => unknown,
  ])[] = [
    ['runs', (value) => 'run_id' in value, (value) => readAs(runSchema, value, 'The run')],
    ['sessions', (value) => 'history' in value, (value) => readAs(sessionSchema, value, 'The session')],
    ['errors', (value) => 'code' in value, (value) => readAs(errorSchema, value, 'The error')],
    ['messages', (value) => 'role' in value, readMessage],
    ['events', (value) => 'type' in value, readEvent],
    [
      'lists of events',
      (value) => 'events' in value,
      (value) => ({ events: (value as { events: unknown[] }).events.map(readEvent) }),
    ],
  ];

  for (const [kind, is, read] of readers) {
    it(`is read and written without loss: ${kind}`, () => {
      const values = recorded().filter(is);
      assert.ok(values.length > 0);
      for (const value of values) {
        assert.deepEqual(substance(read(value)), substance(value));
        // No null is written back: absent is absent.
        assert.deepEqual(read(JSON.parse(JSON.stringify(read(value)))), read(value));
      }
    });
  }

  it('is read completely', () => {
    const unread = recorded().filter((value) => !readers.some(([, is]) => is(value)));
    assert.deepEqual(unread, []);
  });
});

describe('a message', () => {
  it('keeps unknown fields', () => {
    const value = { parts: [{ content: 'x', foo: null, bar: { a: 1 } }], trace: 'y', role: 'user' };
    const { parts, trace } = readMessage(value);
    assert.deepEqual([parts[0]?.foo, parts[0]?.bar, trace], [null, { a: 1 }, 'y']);
  });

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

  it('does not change the prototype of what it is read into', () => {
    const message = readMessage(JSON.parse('{"parts":[{"__proto__":{"content":"x"}}],"__proto__":{"polluted":1}}'));
    assert.equal((message as { polluted?: unknown }).polluted, undefined);
    assert.equal(message.parts[0]?.content, undefined);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('shows links to the web as sources, and the steps', () => {
    const part = (metadata: Record<string, unknown>) => readMessage({ parts: [{ metadata }] }).parts[0]!;
    sameData(citationOf(part({ kind: 'citation', url: 'https://a/', title: 'A', start_index: 1, end_index: null })), {
      url: 'https://a/',
      title: 'A',
      startIndex: 1,
    });
    sameData(citationOf(part({ kind: 'citation', url: 'command:evil', title: null })), {});
    sameData(trajectoryOf(part({ kind: 'trajectory', message: 'm', tool_name: null, tool_input: { a: null } })), {
      message: 'm',
      toolInput: { a: null },
    });
    for (const metadata of [{ kind: 'unknown' }, {}]) {
      assert.equal(citationOf(part(metadata)) ?? trajectoryOf(part(metadata)), undefined);
    }
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

  it('is written as other implementations accept it', () => {
    assert.match(timestamp(0), /^1970-01-01T00:00:00\.000Z$/);
    assert.match(mintId(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('is limited in size and depth, and quotes nothing that it could not read', () => {
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
