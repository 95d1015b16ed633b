// Wrong keys at a bucket: refused where the server looks at signatures, and said to be worth nothing where it does not.
import assert from 'node:assert/strict';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ParleyError } from '../../../../src/base/errors';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import { mintId } from '../../../../src/distributed/model/model';
import type { S3Location } from '../../../../src/distributed/stores/s3Signer';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type CheckedBucket, checkedBucket } from '../../../support/servers/checkedBucket';
import { messageText } from '../loopback';

const signal = new AbortController().signal;

describe('a bucket whose server checks signatures', function () {
  this.timeout(20_000);
  let server: CheckedBucket;
  let place: S3Location;
  let store: S3Store;

  before(async () => {
    server = await checkedBucket(await scratchFolder());
    const { endpoint, bucket, keys } = server;
    place = { endpoint, bucket, region: 'eu-west-1', prefix: 'a b/', pathStyle: true };
    store = new S3Store({ location: place, keys });
  });
  after(async () => {
    await server.close();
    await removeScratch();
  });

  const storeWith = (keys: Partial<typeof server.keys>): S3Store =>
    new S3Store({ location: place, keys: { ...server.keys, ...keys } });
  const put = (to: S3Store, key: string): Promise<unknown> =>
    to.put(key, Buffer.from(messageText('words')), 'application/json', signal);
  const denied = (error: unknown): boolean => error instanceof ParleyError && error.code === 'store-denied';

  it('takes what the right keys have signed, for odd names too', async () => {
    for (const odd of ['plain', 'with space', 'a+b', 'ü/日本', "q'(1)!*~-_."]) {
      const key = `${mintId()}/${odd}`;
      await put(store, key);
      assert.equal(Buffer.from(await store.get(key, signal)).toString(), messageText('words'));
      const url = await store.urlFor(key, { expiresIn: 60 });
      assert.equal(await (await fetch(url)).text(), messageText('words'));
    }
  });

  it('judges Amazon’s own library as it judges us', async () => {
    const { endpoint, region, bucket: Bucket } = place;
    const sdkWith = (secretAccessKey: string): S3Client =>
      new S3Client({ endpoint, region, forcePathStyle: true, credentials: { ...server.keys, secretAccessKey } });
    const [right, wrong] = [sdkWith(server.keys.secretAccessKey), sdkWith('wrong')];
    const Key = `${place.prefix}theirs`;
    await right.send(new PutObjectCommand({ Bucket, Key, Body: 'theirs' }));
    assert.equal(Buffer.from(await store.get('theirs', signal)).toString(), 'theirs');
    await assert.rejects(wrong.send(new GetObjectCommand({ Bucket, Key })), { name: 'SignatureDoesNotMatch' });
    right.destroy();
    wrong.destroy();
  });

  it('refuses to write, read or remove with a wrong secret or another key', async () => {
    const key = mintId();
    await put(store, key);
    for (const keys of [{ secretAccessKey: 'wrong' }, { accessKeyId: 'OTHER' }]) {
      const other = storeWith(keys);
      await assert.rejects(put(other, mintId()), denied);
      await assert.rejects(other.get(key, signal), denied);
      await assert.rejects(other.remove(key, signal), denied);
    }
    assert.ok((await store.get(key, signal)).length > 0, 'it is still there');
  });

  it('shows a gap for a forged link, and the rest of the history', async () => {
    const [first, second] = [mintId(), mintId()];
    await put(store, first);
    await put(store, second);
    const good = await store.urlFor(first, { expiresIn: 60 });
    const forged = await storeWith({ secretAccessKey: 'wrong' }).urlFor(first, { expiresIn: 60 });
    const moved = good.replace(first, second);
    assert.notEqual(moved, good);
    const guard = new Guard({ isAllowed: () => true });
    const history = [good, forged, moved];
    const entries = await new Resolver({ guard }).resolveHistory({ id: 'session-123', history }, {}, signal);
    guard.dispose();
    assert.deepEqual(
      entries.map((entry) => (entry.kind === 'gap' ? entry.reason : entry.kind)),
      ['message', 'forbidden', 'forbidden'],
    );
  });

  it('is known as one that looks', async () => {
    assert.deepEqual(await store.probe(signal), { checksSignatures: true });
  });
});
