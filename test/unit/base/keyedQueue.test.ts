// Jobs of one key run one after another.
import assert from 'node:assert/strict';
import { Deferred } from '../../../src/base/deferred';
import { KeyedQueue } from '../../../src/base/keyedQueue';

describe('KeyedQueue', () => {
  it('runs two jobs of one key in order, even if the first is slow', async () => {
    const queue = new KeyedQueue<string>();
    const slow = new Deferred<void>();
    const seen: string[] = [];
    const first = queue.run('a', async () => {
      await slow.promise;
      seen.push('first');
    });
    const second = queue.run('a', async () => {
      seen.push('second');
    });
    await queue.run('b', async () => {
      seen.push('other');
    });
    assert.deepEqual(seen, ['other']);
    slow.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(seen, ['other', 'first', 'second']);
  });

  it('continues after a failure, and forgets finished keys', async () => {
    const queue = new KeyedQueue<string>();
    const failing = queue.run('a', () => Promise.reject(new Error('no')));
    const next = queue.run('a', async () => 'yes');
    await assert.rejects(failing, /no/);
    assert.equal(await next, 'yes');
    const last = await queue.run('a', async () => queue.size);
    assert.equal(last, 1);
    await queue.run('b', async () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(queue.size, 0);
  });
});
