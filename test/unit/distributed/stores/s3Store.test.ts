// Sessions in a bucket: signatures compared with Amazon's library, differing servers, and errors.
import assert from 'node:assert/strict';
import { promises } from 'node:dns';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ParleyError } from '../../../../src/base/errors';
import { Guard } from '../../../../src/distributed/fetch/guard';
import type { NameLookup } from '../../../../src/distributed/fetch/guardedConnections';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import { mintId } from '../../../../src/distributed/model/model';
import { objectUrl, presign, type S3Keys, type S3Location } from '../../../../src/distributed/stores/s3Signer';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { BUCKET_KEYS, type BucketServer, startBucketServer } from '../../../support/servers/bucketServer';
import { type CheckedBucket, checkedBucket } from '../../../support/servers/checkedBucket';
import { resolveLocalNames } from '../../../support/servers/localNames';
import { closeServers, messageText, serve } from '../loopback';

const never = new AbortController().signal;
const keys: S3Keys = BUCKET_KEYS;
const ODD_KEYS = ['plain', 'with space', 'a+b', 'ü/日本/🙂', 'a%2Fb', 'a&b=c?d#e', "q'(1)!*~-_.", '%zz%'] as const;

function placeAt(endpoint: string, more: Partial<S3Location> = {}): S3Location {
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
  const location = placeAt('http://127.0.0.1:4568', { region: 'eu-west-1', prefix: 'a b/' });

  it('last at most a week, and put the bucket in the host if configured', async () => {
    const url = new URL(await presign(location, keys, 'x', 10 ** 9, 0));
    assert.equal(url.searchParams.get('X-Amz-Expires'), '604800');
    const virtual = objectUrl(placeAt('https://s3.example.com/base/', { pathStyle: false, prefix: 'p/' }), 'x y');
    assert.equal(virtual.href, 'https://acp.s3.example.com/base/p/x%20y');
  });

  it('reject keys that leave their folder and invalid settings', () => {
    for (const key of ['', '/x', 'x/', 'a//b', '../x', 'a/../b', './x', 'a\u0000b', '\ud800', 'x'.repeat(1000)]) {
      assert.throws(() => objectUrl(location, key), /not valid/, JSON.stringify(key));
    }
    const wrong: Partial<S3Location>[] = [
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
      const options = { location: { ...location, ...more }, keys };
      assert.throws(() => new S3Store(options), { code: /^bad-/ }, JSON.stringify(more));
    }
  });

  it('reject an endpoint whose host name cannot contain the bucket', () => {
    const wrong: readonly (readonly [endpoint: string, bucket: string])[] = [
      ['http://127.0.0.1:4570', 'parley'],
      ['http://[::1]:4570', 'parley'],
      ['http://127.1:4570', 'parley'],
      ['https://s3.example.com', 'My_Bucket'],
      ['https://s3.example.com', 'two..dots'],
      ['https://s3.example.com', 'dash-'],
      ['https://s3.example.com', 'x'.repeat(64)],
    ];
    for (const [host, bucket] of wrong) {
      const options = { location: placeAt(host, { bucket, pathStyle: false }), keys };
      assert.throws(
        () => new S3Store(options),
        (error) => error instanceof ParleyError && error.code === 'bad-store' && /pathStyle/.test(error.hint ?? ''),
        `${host} ${bucket}`,
      );
    }
    for (const [host, bucket] of [
      ['http://localhost:4570', 'parley'],
      ['https://s3.example.com', 'my.own.bucket'],
    ] as const) {
      assert.ok(new S3Store({ location: placeAt(host, { bucket, pathStyle: false }), keys }));
    }
    assert.ok(new S3Store({ location: placeAt('http://127.0.0.1:4570', { bucket: 'My_Bucket' }), keys }));
  });
});

interface Bucket {
  readonly location: S3Location;
  readonly keys: S3Keys;
}

