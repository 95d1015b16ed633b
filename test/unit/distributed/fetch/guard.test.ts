// Untrusted URLs reach neither private addresses nor foreign credentials.
import assert from 'node:assert/strict';
import http, { type IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { addressClass, worstClass } from '../../../../src/base/addressClass';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { serve } from '../loopback';
import { closeResolvers, failure, get, guardFor, SECRET } from './resolvers';

describe('guardedGet', () => {
  afterEach(closeResolvers);

  describe('protects the user’s machine and network', () => {
    const port = 9;
    const blocked = [
      '127.0.0.1',
      '127.1',
      '127.255.255.254',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '0177.1',
      '0',
      '0.0.0.0',
      '0x0',
      '10.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '192.168.1',
      '169.254.169.254',
      '0xa9fea9fe',
      '100.64.0.1',
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '[::]',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:8.8.8.8]',
      '[::127.0.0.1]',
      '[::8.8.8.8]',
      '[3fff::1]',
      '[4000::1]',
      '[64:ff9b:1::1]',
      '[fe80::1]',
      '[fc00::1]',
      '[fd12:3456::1]',
      '[ff02::1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:db8::1]',
      '[2001::1]',
      '１２７.0.0.1',
      'localhost',
      'localhost.',
      'LOCALHOST',
    ];
    for (const host of blocked) {
      it(`blocks a link to ${host}`, async () => {
        const guard = guardFor({}, async () => [{ address: '127.0.0.1', family: 4 }]);
        const error = await failure(get(guard, `http://${host}:${port}/x`));
        assert.equal(error.code, 'blocked-address');
      });
    }

    const malformed = [
      'http://user:pw@example.com/',
      'http://user@example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:application/json,{}',
      'http://[fe80::1%25eth0]/',
      'http://',
      'nonsense',
      'http://256.256.256.256/',
    ];
    for (const url of malformed) {
      it(`rejects a URL that is not plain http or https: ${url}`, async () => {
        assert.equal((await failure(get(guardFor({}), url))).code, 'bad-url');
      });
    }

    it('distinguishes public addresses from all others', () => {
      assert.deepEqual(
        ['8.8.8.8', '2606:4700::1111', '127.0.0.1', 'fd00::1', '100.64.1.1', 'fe80::1%1', '1.2.3', ''].map(
          addressClass,
        ),
        ['public', 'public', 'local', 'private', 'private', 'forbidden', 'forbidden', 'forbidden'],
      );
      assert.equal(worstClass([]), 'forbidden');
    });

    it('refuses a name with a private address, even beside a public one', async () => {
      const server = await serve((_, response) => response.end(SECRET));
      const { port: open } = new URL(server.origin);
      for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['::1']]) {
        const guard = guardFor({}, async () =>
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
        assert.equal((await failure(get(guard, `http://innocent.example:${open}/`))).code, 'blocked-address');
      }
      assert.equal(server.connections, 0);
    });

    it('uses the address that it has checked, even if the name changes', async () => {
      const server = await serve((_, response) => response.end(SECRET));
      const first = new AbortController();
      let looked = 0;
      const guard = guardFor({}, async () => {
        // Stops the first connection, which would leave this machine, once it has the address.
        if (looked++ === 0) first.abort();
        return [{ address: looked === 1 ? '8.8.8.8' : '127.0.0.1', family: 4 }];
      });
      const url = `http://rebinding.example:${new URL(server.origin).port}/`;
      assert.equal((await failure(get(guard, url, { signal: first.signal }))).code, 'cancelled');
      assert.equal((await failure(get(guard, url))).code, 'blocked-address');
      assert.deepEqual([looked, server.connections], [2, 0]);
    });

    it('resolves a name once for check and connection', async () => {
      const server = await serve((_, response) => response.end('{}'));
      let looked = 0;
      const origin = `http://known.example:${new URL(server.origin).port}`;
      const guard = guardFor({ allow: [origin] }, async () => {
        looked++;
        return [{ address: '127.0.0.1', family: 4 }];
      });
      await get(guard, `${origin}/`);
      await get(guard, `${origin}/again`);
      assert.deepEqual([looked, server.connections, server.seen.length], [1, 1, 2]);
    });

    it('follows no redirect of an allowed server into the private network', async () => {
      const inner = await serve((_, response) => response.end(SECRET));
      const outer = await serve((_, response) =>
        response.writeHead(302, { location: `${inner.origin}/x` }).end(SECRET),
      );
      assert.equal((await failure(get(guardFor({ allow: [outer.origin] }), outer.origin))).code, 'blocked-address');
      assert.equal(inner.connections, 0);
    });

    it('follows no redirect from https to http, to another scheme, or with a password', async () => {
      for (const location of ['http://127.0.0.1/', 'ftp://example.com/', 'https://a:b@example.com/', 'http://']) {
        const guard = new Guard(
          { isAllowed: () => true },
          { connections: { get: async () => redirect(location), classOf: async () => 'public', dispose() {} } },
        );
        assert.equal((await failure(get(guard, 'https://store.example/'))).code, 'bad-redirect');
      }
    });

    it('follows at most three redirects', async () => {
      const server = await serve((_, response) => response.writeHead(307, { location: '/again' }).end());
      assert.equal((await failure(get(guardFor({ allow: [server.origin] }), server.origin))).code, 'bad-redirect');
      assert.equal(server.seen.length, 4);
    });

    it('does not reach unlisted servers through an exposed one', async () => {
      const guard = guardFor({ listedOnly: true, ask: async (all) => all.map(({ origin }) => origin) });
      assert.equal((await failure(get(guard, 'http://8.8.8.8/'))).code, 'not-listed');
    });

    it('requests nothing that the user refused, and never asks about forbidden addresses', async () => {
      const asked: string[] = [];
      const guard = guardFor({
        ask: async (all) => {
          for (const { origin } of all) asked.push(origin);
          return [];
        },
      });
      assert.equal((await failure(get(guard, 'http://127.0.0.1:9/'))).code, 'blocked-address');
      assert.equal((await failure(get(guard, 'http://169.254.169.254/latest/meta-data'))).code, 'blocked-address');
      assert.deepEqual(asked, ['http://127.0.0.1:9']);
      // Until the user retries.
      guard.consent.forgetRefusals();
      assert.equal((await failure(get(guard, 'http://127.0.0.1:9/'))).code, 'blocked-address');
      assert.equal(asked.length, 2);
    });

    it('sends checked requests only over checked connections', async () => {
      const server = await serve((_, response) => response.end('ok'));
      let isAllowed = true;
      const guard = guardFor({ isAllowed: () => isAllowed }, async () => [{ address: '127.0.0.1', family: 4 }]);
      const url = `http://name.example:${new URL(server.origin).port}/`;
      await get(guard, url);
      isAllowed = false;
      assert.equal((await failure(get(guard, url))).code, 'blocked-address');
    });
  });

  it('uses the editor’s proxy only for allowed servers on other machines', async () => {
    const server = await serve((_request, response) => response.end('fine'));
    const port = new URL(server.origin).port;
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const far = `http://server.example:${port}`;
    const here = `http://localhost:${port}`;
    const guard = guardFor({ allow: [far, here] }, lookup);
    const through: unknown[] = [];
    const { request } = http;
    http.request = ((options: http.RequestOptions) => {
      through.push(options.hostname);
      return request(options);
    }) as typeof request;
    syncBuiltinESMExports();
    try {
      for (const origin of [far, here]) assert.equal(String((await get(guard, `${origin}/x`)).body), 'fine');
      await failure(get(guardFor({}, lookup), `${far}/x`));
    } finally {
      http.request = request;
      syncBuiltinESMExports();
    }
    assert.deepEqual(through, ['server.example']);
    assert.equal(server.seen.length, 2);
  });

  describe('keeps credentials with their server', () => {
    it('sends a token only to its own server', async () => {
      const b = await serve((_, response) => response.end('b'));
      const a = await serve((_, response) => response.writeHead(302, { location: `${b.origin}/x` }).end());
      const guard = guardFor({
        allow: [a.origin, b.origin],
        credentials: async (origin) => ({ authorization: `Bearer for ${origin}` }),
      });
      await get(guard, a.origin);
      await get(guard, b.origin);
      assert.equal(a.seen[0]?.headers.authorization, `Bearer for ${a.origin}`);
      // A redirect must not use the other server's token either.
      assert.deepEqual(
        b.seen.map(({ headers }) => headers.authorization),
        [undefined, `Bearer for ${b.origin}`],
      );
    });

    it('sends no cookies', async () => {
      const server = await serve((_, response) => response.writeHead(200, { 'set-cookie': 'id=1' }).end());
      const guard = guardFor({ allow: [server.origin] });
      await get(guard, server.origin);
      await get(guard, server.origin);
      assert.equal(server.seen[1]?.headers.cookie, undefined);
    });
  });
});

function redirect(location: string): IncomingMessage {
  const response = Object.assign(Readable.from([]), { statusCode: 302, headers: { location } });
  return response as unknown as IncomingMessage;
}
