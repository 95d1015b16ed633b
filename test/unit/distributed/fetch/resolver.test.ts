// A history from several servers is complete and in order, with gaps for failures, and cached.

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { Deferred } from '../../../../src/base/deferred';
import type { Log } from '../../../../src/base/log';
import { Guard } from '../../../../src/distributed/fetch/guard';
import type { AskedOrigin } from '../../../../src/distributed/fetch/originConsent';
import { gapSentence } from '../../../../src/distributed/model/gap';
import { mintId } from '../../../../src/distributed/model/model';
import { type ResourceStore, sha256Of } from '../../../../src/distributed/model/resources';
import { withHash } from '../../../../src/distributed/model/resourceUrl';
import { pluck } from '../../../support/pluck';
import { messageText, serve } from '../loopback';
import { closeResolvers, echo, kept, newCache, open, resolver, textOf } from './resolvers';

const never = new AbortController().signal;

describe('Resolver', () => {
  afterEach(() => {
    mock.timers.reset();
    return closeResolvers();
  });

  it('keeps the order of messages of three servers, whatever order they respond in', async () => {
    const waiting: (() => void)[] = [];
    const shuffled = (request: IncomingMessage, response: ServerResponse): void => {
      waiting.push(() => echo(request, response));
      // Every second request releases the two waiting ones, the later one first.
      if (waiting.length === 2) for (const answer of waiting.splice(0).reverse()) answer();
    };
    const servers = await Promise.all([serve(shuffled), serve(shuffled), serve(shuffled)]);
    const history = Array.from({ length: 60 }, (_, index) => `${servers[index % 3]?.origin}/message-${index}`);
    const entries = await open(resolver({ maxParallel: 12 }), history);
    assert.deepEqual(
      entries.map(textOf),
      history.map((url) => new URL(url).pathname),
    );
    assert.deepEqual(
      pluck(entries, 'index'),
      history.map((_, index) => index),
    );
  });

  it('returns the whole history with a reason for each missing message', async () => {
    const server = await serve((request, response) => {
      const path = new URL(request.url ?? '', 'http://x').pathname;
      if (path === '/missing') response.writeHead(404).end();
      else if (path === '/slow') return;
      else if (path === '/forbidden') response.writeHead(403).end('<Code>AccessDenied</Code>');
      else if (path === '/html') response.end('<!doctype html>');
      else if (path === '/agents') response.end('{"agents":[]}');
      else if (path === '/deep') response.end('['.repeat(200) + ']'.repeat(200));
      else if (path === '/large') response.end(messageText('x'.repeat(20_000)));
      else if (path === '/broken') response.writeHead(500).end();
      else if (path === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (path === '/cut') request.socket.destroy();
      else echo(request, response);
    });
    const gone = await serve(echo);
    await gone.close();
    const expired = '/forbidden?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60&X-Amz-Signature=abc';
    const cases: readonly (readonly [url: string, reason: string, retryable: boolean])[] = [
      [`${server.origin}/missing`, 'not-found', true],
      [`${server.origin}/slow`, 'timeout', true],
      [`${gone.origin}/x`, 'refused', true],
      [`${server.origin}${expired}`, 'expired', false],
      [`${server.origin}/forbidden`, 'forbidden', true],
      [`${server.origin}/html`, 'not-json', true],
      [`${server.origin}/agents`, 'not-a-message', false],
      [`${server.origin}/deep`, 'not-a-message', false],
      [`${server.origin}/large`, 'too-large', false],
      [`${server.origin}/broken`, 'server-error', true],
      [`${server.origin}/loop`, 'bad-redirect', false],
      [`${server.origin}/cut`, 'connection-lost', true],
      [withHash(`${server.origin}/changed`, sha256Of(Buffer.from('as it was'))), 'changed', true],
      ['http://user:pw@127.0.0.1/', 'blocked', true],
    ];
    const history = cases.flatMap(([url], index) => [`${server.origin}/good-${index}`, url]);
    const entries = await open(resolver({ timeoutMs: 1500, maxMessageBytes: 10_000 }), history);
    assert.equal(entries.length, history.length);
    assert.deepEqual(
      entries.filter((_, index) => index % 2 === 0).map(textOf),
      cases.map((_, index) => `/good-${index}`),
    );
    const gaps = entries.filter((entry) => entry.kind === 'gap');
    assert.deepEqual(
      gaps.map(({ reason, retryable }) => [reason, retryable]),
      cases.map(([, reason, retryable]) => [reason, retryable]),
    );
    for (const gap of gaps) assert.match(gapSentence(gap.reason, gap.host), /^[A-Z\d].*\.$/);
    assert.match(gaps[0]?.host ?? '', /^127\.0\.0\.1:\d+$/);
  });

  it('limits requests and connections', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => serve((q, r) => setImmediate(() => echo(q, r)))));
    const history = Array.from({ length: 90 }, (_, index) => `${servers[index % 3]?.origin}/${index}`);
    await open(resolver({ maxParallel: 8, maxPerOrigin: 3 }), history);
    for (const server of servers) {
      assert.ok(server.mostAtOnce <= 3, `${server.mostAtOnce} at once`);
      assert.ok(server.connections <= 3, `${server.connections} connections`);
      assert.equal(server.seen.length, 30);
    }
  });

  it('shows messages of two servers while the user is asked about a third', async () => {
    const [good, asked] = [await serve(echo), await serve(echo)];
    const question = new Deferred<readonly string[]>();
    const questions: string[] = [];
    const guard = new Guard({
      isAllowed: (origin) => origin === good.origin,
      ask: (all) => {
        questions.push(...all.map(({ origin }) => origin));
        return question.promise;
      },
    });
    kept(guard);
    const history = Array.from({ length: 40 }, (_, index) => `${(index < 20 ? good : asked).origin}/${index}`);
    let seen = 0;
    const onEntry = (): void => {
      // The good ones are all there, and only then comes the answer.
      if (++seen === 20) question.resolve([asked.origin]);
    };
    const entries = await resolver({ guard }).resolveHistory({ id: 'session-123', history }, { onEntry }, never);
    assert.deepEqual(
      entries.map(textOf),
      history.map((url) => new URL(url).pathname),
    );
    assert.deepEqual(questions, [asked.origin]);
  });

  describe('a session on servers of this machine', () => {
    const history = (count: number): string[] =>
      Array.from({ length: count }, (_, index) => `http://127.0.0.1:${index + 1}/m`);
    const asking = (allowed: (origin: string) => boolean) => {
      const questions: (readonly AskedOrigin[])[] = [];
      const guard = new Guard({
        isAllowed: () => false,
        ask: async (all) => {
          questions.push(all);
          return all.map(({ origin }) => origin).filter(allowed);
        },
      });
      return { guard: kept(guard), questions };
    };

    it('needs one question for any number of ports', async () => {
      const { guard, questions } = asking(() => false);
      const entries = await open(resolver({ guard }), history(2000));
      assert.deepEqual([...new Set(entries.map(textOf))], ['gap: blocked']);
      assert.equal(questions.length, 1);
      assert.equal(questions[0]?.length, 2000);
    });

    it('is read only from the servers that the user allowed', async () => {
      const [good, other] = [await serve(echo), await serve(echo)];
      const { guard, questions } = asking((origin) => origin === good.origin);
      const urls = [`${good.origin}/1`, `${other.origin}/2`, `${good.origin}/3`];
      const entries = await open(resolver({ guard }), urls);
      assert.deepEqual(entries.map(textOf), ['/1', 'gap: blocked', '/3']);
      assert.deepEqual(questions, [
        [
          { origin: good.origin, found: 'local', count: 2 },
          { origin: other.origin, found: 'local', count: 1 },
        ],
      ]);
      assert.equal(other.connections, 0);
    });

    it('needs no question about a server reached only by a redirect', async () => {
      const inner = await serve(echo);
      const outer = await serve((request, response) =>
        response.writeHead(302, { location: `${inner.origin}${request.url}` }).end(),
      );
      const { guard, questions } = asking((origin) => origin === outer.origin);
      const entries = await open(resolver({ guard }), [`${outer.origin}/1`, `${outer.origin}/2`]);
      assert.deepEqual(entries.map(textOf), ['gap: blocked', 'gap: blocked']);
      assert.deepEqual(
        questions.map((all) => all.map(({ origin }) => origin)),
        [[outer.origin]],
      );
    });

    it('needs no question about cached messages', async () => {
      const server = await serve(echo);
      const cache = await newCache();
      const urls = [`${server.origin}/1`];
      await open(resolver({ cache }), urls);
      await cache.settled();
      const { guard, questions } = asking(() => false);
      assert.deepEqual((await open(resolver({ cache, guard }), urls)).map(textOf), ['/1']);
      assert.deepEqual(questions, []);
    });

    it('asks again with the next session, and on retry only about that server', async () => {
      const { guard, questions } = asking(() => false);
      const of = resolver({ guard });
      await open(of, history(3));
      await open(of, history(3));
      assert.deepEqual(pluck(questions, 'length'), [3, 3]);
      guard.consent.forgetRefusals();
      await of.resolveEntry(history(3)[1] ?? '', 1, {}, never);
      assert.deepEqual(questions[2], [{ origin: 'http://127.0.0.1:2', found: 'local', count: 1 }]);
    });

    it('has its full time budget after a late answer of the user', async () => {
      const server = await serve(echo);
      mock.timers.enable({ apis: ['setTimeout'] });
      const guard = kept(
        new Guard({
          isAllowed: () => false,
          ask: async (all) => {
            mock.timers.tick(100);
            return all.map(({ origin }) => origin);
          },
        }),
      );
      const descriptor = { id: 'session-123', history: [`${server.origin}/1`] };
      const entries = await resolver({ guard }).resolveHistory(descriptor, { budgetMs: 50 }, never);
      assert.deepEqual(entries.map(textOf), ['/1']);
    });

    it('resolves names to detect local servers', async () => {
      const { questions, guard: plain } = asking(() => false);
      const guard = kept(
        new Guard(plain.policy, {
          lookup: async (name) => [{ address: name === 'far.example' ? '8.8.8.8' : '10.0.0.1', family: 4 }],
        }),
      );
      await guard.consent.askTogether(
        ['http://near.example/1', 'http://far.example/1', 'http://169.254.169.254/1'],
        async () => true,
        never,
      );
      assert.deepEqual(questions, [[{ origin: 'http://near.example', found: 'private', count: 1 }]]);
    });
  });

  it('reads only unguessable keys with the user’s credentials', async () => {
    const bucket = await serve((_request, response) => response.writeHead(403).end());
    const read: string[] = [];
    const store = {
      id: 's3:bucket',
      isLocal: false,
      keyOf: async (url: string) => new URL(url).pathname.slice(1),
      get: async (key: string) => {
        read.push(key);
        return Buffer.from(messageText('ours'));
      },
    } as unknown as ResourceStore;
    const keys = [`sessions/a/00000000-${mintId()}.json`, mintId()];
    const history = [...keys, 'invoices/2026.json', 'sessions/a/00000001.json'].map((key) => `${bucket.origin}/${key}`);
    const entries = await open(resolver({ stores: [store] }), history);
    assert.deepEqual(entries.map(textOf), ['ours', 'ours', 'gap: forbidden', 'gap: forbidden']);
    assert.deepEqual(read.sort(), [...keys].sort());
  });

  it('stops waiting for a dead server, whatever the number of messages', async () => {
    const hanging = await serve(() => {});
    const history = Array.from({ length: 100 }, (_, index) => `${hanging.origin}/${index}`);
    const entries = await open(resolver({ timeoutMs: 50 }), history);
    assert.deepEqual([...new Set(entries.map(textOf))], ['gap: timeout']);
    assert.ok(hanging.seen.length <= 8, `${hanging.seen.length} requests`);
  });

  it('fetches a repeated message once and shows it twice', async () => {
    const server = await serve(echo);
    const url = `${server.origin}/same`;
    const entries = await open(resolver(), [url, `${server.origin}/other`, url]);
    assert.deepEqual(entries.map(textOf), ['/same', '/other', '/same']);
    assert.deepEqual(pluck(entries, 'index'), [0, 1, 2]);
    assert.equal(server.seen.length, 2);
  });

  it('bounds the size of a session in memory', async () => {
    const server = await serve((_, response) => response.end(messageText('x'.repeat(10_000))));
    const history = Array.from({ length: 10 }, (_, index) => `${server.origin}/${index}`);
    const entries = await open(resolver({ maxSessionBytes: 50_000, maxPerOrigin: 1 }), history);
    assert.deepEqual(
      entries.map((entry) => (entry.kind === 'gap' ? entry.reason : 'message')),
      [...Array<string>(6).fill('session-too-large'), ...Array<string>(4).fill('message')],
    );
  });

  it('rejects a message that was changed after it was written', async () => {
    const server = await serve(echo);
    const hash = sha256Of(Buffer.from(messageText('/x')));
    const options = { sha256: (index: number) => (index === 0 ? hash : '0'.repeat(64)) };
    const history = [`${server.origin}/x`, `${server.origin}/y`];
    const entries = await resolver().resolveHistory({ id: 'session-123', history }, options, never);
    assert.deepEqual(entries.map(textOf), ['/x', 'gap: changed']);
  });

  describe('for large parts', () => {
    const part = { content_type: 'text/plain', content_encoding: 'plain' } as const;

    it('returns inline content', async () => {
      const plain = await resolver().resolvePart({ ...part, content: 'é' }, { maxBytes: 9 }, never);
      const packed = await resolver().resolvePart(
        { ...part, content: 'ZGF0YQ==', content_encoding: 'base64' },
        { maxBytes: 9 },
        never,
      );
      assert.deepEqual(
        [plain, packed].map((content) => content.kind === 'content' && Buffer.from(content.bytes).toString()),
        ['é', 'data'],
      );
    });
  });

  it('writes no signature or token to the log', async () => {
    const server = await serve((request, response) => {
      if (request.url?.startsWith('/bad') === true) response.writeHead(500).end('fetched-secret');
      else echo(request, response);
    });
    const lines: string[] = [];
    const note = (line: string): void => {
      lines.push(line);
    };
    const log: Log = { trace: note, debug: note, info: note, warn: note, error: note };
    const guard = new Guard({
      isAllowed: () => true,
      credentials: async () => ({ authorization: 'Bearer token-secret' }),
    });
    kept(guard);
    const query = '?X-Amz-Signature=signature-secret&X-Amz-Credential=credential-secret#sha256=hash-secret';
    await open(resolver({ log, guard }), [
      `${server.origin}/good${query}`,
      `${server.origin}/bad${query}`,
      `http://u:pw-secret@127.0.0.1/x${query}`,
    ]);
    assert.ok(lines.some((line) => line.includes('/good')));
    assert.deepEqual(
      lines.filter((line) => line.includes('-secret')),
      [],
    );
  });
});