function behavesLikeABucket(bucketOf: () => Bucket) {
  const storeOf = (
    more: { readonly keys?: Partial<S3Keys>; readonly bucket?: string; now?(): number } = {},
  ): S3Store => {
    const { location, keys: right } = bucketOf();
    const { now, bucket = location.bucket } = more;
    return new S3Store({ location: { ...location, bucket }, keys: { ...right, ...more.keys }, ...(now && { now }) });
  };

  it('stores objects that the library of Amazon can read', async () => {
    const store = storeOf();
    const { location, keys: own } = bucketOf();
    const { endpoint, region } = location;
    const sdk = new S3Client({ endpoint, region, forcePathStyle: location.pathStyle, credentials: own });
    for (const odd of ODD_KEYS) {
      const key = `parley-test/${mintId()}/${odd}`;
      const bytes = Buffer.from(messageText(odd));
      await store.put(key, bytes, 'application/json', never);
      assert.deepEqual(Buffer.from(await store.get(key, never)), bytes);
      const theirs = await sdk.send(new GetObjectCommand({ Bucket: location.bucket, Key: location.prefix + key }));
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
      new PutObjectCommand({ Bucket: location.bucket, Key: `${location.prefix}parley-test/theirs`, Body: 'theirs' }),
    );
    assert.equal(Buffer.from(await store.get('parley-test/theirs', never)).toString(), 'theirs');
    await sdk.send(new DeleteObjectCommand({ Bucket: location.bucket, Key: `${location.prefix}parley-test/theirs` }));
    sdk.destroy();
  });

  it('distinguishes an expired link from a broken server', async () => {
    const store = storeOf();
    const key = `parley-test/${mintId()}`;
    await store.put(key, Buffer.from(messageText('here')), 'application/json', never);
    const past = storeOf({ now: () => Date.now() - 3600_000 });
    const history = [await store.urlFor(key, { expiresIn: 60 }), await past.urlFor(key, { expiresIn: 60 })];
    const lookup: NameLookup = (name) =>
      promises.lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, { all: true });
    const guard = new Guard({ isAllowed: () => true }, { lookup });
    const [good, ended] = await new Resolver({ guard }).resolveHistory({ id: 'session-123', history }, {}, never);
    guard.dispose();
    await store.remove(key, never);
    assert.equal(good?.kind, 'message');
    assert.ok(ended?.kind === 'gap' && ended.reason === 'expired', JSON.stringify(ended));
  });

  it('reports a missing bucket', async () => {
    const store = storeOf({ bucket: `missing-${mintId()}` });
    const error = await failure(store.put('x', Buffer.from('{}'), 'application/json', never));
    assert.match(error.code, /^(no-such-bucket|store-denied)$/);
    assert.ok(error.hint);
  });

  it('rejects wrong signatures and those of another key', async function () {
    const store = storeOf();
    if (!(await store.probe(never)).checksSignatures) this.skip();
    const key = `parley-test/${mintId()}`;
    await store.put(key, Buffer.from('{}'), 'application/json', never);
    for (const wrong of [{ secretAccessKey: 'wrong' }, { accessKeyId: 'OTHER' }]) {
      const other = storeOf({ keys: wrong });
      assert.equal((await fetch(await other.urlFor(key, { expiresIn: 60 }))).status, 403);
      const put = other.put(`${key}-other`, Buffer.from('{}'), 'application/json', never);
      for (const refused of [put, other.get(key, never), other.remove(key, never)])
        assert.equal((await failure(refused)).code, 'store-denied');
    }
    const moved = (await store.urlFor(`${key}-other`, { expiresIn: 60 })).replace(`${key}-other`, key);
    assert.equal((await fetch(moved)).status, 403);
    assert.ok((await store.get(key, never)).length > 0);
    await store.remove(key, never);
  });
}

