// Links into a bucket are shared only if others can read them: with a real server that checks
// signatures.

import assert from 'node:assert/strict';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { ensureReadable, UnreadableLinks } from '../../../../src/client/sharing/uploads';
import { mintId } from '../../../../src/distributed/model/model';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import type { S3Keys, S3Location } from '../../../../src/distributed/stores/s3Signer';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { BUCKET, BUCKET_KEYS, type BucketServer, startBucketServer } from '../../../support/servers/bucketServer';
import { WrittenLog } from '../../../support/sessions/messageLogs';
import { closeServers, serve } from '../../distributed/loopback';

const never = new AbortController().signal;

describe('links into a bucket', function () {
  this.timeout(20_000);
  let server: BucketServer;
  let place: S3Location;

  before(async () => {
    server = await startBucketServer({ directory: await scratchFolder() });
    const endpoint = `http://127.0.0.1:${server.port}`;
    place = { endpoint, region: 'us-east-1', bucket: BUCKET, prefix: 'p/', pathStyle: true };
  });
  afterEach(closeServers);
  after(async () => {
    await server.close();
    await removeScratch();
  });

  const bucketWith = (keys: Partial<S3Keys> = {}, endpoint = place.endpoint): S3Store =>
    new S3Store({ location: { ...place, endpoint }, keys: { ...BUCKET_KEYS, ...keys } });
  async function logIn(bucket: S3Store): Promise<WrittenLog> {
    const local = new LocalStore({ folder: await scratchFolder(), secret: Buffer.alloc(32), baseUrl: () => undefined });
    const fileStore = new FileStore(await scratchFolder());
    return new WrittenLog({ key: mintId(), stores: async () => [bucket, local], fileStore });
  }
  async function refusalOf(giving: Promise<unknown>): Promise<UnreadableLinks> {
    const error = await giving.then(
      () => assert.fail('they were given away'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof UnreadableLinks, String(error));
    return error;
  }

  it('are shared if everything that they lead to is available', async () => {
    const bucket = bucketWith();
    const log = await logIn(bucket);
    await log.say('one', 'two');
    const { history } = await log.descriptor();
    await ensureReadable([...history, 'https://elsewhere.example/1'], bucket, never);
    assert.equal((await fetch(history[0] ?? '')).status, 200);
  });

  it('are not shared while messages wait, with advice', async () => {
    const log = await logIn(bucketWith({ secretAccessKey: 'wrong' }));
    await log.say('one', 'two');
    const { message, hint, onlyLater } = await refusalOf(log.descriptor());
    assert.match(
      message,
      /^The storage server doesn't have all messages of this session yet: 2 of 2 are waiting\. .*SignatureDoesNot/,
    );
    assert.match(hint ?? '', /access key/);
    assert.equal(onlyLater, false);
  });

  it('are not shared if signed with a wrong key, even if the messages are available', async () => {
    const right = bucketWith();
    const log = await logIn(right);
    await log.say('one');
    const wrong = bucketWith({ secretAccessKey: 'wrong' });
    const key = (await right.keyOf((await log.descriptor()).history[0] ?? '')) ?? '';
    const forged = await wrong.urlFor(key, { expiresIn: 60 });
    assert.equal((await fetch(forged)).status, 403);
    const { message, onlyLater } = await refusalOf(ensureReadable([forged], wrong, never));
    assert.match(message, /^The links to the messages of this session can't be read\. .*denied access/);
    assert.equal(onlyLater, false);
  });

  it('wait for the upload, and are available in advance', async () => {
    const directory = await scratchFolder();
    const before = await startBucketServer({ directory });
    await before.close();
    const log = await logIn(bucketWith({}, `http://127.0.0.1:${before.port}`));
    await log.say('one', 'two');
    assert.equal((await refusalOf(log.descriptor())).onlyLater, true, 'nothing has to be changed for them to work');
    const { history: early } = await log.descriptor('later');
    const back = await startBucketServer({ directory, port: before.port });
    const { history } = await log.descriptor();
    for (const url of [...early, ...history]) assert.equal((await fetch(url)).status, 200);
    await back.close();
  });

  it('are not shared after the user has cancelled', async () => {
    const hanging = bucketWith({}, (await serve(() => {})).origin);
    const key = `${mintId()}.json`;
    const given = new AbortController();
    const reading = ensureReadable([await hanging.urlFor(key, { expiresIn: 60 })], hanging, given.signal);
    given.abort();
    await assert.rejects(reading, { code: 'cancelled' });
  });
});
