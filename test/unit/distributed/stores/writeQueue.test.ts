// A chat while its storage server is down: nothing waits, nothing is lost, nothing changes its order.
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import { S3Store } from '../../../../src/distributed/stores/s3Store';
import { WriteQueue, type WriteQueueOptions } from '../../../../src/distributed/stores/writeQueue';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { closeServers, serve } from '../loopback';

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
    return { key, sha256: '', bytes: bytes.length };
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

  const until = async (queue: WriteQueue, holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => queue.onDidChange(() => resolve()));
  };

  const put = (queue: WriteQueue, key: string) =>
    queue.put(key, Buffer.from(`bytes of ${key}`), 'application/json', never);

  it('sends at once what the server takes', async () => {
    const queue = await open();
    await put(queue, 'a');
    assert.equal(queue.isWaiting('a'), false);
    assert.deepEqual([store.written, queue.state, await readdir(folder)], [['a'], { waiting: 0 }, []]);
  });

  it('keeps what is written while the server is down, and sends it in its order', async () => {
    const queue = await open();
    store.failure = () => 'store-down';
    const keys = Array.from({ length: 12 }, (_, index) => `message-${index}`);
    for (const key of keys) await put(queue, key);
    assert.ok(keys.every((key) => queue.isWaiting(key)));
    assert.equal(Buffer.from(await queue.get('message-7', never)).toString(), 'bytes of message-7');
    store.failure = () => undefined;
    await queue.flush(never);
    assert.deepEqual([store.written, queue.state, await readdir(folder)], [keys, { waiting: 0 }, []]);
  });

  it('tries once more at once where a connection breaks, and waits then', async () => {
    const queue = await open();
    let asked = 0;
    store.failure = () => (asked++ % 2 === 0 ? 'store-down' : undefined);
    for (const key of ['a', 'b', 'c']) await put(queue, key);
    assert.deepEqual([store.written, asked], [['a', 'b', 'c'], 6]);
    asked = 0;
    store.failure = () => {
      asked++;
      return 'store-down';
    };
    await put(queue, 'd');
    assert.deepEqual([queue.isWaiting('d'), asked], [true, 2]);
  });

  it('does not overtake what is being sent', async () => {
    const queue = await open();
    await Promise.all(Array.from({ length: 20 }, (_, index) => put(queue, `m${index}`)));
    await queue.flush(never);
    assert.deepEqual(
      store.written,
      Array.from({ length: 20 }, (_, index) => `m${index}`),
    );
  });

  it('sends what another window had not sent', async () => {
    const first = await open();
    store.failure = () => 'store-down';
    for (const key of ['a', 'b', 'c']) await put(first, key);
    first.dispose();
    store.failure = () => undefined;
    const second = await open();
    await until(second, () => second.state.waiting === 0);
    await put(second, 'd');
    assert.deepEqual(store.written, ['a', 'b', 'c', 'd']);
    assert.equal(Buffer.from(store.objects.get('b') ?? []).toString(), 'bytes of b');
  });

  it('sends no half of a message after the machine failed while it was written', async () => {
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

  it('keeps a bounded number of messages and bytes while the server is down', async () => {
    const queue = await open({ maxItems: 2 });
    store.failure = () => 'store-denied';
    await put(queue, 'a');
    await put(queue, 'b');
    await assert.rejects(put(queue, 'c'), { code: 'queue-full' });
    const small = await open({ folder: await scratchFolder(), maxBytes: 10 });
    await assert.rejects(put(small, 'long-key'), { code: 'queue-full' });
  });

  it('sends what is behind an object that the server will never take, and counts that object', async () => {
    const queue = await open();
    store.failure = (key) => (key === 'bad' ? 'store-error' : undefined);
    await put(queue, 'bad');
    await put(queue, 'good');
    assert.deepEqual(store.written, ['good']);
    const { waiting, problem } = queue.state;
    assert.deepEqual([waiting, problem?.code, queue.isWaiting('bad')], [1, 'store-error', true]);
    assert.equal(Buffer.from(await queue.get('bad', never)).toString(), 'bytes of bad');
    store.failure = () => undefined;
    await queue.flush(never);
    assert.deepEqual([store.written, queue.state], [['good', 'bad'], { waiting: 0 }]);
  });

  it('resumes when a server that was down is back', async () => {
    const queue = await open({ retryMs: 1 });
    let failures = 0;
    store.failure = () => (failures++ < 3 ? 'store-down' : undefined);
    await put(queue, 'a');
    await until(queue, () => queue.state.waiting === 0);
    assert.deepEqual([store.written, failures], [['a'], 4]);
  });

  for (const code of ['store-denied', 'no-such-bucket', 'wrong-region', 'clock-skew']) {
    it(`says why and does not retry on its own after ${code}, until told to`, async () => {
      let asked = 0;
      store.failure = () => {
        asked++;
        return code;
      };
      const queue = await open({ retryMs: 0, now: () => 1000 });
      await put(queue, 'a');
      const { waiting, since, problem } = queue.state;
      assert.deepEqual([waiting, since, problem?.code], [1, 1000, code]);
      assert.ok(queue.isUnreadable('a') && queue.isUnreadable('stored before'), 'no signature of ours is taken');
      // A timer of no time has run when a later one has.
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(asked, 1);
      await assert.rejects(queue.flush(never), { code });
      store.failure = () => undefined;
      await put(queue, 'b');
      assert.deepEqual([store.written, queue.state], [['a', 'b'], { waiting: 0 }]);
    });
  }

  it('continues after a caller gave up', async () => {
    const queue = await open({ retryMs: 0 });
    store.failure = () => 'cancelled';
    await put(queue, 'a');
    assert.equal(queue.state.problem, undefined);
    store.failure = () => undefined;
    await until(queue, () => queue.state.waiting === 0);
    assert.deepEqual(store.written, ['a']);
  });

  it('removes what waits, what is being sent and what was sent', async () => {
    const sending = new Deferred<void>();
    const begun = new Deferred<void>();
    const slow: ResourceStore = {
      id: 'slow',
      isLocal: false,
      get: (key) => store.get(key),
      urlFor: store.urlFor,
      keyOf: store.keyOf,
      remove: store.remove,
      put: async (key, bytes) => {
        begun.resolve();
        await sending.promise;
        return store.put(key, bytes);
      },
    };
    const queue = await open({ patienceMs: 0 }, slow);
    for (const key of ['a', 'b', 'c']) await put(queue, key);
    await begun.promise;
    const removed = [queue.remove('a', never), queue.remove('b', never)];
    sending.resolve();
    await Promise.all(removed);
    await queue.flush(never);
    assert.deepEqual([store.written, [...store.objects.keys()]], [['a', 'c'], ['c']]);
    await queue.remove('c', never);
    assert.deepEqual([[...store.objects.keys()], await readdir(folder)], [[], []]);
  });

  it('says that an object may still be there where the server does not remove it', async () => {
    const queue = await open();
    await put(queue, 'a');
    store.remove = async () => {
      throw new ParleyError('store-down', 'told to fail');
    };
    await assert.rejects(queue.remove('a', never), { code: 'store-down' });
  });

  it('has all in its folder when it is closed, and takes nothing after that', async () => {
    const queue = await open();
    store.failure = () => 'store-down';
    const putting = put(queue, 'a');
    await queue.close();
    await putting;
    assert.equal((await readdir(folder)).length, 1);
    await assert.rejects(put(queue, 'b'), { code: 'cancelled' });
    assert.equal((await readdir(folder)).length, 1);
  });

  it('does not hold up the chat for a server that hangs', async () => {
    const server = await serve(() => {});
    const place = { endpoint: server.origin, region: 'r', bucket: 'acp', prefix: '', pathStyle: true };
    const hanging = new S3Store({ location: place, keys: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const queue = await open({ patienceMs: 10 }, hanging);
    await put(queue, 'a');
    assert.equal(queue.isWaiting('a'), true);
  });

  it('waits once, and not with each message, for a server that hangs', async () => {
    const server = await serve(() => {});
    const place = { endpoint: server.origin, region: 'r', bucket: 'acp', prefix: '', pathStyle: true };
    const hanging = new S3Store({ location: place, keys: { accessKeyId: 'a', secretAccessKey: 'b' } });
    const queue = await open({ patienceMs: 17 }, hanging);
    const setTimer = globalThis.setTimeout;
    let waits = 0;
    globalThis.setTimeout = ((run: () => void, ms?: number) => {
      if (ms === 17) waits++;
      return setTimer(run, ms);
    }) as typeof setTimeout;
    try {
      for (const key of ['a', 'b', 'c', 'd']) await put(queue, key);
    } finally {
      globalThis.setTimeout = setTimer;
    }
    assert.deepEqual([waits, queue.state.waiting], [1, 4]);
  });
});
