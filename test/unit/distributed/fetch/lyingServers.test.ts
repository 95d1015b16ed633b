// Servers that disconnect, respond twice or lie: each message is the requested one, complete, or a
// retryable gap.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { sha256Of } from '../../../../src/distributed/model/resources';
import { withHash } from '../../../../src/distributed/model/resourceUrl';
import { messageText, serve } from '../loopback';
import { closeResolvers, echo, newCache, open, resolver, textOf } from './resolvers';

const never = new AbortController().signal;

describe('a history on misbehaving servers', () => {
  const stops: (() => void)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    await closeResolvers();
  });

  /**
   * A server that writes bytes.
   * @param answer is called with the path of each request, and may write when it likes
   */
  async function raw(answer: (path: string, socket: Socket) => void): Promise<{ origin: string; paths: string[] }> {
    const paths: string[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        for (const [, path = ''] of data.toString('latin1').matchAll(/^GET (\S+) HTTP/gm)) {
          paths.push(path);
          answer(path, socket);
        }
      });
      stops.push(() => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stops.push(() => server.close());
    return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
  }

  const ok = (text: string, length = Buffer.byteLength(text)): string =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\nContent-Type: application/json\r\n\r\n${text}`;

  it('discards a partial message, and gets all of it with the next attempt', async () => {
    const text = messageText('whole');
    const cuts: readonly string[] = [
      ok(text.slice(0, 20), text.length),
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n${text.slice(0, 20)}\r\n`,
      `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${text.slice(0, 20)}`,
    ];
    for (const hash of [false, true]) {
      for (const cut of cuts) {
        let isBroken = true;
        const { origin } = await raw((_path, socket) => socket.end(isBroken ? cut : ok(text)));
        const url = hash ? withHash(`${origin}/m`, sha256Of(Buffer.from(text))) : `${origin}/m`;
        const cache = await newCache();
        const one = resolver({ cache });
        const [gap] = await open(one, [url]);
        assert.ok(gap?.kind === 'gap' && gap.retryable, `${cut}: ${textOf(gap)}`);
        isBroken = false;
        assert.equal(textOf(await one.resolveEntry(url, 0, {}, never)), 'whole');
      }
    }
  });

  it('retries broken connections up to three times', async () => {
    const asked = new Map<string, number>();
    const server = await serve((request, response) => {
      const times = (asked.get(request.url ?? '') ?? 0) + 1;
      asked.set(request.url ?? '', times);
      if (times > Number(request.url?.slice(1))) echo(request, response);
      else request.socket.destroy();
    });
    const history = [0, 1, 2, 3, 99].map((breaks) => `${server.origin}/${breaks}`);
    const entries = await open(resolver(), history);
    assert.deepEqual(entries.slice(0, 4).map(textOf), ['/0', '/1', '/2', '/3']);
    assert.partialDeepStrictEqual(entries[4], { kind: 'gap', reason: 'connection-lost' });
  });

  it('retries less on a server whose connections all break', async () => {
    const server = await serve((request) => void request.socket.destroy());
    const history = Array.from({ length: 40 }, (_, index) => `${server.origin}/${index}`);
    const entries = await open(resolver(), history);
    assert.ok(entries.every((entry) => entry.kind === 'gap' && entry.reason === 'connection-lost'));
    assert.ok(server.seen.length < 3 * history.length, `${server.seen.length} requests`);
  });

  it('rejects a message whose length differs from its header', async () => {
    const text = messageText('x');
    const { origin } = await raw((path, socket) => {
      if (path === '/long') socket.write(ok(text, text.length - 5));
      else if (path === '/short') socket.end(ok(text, text.length + 5));
      else socket.write(ok(messageText(path)));
    });
    const history = ['/long', '/short', '/a', '/b', '/c', '/d', '/e', '/f'].map((path) => `${origin}${path}`);
    const entries = await open(resolver({ maxPerOrigin: 1, timeoutMs: 2000 }), history);
    assert.deepEqual(entries.map(({ kind }) => kind).slice(0, 2), ['gap', 'gap']);
    assert.deepEqual(entries.slice(2).map(textOf), ['/a', '/b', '/c', '/d', '/e', '/f']);
  });

  it('never uses the second response to an earlier request', async () => {
    for (const isLate of [false, true]) {
      const { origin } = await raw((path, socket) => {
        const answer = ok(messageText(path));
        const again = ok(messageText('another one'));
        if (!isLate) socket.write(answer + again);
        else {
          socket.write(answer);
          setImmediate(() => socket.write(again));
        }
      });
      const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
      const one = resolver({ maxPerOrigin: 1, timeoutMs: 2000 });
      const entries = await open(
        one,
        paths.map((path) => `${origin}${path}`),
      );
      for (const [index, entry] of entries.entries()) {
        if (entry.kind === 'message') assert.equal(textOf(entry), paths[index]);
        else assert.ok(entry.retryable, entry.reason);
      }
    }
  });

  it('reads the remaining messages if links expire in between', async () => {
    const started = Date.UTC(2026, 0, 1);
    let [now, answers] = [started, 0];
    const server = await serve((request, response) => {
      if (++answers > 30) now = started + 61_000;
      if (now > started + 60_000) response.writeHead(403).end('<Code>AccessDenied</Code>');
      else echo(request, response);
    });
    const query = '?X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-Signature=abc';
    const history = Array.from({ length: 60 }, (_, index) => `${server.origin}/${index}${query}`);
    const cache = await newCache();
    const entries = await open(resolver({ cache, now: () => now }), history);
    const gaps = entries.filter((entry) => entry.kind === 'gap');
    assert.equal(entries.length - gaps.length, 30);
    assert.deepEqual([...new Set(gaps.map(({ reason }) => reason))], ['expired']);
    const again = await open(resolver({ cache, now: () => now }), history);
    assert.deepEqual(again.map(textOf), entries.map(textOf), 'what was read stays, also with a link that has ended');
  });
});
