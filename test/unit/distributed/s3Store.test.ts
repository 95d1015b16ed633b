// Sessions in a bucket: signatures as Amazon's own library makes them, servers that differ, and words for what goes wrong.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AwsV4Signer } from 'aws4fetch';
import { ParleyError } from '../../../src/base/errors';
import { Guard } from '../../../src/distributed/guard';
import { mintId } from '../../../src/distributed/model';
import { Resolver } from '../../../src/distributed/resolver';
import { objectUrl, presign, type S3Keys, type S3Place, signRequest } from '../../../src/distributed/s3Signer';
import { S3Store } from '../../../src/distributed/s3Store';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { closeServers, messageText, serve } from './loopback';

const never = new AbortController().signal;
const keys: S3Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const ODD_KEYS = [
  'plain',
  'with space',
  'a+b',
  'ü/日本/🙂',
  'a%2Fb',
  'a&b=c?d#e',
  "q'(1)!*~-_.",
  'x:y@z;,$|^`{}"<>\\[]',
  '%zz%',
  '.hidden/...',
];

function placeAt(endpoint: string, more: Partial<S3Place> = {}): S3Place {
  return { endpoint, region: 'us-east-1', bucket: 'acp', prefix: '', pathStyle: true, ...more };
}

async function failure(promise: Promise<unknown>): Promise<ParleyError> {
  const error = await promise.then(
    () => assert.fail('it worked'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ParleyError, String(error));
  return error;
}

describe('the signatures of the S3 store', () => {
  const place = placeAt('http://127.0.0.1:4568', { region: 'eu-west-1', prefix: 'a b/' });

  for (const key of ODD_KEYS) {
    it(`are refused by servers, or lead elsewhere, for a key like ${key}`, async () => {
      const sdk = new S3Client({
        endpoint: place.endpoint,
        region: place.region,
        forcePathStyle: true,
        credentials: keys,
      });
      const at = Date.UTC(2026, 10, 21, 5);
      const command = new GetObjectCommand({ Bucket: place.bucket, Key: place.prefix + key });
      const theirs = new URL(await getSignedUrl(sdk, command, { expiresIn: 60, signingDate: new Date(at) }));
      const ours = new URL(await presign(place, keys, key, 60, at));
      assert.equal(ours.pathname, theirs.pathname);
      // Their library adds parameters of its own: with the same ones the signature is the same.
      const url = objectUrl(place, key);
      for (const [name, value] of theirs.searchParams) {
        if (!/^X-Amz-(Algorithm|Credential|Date|SignedHeaders|Signature)$/.test(name))
          url.searchParams.set(name, value);
      }
      const { region } = place;
      const datetime = '20261121T050000Z';
      const again = await new AwsV4Signer({
        url: url.href,
        signQuery: true,
        ...keys,
        service: 's3',
        region,
        datetime,
      }).sign();
      assert.equal(again.url.searchParams.get('X-Amz-Signature'), theirs.searchParams.get('X-Amz-Signature'));
      assert.match(ours.searchParams.get('X-Amz-Signature') ?? '', /^[0-9a-f]{64}$/);
    });

    it(`differ in the headers for a key like ${key}`, async () => {
      let sent: { readonly path: string; readonly headers: Readonly<Record<string, string>> } | undefined;
      const requestHandler = {
        handle: async (request: typeof sent) => {
          sent = request;
          throw new Error('caught');
        },
      };
      const options = { endpoint: place.endpoint, region: place.region, forcePathStyle: true, credentials: keys };
      const sdk = new S3Client({ ...options, requestHandler: requestHandler as never, maxAttempts: 1 });
      await sdk.send(new HeadObjectCommand({ Bucket: place.bucket, Key: place.prefix + key })).catch(() => {});
      assert.ok(sent !== undefined);
      const { headers } = sent;
      const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
      const extra = signed.filter((name) => !/^(host|x-amz-date|x-amz-content-sha256)$/.test(name));
      const at = Date.parse(
        (headers['x-amz-date'] ?? '').replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'),
      );
      const request = {
        method: 'HEAD',
        key,
        headers: Object.fromEntries(extra.map((name) => [name, headers[name] ?? ''])),
      };
      const ours = await signRequest(place, keys, request, headers['x-amz-content-sha256'] ?? '', at);
      assert.equal(ours.headers.get('authorization'), headers.authorization);
      assert.equal(new URL(ours.url).pathname, sent.path);
    });
  }

  it('last longer than the protocol lets them, or name the bucket in the wrong place', async () => {
    const url = new URL(await presign(place, keys, 'x', 10 ** 9, 0));
    assert.equal(url.searchParams.get('X-Amz-Expires'), '604800');
    const virtual = objectUrl(placeAt('https://s3.example.com/base/', { pathStyle: false, prefix: 'p/' }), 'x y');
    assert.equal(virtual.href, 'https://acp.s3.example.com/base/p/x%20y');
  });

  it('can be made for a key that leaves its folder, or settings that cannot be right', () => {
    for (const key of ['', '/x', 'x/', 'a//b', '../x', 'a/../b', './x', 'a\u0000b', '\ud800', 'x'.repeat(1000)]) {
      assert.throws(() => objectUrl(place, key), /not valid/, JSON.stringify(key));
    }
    const wrong: Partial<S3Place>[] = [
      { endpoint: 'nonsense' },
      { endpoint: 'ftp://example.com' },
      { endpoint: 'https://u:p@example.com' },
      { endpoint: 'https://example.com/?x=1' },
      { bucket: '../x' },
      { bucket: '' },
      { region: 'a b' },
      { prefix: 'no-slash' },
      { prefix: '../' },
    ];
    for (const more of wrong) {
      const options = { place: { ...place, ...more }, keys };
      assert.throws(() => new S3Store(options), { code: /^bad-/ }, JSON.stringify(more));
    }
  });
});

/** What every S3-compatible server has to do, whoever made it. */
function behavesLikeABucket(
  storeOf: () => { readonly store: S3Store; readonly place: S3Place; readonly keys: S3Keys },
) {
  it('loses or changes what is written', async () => {
    const { store, place, keys: own } = storeOf();
    const { endpoint, region } = place;
    const sdk = new S3Client({ endpoint, region, forcePathStyle: place.pathStyle, credentials: own });
    for (const odd of ['plain', 'with space', 'a+b', 'ü/日本', "q'(1)!*~-_."]) {
      const key = `parley-test/${mintId()}/${odd}`;
      const bytes = Buffer.from(messageText(odd));
      const stored = await store.put(key, bytes, 'application/json', never);
      assert.equal(stored.state, 'stored');
      assert.deepEqual(Buffer.from(await store.get(key, never)), bytes);
      // Amazon's own library finds it under the same name, with its type.
      const theirs = await sdk.send(new GetObjectCommand({ Bucket: place.bucket, Key: place.prefix + key }));
      assert.equal(await theirs.Body?.transformToString(), bytes.toString());
      assert.equal(theirs.ContentType, 'application/json');
      const url = await store.urlFor(key, { expiresIn: 60 });
      assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), bytes);
      assert.equal(await store.keyOf(url), key);
      await store.remove(key, never);
      await store.remove(key, never);
      assert.equal((await failure(store.get(key, never))).code, 'not-found');
    }
    await sdk.send(
      new PutObjectCommand({ Bucket: place.bucket, Key: `${place.prefix}parley-test/theirs`, Body: 'theirs' }),
    );
    assert.equal(Buffer.from(await store.get('parley-test/theirs', never)).toString(), 'theirs');
    await sdk.send(new DeleteObjectCommand({ Bucket: place.bucket, Key: `${place.prefix}parley-test/theirs` }));
    sdk.destroy();
  });

  it('shows a link that has ended as a server that is broken', async () => {
    const { store, place, keys: own } = storeOf();
    const key = `parley-test/${mintId()}`;
    await store.put(key, Buffer.from(messageText('here')), 'application/json', never);
    const past = new S3Store({ place, keys: own, now: () => Date.now() - 3600_000 });
    const guard = new Guard({ isAllowed: () => true });
    const history = [await store.urlFor(key, { expiresIn: 60 }), await past.urlFor(key, { expiresIn: 60 })];
    const [good, ended] = await new Resolver({ guard }).resolveHistory({ id: 'session-123', history }, {}, never);
    guard.dispose();
    await store.remove(key, never);
    assert.equal(good?.kind, 'message');
    assert.ok(ended?.kind === 'gap' && ended.reason === 'expired', JSON.stringify(ended));
  });

  it('cannot tell a bucket that is missing', async () => {
    const { place, keys: own } = storeOf();
    const store = new S3Store({ place: { ...place, bucket: `missing-${mintId()}` }, keys: own });
    const error = await failure(store.put('x', Buffer.from('{}'), 'application/json', never));
    assert.match(error.code, /^(no-such-bucket|store-denied)$/);
    assert.ok(error.hint);
  });
}

