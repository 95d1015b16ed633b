// Limits and errors of untrusted fetches.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { serve } from '../loopback';
import { closeResolvers, failure, get, guardFor, SECRET } from './resolvers';

describe('guardedGet', () => {
  afterEach(closeResolvers);

  describe('costs a bounded amount of memory and time', () => {
    async function answered(handler: (request: IncomingMessage, response: ServerResponse) => void, maxBytes = 100_000) {
      const server = await serve(handler);
      return get(guardFor({ allow: [server.origin] }), server.origin, { maxBytes });
    }

    it('stops reading a too large body, whatever length it declares', async () => {
      const big = Buffer.alloc(200_000, SECRET);
      const cases = [
        (_: IncomingMessage, response: ServerResponse) => response.end(big),
        (_: IncomingMessage, response: ServerResponse) => response.write(big.subarray(0, 150_000)),
        (_: IncomingMessage, response: ServerResponse) => {
          const more = (): void => {
            while (!response.destroyed && response.write(big));
          };
          response.on('drain', more);
          more();
        },
      ];
      for (const handler of cases) assert.equal((await failure(answered(handler))).code, 'too-large');
    });

    it('does not unpack a compression bomb', async () => {
      const zeros = Buffer.alloc(20_000_000);
      for (const [encoding, packed] of [
        ['gzip', gzipSync(zeros)],
        ['br', brotliCompressSync(zeros)],
      ] as const) {
        assert.ok(packed.length < 100_000);
        const error = await failure(
          answered((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(packed)),
        );
        assert.equal(error.code, 'too-large');
      }
    });

    it('stops reading compressed data without output', async () => {
      const empty = gzipSync(Buffer.alloc(0));
      const error = await failure(
        answered((_, response) => {
          response.writeHead(200, { 'content-encoding': 'gzip' });
          const more = (): void => {
            while (!response.destroyed && response.write(empty));
          };
          response.on('drain', more);
          more();
        }, 10_000),
      );
      assert.equal(error.code, 'too-large');
    });

    it('reads compressed data, and quotes no damaged data', async () => {
      for (const [encoding, body] of [
        ['gzip', gzipSync('hello')],
        ['br', brotliCompressSync('hello')],
        ['identity', Buffer.from('hello')],
      ] as const) {
        const { body: read } = await answered((_, response) => {
          response.writeHead(200, { 'content-encoding': encoding }).end(body);
        });
        assert.equal(Buffer.from(read).toString(), 'hello');
      }
      for (const encoding of ['gzip', 'br', 'deflate', 'zstd-of-my-own', 'gzip, gzip']) {
        const error = await failure(
          answered((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(SECRET)),
        );
        assert.equal(error.code, 'bad-encoding', encoding);
      }
    });

    it('times out if a server sends slowly or nothing', async () => {
      const timers: NodeJS.Timeout[] = [];
      const loris = await serve((_, response) => {
        response.writeHead(200);
        timers.push(setInterval(() => response.write('x'), 5));
      });
      const silent = await serve(() => {});
      for (const { origin } of [loris, silent]) {
        const error = await failure(get(guardFor({ allow: [origin] }), origin, { timeoutMs: 60 }));
        assert.equal(error.code, 'timeout');
      }
      for (const timer of timers) clearInterval(timer);
    });
  });

  describe('explains errors', () => {
    it('distinguishes refused connections, broken connections and unknown hosts', async () => {
      const server = await serve((request) => request.socket.destroy());
      const gone = await serve(() => {});
      await gone.close();
      const guard = guardFor({ isAllowed: () => true }, async (name) => {
        if (name === 'unknown.example') throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
        return [{ address: '127.0.0.1', family: 4 }];
      });
      assert.equal((await failure(get(guard, server.origin))).code, 'connection-lost');
      assert.equal((await failure(get(guard, gone.origin))).code, 'refused');
      assert.equal((await failure(get(guard, 'http://unknown.example/'))).code, 'no-such-host');
    });

    it('rejects an answer that switches to another protocol', async () => {
      const server = await serve((request) => {
        request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
      });
      const error = await failure(get(guardFor({ allow: [server.origin] }), server.origin));
      assert.equal(error.code, 'connection-lost');
    });

    it('quotes neither an answer that is not HTTP nor the body of an error', async () => {
      const server = await serve((request) => request.socket.end(`${SECRET}\r\n\r\n`));
      assert.equal((await failure(get(guardFor({ allow: [server.origin] }), server.origin))).code, 'connection-lost');
      const refusing = await serve((_, response) => response.writeHead(403).end(SECRET));
      const { status, body } = await get(guardFor({ allow: [refusing.origin] }), refusing.origin);
      assert.deepEqual([status, body.length], [403, 0]);
    });
  });
});
