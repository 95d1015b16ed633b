// A chat while its resource server is down: nothing waits, nothing is lost, nothing changes its order.
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../../src/base/errors';
import type { ResourceStore } from '../../../src/distributed/resources';
import { S3Store } from '../../../src/distributed/s3Store';
import { WriteQueue, type WriteQueueOptions } from '../../../src/distributed/writeQueue';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { closeServers, serve } from './loopback';

const never = new AbortController().signal;

/** A store that does as it is told. */
class FakeStore implements ResourceStore {
  readonly id = 'fake';
  readonly isLocal = false;
  readonly written: string[] = [];
  readonly objects = new Map<string, Uint8Array>();
  failure: (key: string) => string | undefined = () => undefined;

  async put(key: string, bytes: Uint8Array) {
    const code = this.failure(key);
    if (code !== undefined) throw new ParleyError(code, 'told to fail');
    this.written.push(key);
    this.objects.set(key, bytes);
    return { key, sha256: '', bytes: bytes.length, state: 'stored' as const };
  }

  async get(key: string) {
    const bytes = this.objects.get(key);
    if (bytes === undefined) throw new ParleyError('not-found', 'not there');
    return bytes;
  }

  urlFor = async (key: string) => `http://fake/${key}`;
  keyOf = async () => undefined;
  remove = async (key: string) => {
    this.objects.delete(key);
  };
}

describe('WriteQueue', () => {
  const queues: WriteQueue[] = [];
  let store: FakeStore;
  let folder: string;

  beforeEach(async () => {
    store = new FakeStore();
    folder = await scratchFolder();
  });

  afterEach(async () => {
    for (const queue of queues.splice(0)) queue.dispose();
    await closeServers();
    await removeScratch();
  });

  async function open(options: Partial<WriteQueueOptions> = {}, over: ResourceStore = store): Promise<WriteQueue> {
    const queue = await WriteQueue.open(over, { folder, retryMs: 3600_000, ...options });
    queues.push(queue);
    return queue;
  }

  const put = (queue: WriteQueue, key: string) =>
    queue.put(key, Buffer.from(`bytes of ${key}`), 'application/json', never);

  it('keeps back what the server would take at once', async () => {
    const queue = await open();
    assert.equal((await put(queue, 'a')).state, 'stored');
    assert.deepEqual([store.written, queue.size, await readdir(folder)], [['a'], 0, []]);
  });

  it('loses messages that were written while the server was down, or sends them in another order', async () => {
    const queue = await open();
    store.failure = () => 'store-down';
    const keys = Array.from({ length: 12 }, (_, index) => `message-${index}`);
    for (const key of keys) assert.equal((await put(queue, key)).state, 'queued');
    assert.equal(Buffer.from(await queue.get('message-7', never)).toString(), 'bytes of message-7');
    store.failure = () => undefined;
    const flushed = new Promise<void>((resolve) => queue.onDidFlush(resolve));
    await queue.flush(never);
    await flushed;
    assert.deepEqual([store.written, queue.size, await readdir(folder)], [keys, 0, []]);
  });

  it('overtakes what is being sent', async () => {
    const queue = await open();
    await Promise.all(Array.from({ length: 20 }, (_, index) => put(queue, `m${index}`)));
    await queue.flush(never);
    assert.deepEqual(
      store.written,
      Array.from({ length: 20 }, (_, index) => `m${index}`),
    );
  });

  it('forgets with the window what it had not sent', async () => {
    const first = await open();
    store.failure = () => 'store-down';
    for (const key of ['a', 'b', 'c']) await put(first, key);
    first.dispose();
    store.failure = () => undefined;
    const second = await open();
    const flushed = new Promise<void>((resolve) => second.onDidFlush(resolve));
    await flushed;
    await put(second, 'd');
    assert.deepEqual(store.written, ['a', 'b', 'c', 'd']);
    assert.equal(Buffer.from(store.objects.get('b') ?? []).toString(), 'bytes of b');
  });

  it('sends half a message after the machine failed while it was written', async () => {
    const first = await open();
    store.failure = () => 'store-down';
    for (const key of ['a', 'b', 'c']) await put(first, key);
    first.dispose();
    const [, torn = ''] = (await readdir(folder)).sort();
    await writeFile(join(folder, torn), (await readFile(join(folder, torn))).subarray(0, -3));
    store.failure = () => undefined;
    const second = await open();
    await second.flush(never);
    assert.deepEqual(store.written, ['a', 'c']);
  });

  it('fills the disk while the server is down', async () => {
    const queue = await open({ maxItems: 2 });
    store.failure = () => 'store-denied';
    await put(queue, 'a');
    await put(queue, 'b');
    await assert.rejects(put(queue, 'c'), { code: 'queue-full' });
    const small = await open({ folder: await scratchFolder(), maxBytes: 10 });
    await assert.rejects(put(small, 'long-key'), { code: 'queue-full' });
  });

  it('waits for ever behind one object that the server will never take', async () => {
    const queue = await open();
    const refused: string[] = [];
    queue.onDidRefuse(({ key, error }) => refused.push(`${key} ${error.code}`));
    store.failure = (key) => (key === 'bad' ? 'store-error' : undefined);
    assert.equal((await put(queue, 'bad')).state, 'queued');
    await put(queue, 'good');
    assert.deepEqual([refused, store.written], [['bad store-error'], ['good']]);
    assert.equal(Buffer.from(await queue.get('bad', never)).toString(), 'bytes of bad');
  });

  it('does not begin again by itself when the server is back', async () => {
    const queue = await open({ retryMs: 1 });
    let failures = 0;
    store.failure = () => (failures++ < 3 ? 'store-down' : undefined);
    const flushed = new Promise<void>((resolve) => queue.onDidFlush(resolve));
    await put(queue, 'a');
    await flushed;
    assert.deepEqual([store.written, failures], [['a'], 4]);
  });

  it('holds up the chat for a server that hangs', async () => {
    const server = await serve(() => {});
    const place = { endpoint: server.origin, region: 'r', bucket: 'acp', prefix: '', pathStyle: true };
    const hanging = new S3Store({ place, keys: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const queue = await open({ patienceMs: 10 }, hanging);
    assert.equal((await put(queue, 'a')).state, 'queued');
    assert.equal(queue.size, 1);
  });
});