describe('S3Store with s3rver', () => {
  let close: () => Promise<void>;
  let made: { store: S3Store; place: S3Place; keys: S3Keys };

  before(async () => {
    const S3rver = createRequire(import.meta.url)('s3rver') as new (
      options: unknown,
    ) => {
      run(): Promise<{ readonly port: number }>;
      close(): Promise<void>;
    };
    const directory = await scratchFolder();
    const server = new S3rver({
      port: 0,
      address: '127.0.0.1',
      silent: true,
      directory,
      configureBuckets: [{ name: 'acp' }],
    });
    const { port } = await server.run();
    close = () => server.close();
    const place = placeAt(`http://127.0.0.1:${port}`, { prefix: 'p/' });
    made = { store: new S3Store({ place, keys }), place, keys };
  });

  after(async () => {
    await close();
    await removeScratch();
  });

  behavesLikeABucket(() => made);

  it('tells that a server does not check signatures', async () => {
    assert.equal(await made.store.checksSignatures(never), false);
  });
});

const { PARLEY_TEST_S3_ENDPOINT: endpoint, PARLEY_TEST_S3_BUCKET: bucket } = process.env;
if (endpoint !== undefined && bucket !== undefined) {
  describe(`S3Store with ${endpoint}`, () => {
    const env = process.env;
    const own = {
      accessKeyId: env.PARLEY_TEST_S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.PARLEY_TEST_S3_SECRET_ACCESS_KEY ?? '',
    };
    const place = placeAt(endpoint, { bucket, region: env.PARLEY_TEST_S3_REGION ?? 'us-east-1', prefix: 'parley/' });
    const store = new S3Store({ place, keys: own });

    behavesLikeABucket(() => ({ store, place, keys: own }));

    it('lets anybody read with a signature that is wrong, or of another key', async function () {
      if (!(await store.checksSignatures(never))) this.skip();
      const key = `parley-test/${mintId()}`;
      await store.put(key, Buffer.from('{}'), 'application/json', never);
      const other = new S3Store({ place, keys: { ...own, secretAccessKey: 'wrong' } });
      assert.equal((await fetch(await other.urlFor(key, { expiresIn: 60 }))).status, 403);
      assert.equal((await failure(other.get(key, never))).code, 'store-denied');
      await store.remove(key, never);
    });
  });
}

