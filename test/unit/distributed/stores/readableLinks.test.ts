// Links into a bucket are given away only when others can read them: with a real server of other people that checks signatures.
import assert from 'node:assert/strict';
import { ParleyError } from '../../../../src/base/errors';
import { mintId } from '../../../../src/distributed/model/model';
import { type Bucket, ensureReadable, UnreadableLinks } from '../../../../src/distributed/stores/readableLinks';
import type { S3Keys, S3Location } from '../../../../src/distributed/stores/s3Signer';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { WriteQueue } from '../../../../src/distributed/stores/writeQueue';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { BUCKET, BUCKET_KEYS, type BucketServer, startBucketServer } from '../../../support/servers/bucketServer';
import { closeServers, serve } from '../loopback';

const never = new AbortController().signal;

describe('links into a bucket', function () {
  this.timeout(20_000);
  let server: BucketServer;
  let place: S3Location;
  const queues: WriteQueue[] = [];

  before(async () => {
    server = await startBucketServer({ directory: await scratchFolder() });
    const endpoint = `http://127.0.0.1:${server.port}`;
    place = { endpoint, region: 'us-east-1', bucket: BUCKET, prefix: 'p/', pathStyle: true };
  });
  afterEach(async () => {
    for (const queue of queues.splice(0)) await queue.close();
    await closeServers();
  });
  after(async () => {
    await server.close();
    await removeScratch();
  });

  interface Made extends Bucket {
    readonly queue: WriteQueue;
    readonly store: S3Store;
  }
  async function bucketWith(more: { readonly keys?: Partial<S3Keys>; readonly endpoint?: string } = {}): Promise<Made> {
    const { keys, ...where } = more;
    const store = new S3Store({ location: { ...place, ...where }, keys: { ...BUCKET_KEYS, ...keys } });
    const queue = await WriteQueue.open(store, { folder: await scratchFolder(), retryMs: 3600_000 });
    queues.push(queue);
    return { queue, store };
  }
  async function linksOf(bucket: Made, count: number): Promise<string[]> {
    const urls: string[] = [];
    for (let index = 0; index < count; index++) {
      const key = `${mintId()}.json`;
      await bucket.queue.put(key, Buffer.from('{}'), 'application/json', never);
      urls.push(await bucket.queue.urlFor(key, { expiresIn: 60 }));
    }
    return urls;
  }
  async function refusalOf(urls: readonly string[], bucket: Bucket): Promise<UnreadableLinks> {
    const error = await ensureReadable(urls, bucket, never).then(
      () => assert.fail('they were given away'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof UnreadableLinks, String(error));
    return error;
  }

  it('are given away when everything behind them is there', async () => {
    const bucket = await bucketWith();
    const urls = await linksOf(bucket, 3);
    await ensureReadable([...urls, 'https://elsewhere.example/1'], bucket, never);
    assert.equal((await fetch(urls[0] ?? '')).status, 200);
  });

  it('are not given away while messages wait, with what to do', async () => {
    const bucket = await bucketWith({ keys: { secretAccessKey: 'wrong' } });
    const urls = await linksOf(bucket, 2);
    const { message, hint, onlyLater } = await refusalOf(['https://elsewhere.example/1', ...urls], bucket);
    assert.match(
      message,
      /^The storage server doesn't have all messages of this session yet: 2 of 2 are waiting\. .*SignatureDoesNot/,
    );
    assert.match(hint ?? '', /access key/);
    assert.equal(onlyLater, false);
  });

  it('are not given away where a wrong key has signed them, although the messages are there', async () => {
    const right = await bucketWith();
    await linksOf(right, 1);
    const wrong = await bucketWith({ keys: { secretAccessKey: 'wrong' } });
    const [url = ''] = await linksOf(right, 1);
    const key = (await right.queue.keyOf(url)) ?? '';
    const forged = await wrong.queue.urlFor(key, { expiresIn: 60 });
    assert.equal((await fetch(forged)).status, 403);
    const { message, onlyLater } = await refusalOf([forged], wrong);
    assert.match(message, /^The links to the messages of this session can't be read\. .*denied access/);
    assert.equal(onlyLater, false);
  });

  it('wait for what is sent just now, and are given away then', async () => {
    let isDown = true;
    const front = await serve(async (request, response) => {
      if (isDown) return response.writeHead(503).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = 'GET', headers } = request;
      const forwarded = Object.entries(headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name));
      const body = method === 'PUT' ? { body: Buffer.concat(chunks) } : {};
      const url = `${careless}${request.url ?? ''}`;
      const answer = await fetch(url, { method, headers: forwarded as [string, string][], ...body });
      return response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
    });
    // Its signatures name the front, which is another host.
    const behind = await startBucketServer({ directory: await scratchFolder(), takesAnySignature: true });
    const careless = `http://127.0.0.1:${behind.port}`;
    const bucket = await bucketWith({ endpoint: front.origin });
    const urls = await linksOf(bucket, 2);
    assert.equal((await refusalOf(urls, bucket)).onlyLater, true, 'nothing has to be changed for them to work');
    isDown = false;
    await ensureReadable(urls, bucket, never);
    assert.equal((await fetch(urls[1] ?? '')).status, 200);
    await behind.close();
  });

  it('are not held up by what waits of other sessions', async () => {
    const { store } = await bucketWith();
    const queue = {
      keyOf: async (url: string) => url.slice('own:'.length),
      isWaiting: (key: string) => key === 'other',
      flush: () => assert.fail('nothing of this session waits'),
    };
    await store.put('mine', Buffer.from('{}'), 'application/json', never);
    await ensureReadable(['own:mine'], { queue, store }, never);
  });

  it('are not given away after the user gave up', async () => {
    const hanging = await serve(() => {});
    const bucket = await bucketWith({ endpoint: hanging.origin });
    const aborter = new AbortController();
    const key = `${mintId()}.json`;
    const url = await bucket.queue.urlFor(key, { expiresIn: 60 });
    const writing = bucket.queue.put(key, Buffer.from('{}'), 'application/json', never);
    const given = ensureReadable([url], bucket, aborter.signal);
    aborter.abort();
    await assert.rejects(given, (error) => error instanceof ParleyError && error.code === 'cancelled');
    await writing;
  });
});