describe('S3Store with a third-party server', function () {
  this.timeout(20_000);
  let server: BucketServer;
  let judged: CheckedBucket;
  let forgetNames: () => void;

  before(async () => {
    forgetNames = resolveLocalNames();
    server = await startBucketServer({ directory: await scratchFolder() });
    judged = await checkedBucket(await scratchFolder());
  });
  after(async () => {
    forgetNames();
    await server.close();
    await judged.close();
    await removeScratch();
  });

  for (const host of ['127.0.0.1', 's3.localhost']) {
    describe(`at ${host}, with the bucket in the path`, () => {
      behavesLikeABucket(() => ({ location: placeAt(`http://${host}:${server.port}`, { prefix: 'p/' }), keys }));
    });
  }

  describe('with the bucket in the host name', () => {
    behavesLikeABucket(() => ({ location: placeAt(judged.namedEndpoint, { prefix: 'p/', pathStyle: false }), keys }));
  });

  it('reports a server that does not check signatures', async () => {
    const careless = await startBucketServer({ directory: await scratchFolder(), takesAnySignature: true });
    const store = new S3Store({ location: placeAt(`http://127.0.0.1:${careless.port}`), keys });
    assert.deepEqual(await store.probe(never), { checksSignatures: false });
    await careless.close();
  });
});

const { PARLEY_TEST_S3_ENDPOINT: endpoint, PARLEY_TEST_S3_BUCKET: bucket } = process.env;
if (endpoint !== undefined && bucket !== undefined) {
  const { env } = process;
  const own = {
    accessKeyId: env.PARLEY_TEST_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.PARLEY_TEST_S3_SECRET_ACCESS_KEY ?? '',
  };
  const more = { bucket, region: env.PARLEY_TEST_S3_REGION ?? 'us-east-1', prefix: 'parley/' };
  for (const style of (env.PARLEY_TEST_S3_STYLES ?? 'path').split(',')) {
    describe(`S3Store with ${endpoint}, the bucket in the ${style}`, function () {
      this.timeout(60_000);
      behavesLikeABucket(() => ({ location: placeAt(endpoint, { ...more, pathStyle: style !== 'host' }), keys: own }));
    });
  }
}

