// Links of a history for their readers: origin and reachability.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { StoreLinks } from '../../../../src/distributed/fetch/historyLinks';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import { gapOf } from '../../../../src/distributed/model/gap';
import { type Message, textPart } from '../../../../src/distributed/model/model';
import { DEFAULT_URL_SECONDS, type ResourceStore } from '../../../../src/distributed/model/resources';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { textIn } from '../../../support/servers/servedAgents';
import { messageText } from '../loopback';
import { guardFor } from './resolvers';

const signal = new AbortController().signal;
const ID = '00000000-0000-4000-8000-000000000001';
const KEY = `sessions/s/00000000-${ID}.json`;

const bucketAt = (endpoint: string): S3Store =>
  new S3Store({
    location: { endpoint, region: 'r', bucket: 'parley', prefix: '', pathStyle: true },
    keys: { accessKeyId: 'k', secretAccessKey: 's' },
  });

const wordsOf = (read: string | Message): string => (typeof read === 'string' ? read : textIn(read));

describe('the links of a history', () => {
  let here: string | undefined;
  let local: LocalStore;

  beforeEach(async () => {
    here = 'http://127.0.0.1:4100';
    local = new LocalStore({
      folder: join(await scratchFolder(), 'messages'),
      secret: randomBytes(32),
      baseUrl: () => here,
    });
    await local.put(KEY, Buffer.from(messageText('mine')), 'application/json', signal);
  });
  afterEach(removeScratch);

  const linksOf = (...stores: ResourceStore[]): StoreLinks => {
    const resolver = new Resolver({ guard: guardFor({}), stores });
    return new StoreLinks({
      stores: async () => stores,
      resolver: async () => resolver,
      prober: () => resolver,
      isOfSession: (key) => key.startsWith('sessions/s/'),
    });
  };

  it('are withheld from agent servers if they lead to this window', async () => {
    const links = linksOf(local);
    const url = await local.urlFor(KEY, { expiresIn: DEFAULT_URL_SECONDS });
    assert.equal(await links.fresh(url, 'https://far.test'), undefined);
    assert.equal(await links.fresh(url, 'http://127.0.0.1:8801'), undefined);
    assert.equal(wordsOf(await links.read(url, signal)), 'mine');
    here = undefined;
    assert.equal(await links.fresh(url, 'http://127.0.0.1:8801'), undefined);
  });

  it('use the current or the public address when handed out', async () => {
    const url = await local.urlFor(KEY, { expiresIn: DEFAULT_URL_SECONDS });
    here = 'http://127.0.0.1:4200';
    const links = linksOf(local);
    assert.match((await links.fresh(url, undefined)) ?? '', /^http:\/\/127\.0\.0\.1:4200\/resources\//);
    here = 'https://tunnel.test';
    assert.match((await links.fresh(url, 'https://far.test')) ?? '', /^https:\/\/tunnel\.test\/resources\//);
  });

  it('are retried after a broken connection, but not if the message is missing', async () => {
    const asked: string[] = [];
    const links = new StoreLinks({
      stores: async () => [],
      resolver: async () => ({
        resolveEntry: async (url, index) => {
          asked.push(url);
          if (url.endsWith('gone')) return gapOf(index, url, 'not-found');
          if (url.endsWith('down') || asked.length < 3) return gapOf(index, url, 'connection-lost');
          const message = { role: 'agent', parts: [textPart('said')] };
          return { kind: 'message', index, url, message, sha256: '', bytes: 1, source: 'network' };
        },
      }),
      prober: () => assert.fail(),
      isOfSession: () => false,
      retryMs: [0, 0, 0],
    });
    assert.equal(wordsOf(await links.read('https://far.test/cut', signal)), 'said');
    assert.match(String(await links.read('https://far.test/gone', signal)), /no longer has it/);
    assert.match(String(await links.read('https://far.test/down', signal)), /was lost/);
    const tries = ['cut', 'gone', 'down'].map((end) => asked.filter((url) => url.endsWith(end)).length);
    assert.deepEqual(tries, [3, 1, 4]);
  });

  it('stay unchanged for the server that signed them', async () => {
    const url = await local.urlFor(KEY, { expiresIn: DEFAULT_URL_SECONDS });
    assert.equal(await linksOf(local).fresh(url, 'http://127.0.0.1:4100'), url);
  });

  it('are re-signed if they lead to the bucket and belong to the session', async () => {
    const bucket = bucketAt('https://s3.test');
    const links = linksOf(bucket, local);
    const old = `https://s3.test/parley/${KEY}?X-Amz-Signature=old`;
    const signed = (await links.fresh(old, 'https://far.test')) ?? '';
    assert.match(signed, /^https:\/\/s3\.test\/parley\/sessions\/s\/.*X-Amz-Signature=(?!old)/);
    assert.equal(await links.fresh(old, 'https://far.test'), signed, 'it lasts for hours');
    const lasting = signed.replace(/X-Amz-Signature=\w+/, 'X-Amz-Signature=wrong');
    assert.equal(await links.fresh(lasting, 'https://far.test'), signed);
    const others = 'https://s3.test/parley/sessions/other/1.json?X-Amz-Signature=old';
    assert.equal(await links.fresh(others, 'https://far.test'), others);
  });

  it('are withheld from agent servers while the bucket rejects our signatures', async () => {
    const bucket = bucketAt('https://s3.test');
    let refusesKeys = true;
    const store: ResourceStore = {
      id: bucket.id,
      isLocal: false,
      put: () => assert.fail(),
      remove: () => assert.fail(),
      get: (key) => local.get(key, signal),
      urlFor: (key, options) => bucket.urlFor(key, options),
      keyOf: (one) => bucket.keyOf(one),
      get refusesKeys() {
        return refusesKeys;
      },
    };
    const links = linksOf(store, local);
    const url = await bucket.urlFor(KEY, { expiresIn: 60 });
    assert.equal(await links.fresh(url, 'https://far.test'), undefined);
    assert.equal(wordsOf(await links.read(url, signal)), 'mine', 'it goes along with the run');
    assert.match((await links.fresh(url, undefined)) ?? '', /X-Amz-Signature/);
    refusesKeys = false;
    assert.match((await links.fresh(url, 'https://far.test')) ?? '', /X-Amz-Signature/);
  });

  it('are withheld from remote readers if they lead to this machine', async () => {
    const links = linksOf(bucketAt('http://127.0.0.1:4570'), local);
    const stored = `http://127.0.0.1:4570/parley/${KEY}`;
    const foreign = 'http://localhost:8801/resources/1';
    assert.equal(await links.fresh(stored, 'https://far.test'), undefined);
    assert.match((await links.fresh(stored, 'http://localhost:8801')) ?? '', /X-Amz-Signature/);
    assert.equal(await links.fresh(foreign, 'https://far.test'), undefined);
    assert.equal(await links.fresh(foreign, 'http://127.0.0.1:8802'), foreign);
  });
});
