// A session as text, link or URL survives a round trip; anything else is rejected.
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { exportDescriptor, openDescriptor, parseDescriptor } from '../../../../src/distributed/fetch/descriptor';
import { Guard } from '../../../../src/distributed/fetch/guard';
import {
  carriesSignature,
  expiryOf,
  hashOf,
  isOnThisMachine,
  redactUrl,
  urlIdentity,
  withHash,
} from '../../../../src/distributed/model/resourceUrl';
import { closeServers, serve } from '../loopback';

const never = new AbortController().signal;
const presigned = 'https://s3.example/acp/1?X-Amz-Date=20260101T000000Z&X-Amz-Expires=3600&X-Amz-Signature=abc';
const descriptor = {
  id: 'session-123',
  history: [
    'http://resource-server-a/sessions/session-123/message-1',
    'http://resource-server-b/sessions/session-123/message 2?q=ü#sha256=x',
  ],
  state: 'http://resource-server-b/sessions/session-123/state',
  theirs: { kept: null },
};

describe('a session descriptor', () => {
  afterEach(closeServers);

  const read = (input: unknown) => {
    const source = parseDescriptor(input);
    assert.equal(source.kind, 'descriptor');
    return source.descriptor;
  };

  it('stays the same when it is exported and imported', () => {
    const { text, link, carriesSignatures, expiresAt } = exportDescriptor(descriptor);
    assert.match(link, /^vscode:\/\/parley\.parley\/session\?d=[\w-]+$/);
    for (const input of [text, ` ${text}\n`, link, link.replace('vscode', 'vscodium'), descriptor]) {
      assert.deepEqual(read(input), descriptor);
    }
    assert.deepEqual([carriesSignatures, expiresAt], [false, undefined]);
  });

  it('accepts variants of other servers: nulls, upper case, other ids', () => {
    const upstream = '{"id":"3F3487FD-0db3-42bd-8d03-a01add7f517a","history":null,"state":null}';
    assert.deepEqual(read(upstream), { id: '3F3487FD-0db3-42bd-8d03-a01add7f517a', history: [] });
  });

  it('is copied only after a warning if its recipient can read everything', () => {
    const signed = exportDescriptor({ ...descriptor, state: presigned });
    assert.deepEqual([signed.carriesSignatures, signed.expiresAt], [true, Date.UTC(2026, 0, 1, 1)]);
  });

  it('is rejected if invalid, without quoting it', () => {
    const cases: readonly (readonly [input: unknown, code: string])[] = [
      ['', 'bad-descriptor'],
      ['hello secret-text', 'bad-descriptor'],
      ['file:///etc/passwd', 'bad-descriptor'],
      ['vscode://other.extension/session?d=e30', 'bad-descriptor'],
      ['vscode://parley.parley/session', 'bad-descriptor'],
      ['vscode://parley.parley/session?d=', 'bad-descriptor'],
      ['vscode://parley.parley/session?d=!!!', 'bad-descriptor'],
      [
        `vscode://parley.parley/session?d=${deflateRawSync(Buffer.alloc(50_000_000)).toString('base64url')}`,
        'bad-descriptor',
      ],
      ['{secret-text', 'not-json'],
      [`{"id":"x","history":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'too-deep'],
      [`{"id":"x","x":"${'x'.repeat(17_000_000)}"}`, 'too-large'],
      [{ id: '../secret-text', history: [] }, 'invalid-data'],
      [{ id: 'x', history: ['ftp://secret-text/'] }, 'invalid-data'],
      [{ id: 'x', history: Array(20_001).fill('http://a/') }, 'session-full'],
      [{ id: 'x', history: [`http://a/${'x'.repeat(9000)}`] }, 'invalid-data'],
      [null, 'invalid-data'],
      [[], 'invalid-data'],
    ];
    for (const [input, code] of cases) {
      const label = String(JSON.stringify(input)).slice(0, 80);
      assert.throws(
        () => parseDescriptor(input),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, code, label);
          assert.doesNotMatch(error.message, /secret-text/);
          return true;
        },
      );
    }
  });

  it('is fetched from a server that has it, and only from allowed ones', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/sessions/session-123') response.end(JSON.stringify(descriptor));
      else if (request.url === '/sessions/denied') response.writeHead(403).end();
      else if (request.url === '/sessions/locked') response.writeHead(401).end();
      else if (request.url === '/sessions/broken') response.writeHead(502).end('<html>');
      else if (request.url === '/agents') response.end('{"agents":[]}');
      else response.writeHead(404).end();
    });
    const guard = new Guard({ isAllowed: (origin) => origin === server.origin });
    const strict = new Guard({ isAllowed: () => false });
    assert.deepEqual(await openDescriptor(`${server.origin}/sessions/session-123`, guard, never), descriptor);
    assert.deepEqual(await openDescriptor(descriptor, strict, never), descriptor);
    for (const [path, code] of [
      ['/sessions/other', 'session-not-found'],
      ['/sessions/denied', 'session-denied'],
      ['/sessions/locked', 'session-locked'],
      ['/sessions/broken', 'session-unavailable'],
      ['/agents', 'invalid-data'],
    ] as const) {
      await assert.rejects(openDescriptor(server.origin + path, guard, never), { code }, path);
    }
    await assert.rejects(openDescriptor(`${server.origin}/sessions/x`, strict, never), { code: 'blocked-address' });
    guard.dispose();
    strict.dispose();
  });
});