describe('S3Store with differing servers', () => {
  afterEach(closeServers);

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
    return { store: new S3Store({ location: placeAt(server.origin), keys }), objects };
  }

  it('leaves nothing behind after a probe', async () => {
    const { store, objects } = await bucketServer();
    assert.deepEqual(await store.probe(never), { checksSignatures: true });
    assert.equal(objects.size, 0);
  });

  it('suggests a fix for each refusal, without quoting it', async () => {
    const error = (code: string): string => `<Error><Code>${code}</Code><Secret>s3cret</Secret></Error>`;
    const cases: readonly (readonly ['get' | 'put', number, body: string, code: string, words: RegExp])[] = [
      ['get', 403, error('RequestTimeTooSkewed'), 'clock-skew', /this machine's clock/i],
      ['get', 403, error('SignatureDoesNotMatch'), 'store-denied', /SignatureDoesNotMatch/],
      ['get', 404, error('NoSuchBucket'), 'no-such-bucket', /bucket doesn't exist/],
      ['get', 404, '', 'not-found', /doesn't have/],
      ['get', 301, error('PermanentRedirect'), 'wrong-region', /region/],
      ['get', 400, error('AuthorizationHeaderMalformed'), 'wrong-region', /region/],
      ['get', 503, error('SlowDown'), 'store-down', /503/],
      ['get', 400, error('EntityTooLarge'), 'store-error', /EntityTooLarge/],
      // Only an explicit error means a missing bucket; otherwise it is no S3 server.
      ['put', 404, '<html>nothing here</html>', 'wrong-endpoint', /^((?!bucket).)*$/i],
      ['put', 404, '', 'wrong-endpoint', /^((?!bucket).)*$/i],
      ['put', 404, '{"code":"NoSuchBucket"}', 'wrong-endpoint', /^((?!bucket).)*$/i],
      ['put', 405, 'Method Not Allowed', 'wrong-endpoint', /^((?!bucket).)*$/i],
      ['put', 404, error('NoSuchBucket'), 'no-such-bucket', /bucket doesn't exist/],
      ['put', 404, error('NoSuchKey'), 'not-found', /^((?!bucket).)*$/i],
      ['put', 501, error('NotImplemented'), 'store-error', /^((?!bucket).)*$/i],
    ];
    for (const [call, status, body, code, words] of cases) {
      const server = await serve((_, response) => response.writeHead(status, { location: 'http://x/' }).end(body));
      const store = new S3Store({ location: placeAt(server.origin), keys });
      const bytes = Buffer.from('{}');
      const found = await failure(call === 'get' ? store.get('x', never) : store.put('x', bytes, 'text/plain', never));
      assert.equal(found.code, code, `${call} ${status} ${body}`);
      assert.match(found.message, words);
      assert.ok(!found.message.includes('s3cret'));
    }
  });

  it('rejects keys with spaces or line breaks, without quoting them', () => {
    const fine = { accessKeyId: 'AKIAFINE', secretAccessKey: 'sesame/street+1', sessionToken: 'token=' };
    assert.ok(new S3Store({ location: placeAt('http://127.0.0.1:9'), keys: fine }));
    for (const field of ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const)
      for (const bad of [' AKIA', 'AK IA', 'AKIA\n', 'AK\r\nIA', 'AKIÄ', ''])
        assert.throws(
          () => new S3Store({ location: placeAt('http://127.0.0.1:9'), keys: { ...fine, [field]: bad } }),
          (error: unknown) => {
            assert.ok(error instanceof ParleyError && error.code === 'bad-store', `${field} ${JSON.stringify(bad)}`);
            assert.match(error.message, /spaces, line breaks/);
            assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /AKI|sesame|Signature/);
            return true;
          },
        );
  });

  it('probes a link too, and rejects a key that may write but not read', async () => {
    const objects = new Set<string>();
    const server = await serve((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x');
      if (request.method === 'PUT') objects.add(pathname);
      if (request.method === 'DELETE') objects.delete(pathname);
      request.resume();
      return response.writeHead(request.method === 'GET' ? 403 : 200).end();
    });
    const store = new S3Store({ location: placeAt(server.origin), keys });
    assert.equal((await failure(store.probe(never))).code, 'store-denied');
    assert.equal(objects.size, 0, 'nothing is left behind');
  });

  it('blames the clock instead of the key if it is an hour ahead', async () => {
    const server = await serve((_, response) => response.writeHead(403).end('<Code>AccessDenied</Code>'));
    const store = new S3Store({ location: placeAt(server.origin), keys, now: () => Date.now() + 3600_000 });
    const error = await failure(store.put('x', Buffer.from('{}'), 'application/json', never));
    assert.match(error.message, /60 minutes ahead/);
  });

  it('distinguishes unreachable servers from refusals', async () => {
    const server = await serve((request) => request.socket.destroy());
    const store = new S3Store({ location: placeAt(server.origin), keys });
    assert.equal((await failure(store.get('x', never))).code, 'store-down');
    await server.close();
    assert.equal((await failure(store.get('x', never))).code, 'store-down');
    const stopped = AbortSignal.abort();
    assert.equal((await failure(store.get('x', stopped))).code, 'cancelled');
  });

  it('retries each request once after a broken connection', async () => {
    let breaks = 0;
    const server = await serve((request, response) => {
      if (breaks-- > 0) request.socket.destroy();
      else response.end('{}');
    });
    const store = new S3Store({ location: placeAt(server.origin), keys });
    const requests = [
      () => store.put('x', Buffer.from('{}'), 'application/json', never),
      () => store.get('x', never),
      () => store.probeLink('x', never),
      () => store.remove('x', never),
    ];
    for (const request of requests) {
      breaks = 1;
      await request();
    }
    assert.equal(server.seen.length, 2 * requests.length);
  });

  it('recognizes its own URLs', async () => {
    const store = new S3Store({ location: placeAt('https://s3.example.com', { prefix: 'mine/' }), keys });
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