describe('S3Store with servers that differ', () => {
  afterEach(closeServers);

  /** A bucket in memory. */
  async function bucketServer() {
    const objects = new Map<string, string>();
    const server = await serve((request, response) => {
      const url = new URL(request.url ?? '', 'http://x');
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (/^0+$/.test(url.searchParams.get('X-Amz-Signature') ?? '')) return response.writeHead(403).end();
        if (request.method === 'PUT') {
          objects.set(url.pathname, body);
          return response.writeHead(200).end();
        }
        if (request.method === 'DELETE') return response.writeHead(objects.delete(url.pathname) ? 204 : 404).end();
        return response.end(objects.get(url.pathname));
      });
    });
    return { store: new S3Store({ place: placeAt(server.origin), keys }), objects };
  }

  it('leaves nothing behind after it was tried out', async () => {
    const { store, objects } = await bucketServer();
    assert.equal(await store.checksSignatures(never), true);
    assert.equal(objects.size, 0);
  });

  it('leaves the user without a word on what to do', async () => {
    const cases: readonly (readonly [status: number, body: string, code: string, words: RegExp])[] = [
      [403, '<Error><Code>RequestTimeTooSkewed</Code></Error>', 'clock-skew', /clock of this machine/i],
      [
        403,
        '<Error><Code>SignatureDoesNotMatch</Code><Secret>s3cret</Secret></Error>',
        'store-denied',
        /SignatureDoesNotMatch/,
      ],
      [404, '<Error><Code>NoSuchBucket</Code></Error>', 'no-such-bucket', /bucket does not exist/],
      [404, '', 'not-found', /does not have/],
      [301, '<Error><Code>PermanentRedirect</Code></Error>', 'wrong-region', /region/],
      [400, '<Error><Code>AuthorizationHeaderMalformed</Code></Error>', 'wrong-region', /region/],
      [503, '<Error><Code>SlowDown</Code></Error>', 'store-down', /503/],
      [400, '<Error><Code>EntityTooLarge</Code></Error>', 'store-error', /EntityTooLarge/],
    ];
    for (const [status, body, code, words] of cases) {
      const server = await serve((_, response) => response.writeHead(status, { location: 'http://x/' }).end(body));
      const store = new S3Store({ place: placeAt(server.origin), keys });
      const error = await failure(store.get('x', never));
      assert.equal(error.code, code);
      assert.match(error.message, words);
      assert.ok(!error.message.includes('s3cret'));
    }
  });

  it('blames the key for a clock that is an hour ahead', async () => {
    const server = await serve((_, response) => response.writeHead(403).end('<Code>AccessDenied</Code>'));
    const store = new S3Store({ place: placeAt(server.origin), keys, now: () => Date.now() + 3600_000 });
    const error = await failure(store.put('x', Buffer.from('{}'), 'application/json', never));
    assert.match(error.message, /60 minutes ahead/);
  });

  it('takes a server that is off, or breaks off, for one that refuses', async () => {
    const server = await serve((request) => request.socket.destroy());
    const store = new S3Store({ place: placeAt(server.origin), keys });
    assert.equal((await failure(store.get('x', never))).code, 'store-down');
    await server.close();
    assert.equal((await failure(store.get('x', never))).code, 'store-down');
    const stopped = AbortSignal.abort();
    assert.equal((await failure(store.get('x', stopped))).code, 'cancelled');
  });

  it('takes URLs of others for its own', async () => {
    const store = new S3Store({ place: placeAt('https://s3.example.com', { prefix: 'mine/' }), keys });
    const cases: readonly (readonly [string, string | undefined])[] = [
      ['https://s3.example.com/acp/mine/a%20b?X-Amz-Signature=1', 'a b'],
      ['https://s3.example.com/acp/theirs/a', undefined],
      ['https://s3.example.com/acp/mine/', undefined],
      ['https://s3.example.com/other/mine/a', undefined],
      ['https://s3.example.com.evil.example/acp/mine/a', undefined],
      ['http://s3.example.com/acp/mine/a', undefined],
      ['https://s3.example.com/acp/mine/%zz', undefined],
      ['nonsense', undefined],
    ];
    for (const [url, key] of cases) assert.equal(await store.keyOf(url), key, url);
  });
});