describe('the URL of a resource', () => {
  it('shows neither signature, nor user, nor fragment', () => {
    assert.equal(redactUrl(presigned), 'https://s3.example/acp/1?…');
    assert.equal(redactUrl('https://user:pw@host:8443/a?token=1#sha256=2'), 'https://host:8443/a?…');
    assert.equal(redactUrl('https://host/a'), 'https://host/a');
    assert.equal(redactUrl('secret'), '(not a URL)');
  });

  it('identifies the same object with another signature, and another one otherwise', () => {
    const again = presigned.replace('abc', 'def').replace('20260101', '20260201');
    assert.equal(urlIdentity(presigned), urlIdentity(again));
    assert.equal(
      urlIdentity('http://h/resources/1?exp=1&sig=a#sha256=x'),
      urlIdentity('HTTP://H:80/resources/1?exp=2&sig=b'),
    );
    const different = [
      'http://h/a',
      'http://h/b',
      'http://h/a?version=1',
      'https://h/a',
      'http://h:1/a',
      'http://h/A',
      'http://h/a?st=1',
      'http://h/a?st=2',
      'http://h/a?token=1',
    ];
    assert.equal(new Set(different.map(urlIdentity)).size, different.length);
  });

  it('is copied only after a warning if it signs in', () => {
    const secret = [presigned, 'http://u:p@h/', 'http://h/?sig=1', 'http://h/?X-Goog-Signature=1', 'http://h/?token=1'];
    assert.deepEqual(
      secret.map(carriesSignature),
      secret.map(() => true),
    );
    assert.deepEqual(['http://h/?q=signature', 'http://h/sig', 'nonsense'].map(carriesSignature), [
      false,
      false,
      false,
    ]);
  });

  it('is local depending only on its host', () => {
    const here = [
      '127.0.0.1:8000',
      '127.1',
      '0x7f000001',
      '[::1]:1',
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      '0.0.0.0',
    ];
    for (const host of here) assert.ok(isOnThisMachine(`http://${host}/x`), host);
    const elsewhere = ['example.com', '192.168.1.5', '10.0.0.1', '[2001:db8::1]', 'localhost.example.com', '128.0.0.1'];
    for (const host of elsewhere) assert.ok(!isOnThisMachine(`http://${host}/x`), host);
    assert.ok(!isOnThisMachine('127.0.0.1'));
    const history = ['http://127.0.0.1:1/a', 'https://example.com/b'];
    assert.equal(exportDescriptor({ id: 'a', history }).onThisMachine, 1);
    assert.equal(exportDescriptor({ id: 'a', history, state: 'http://localhost/s' }).onThisMachine, 2);
  });

  it('tells its expiry and keeps the hash', () => {
    assert.equal(expiryOf(presigned), Date.UTC(2026, 0, 1, 1));
    assert.equal(expiryOf('http://h/resources/1?exp=100&sig=a'), 100_000);
    for (const url of ['http://h/', 'http://h/?exp=x', 'http://h/?X-Amz-Expires=5', 'x'])
      assert.equal(expiryOf(url), undefined);
    const hash = 'a'.repeat(64);
    assert.equal(hashOf(withHash(presigned, hash)), hash);
    for (const url of ['http://h/#sha256=zz', `http://h/?sha256=${hash}`, 'x']) assert.equal(hashOf(url), undefined);
  });
});
