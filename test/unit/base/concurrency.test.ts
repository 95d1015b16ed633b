// Bounded concurrency.
import assert from 'node:assert/strict';
import { setImmediate as tick } from 'node:timers/promises';
import { mapConcurrently } from '../../../src/base/keyedQueue';

describe('base/mapConcurrently', () => {
  it('returns results in the order of the items within the limit', async () => {
    const items = Array.from({ length: 500 }, (_, index) => index);
    let running = 0;
    let most = 0;
    const results = await mapConcurrently(items, 7, async (item) => {
      most = Math.max(most, ++running);
      // Later items finish first.
      for (let left = item % 5; left < 5; left++) await tick();
      running--;
      return item * 2;
    });
    assert.equal(most, 7);
    assert.deepEqual(
      results,
      items.map((item) => item * 2),
    );
  });

  it('starts no further run after a failure', async () => {
    let runs = 0;
    await assert.rejects(
      mapConcurrently([1, 2, 3, 4, 5, 6, 7, 8], 2, async () => {
        runs++;
        await tick();
        throw new Error('broken');
      }),
      /broken/,
    );
    assert.equal(runs, 2);
  });

  it('returns an empty list for no items', async () => {
    assert.deepEqual(await mapConcurrently([], 3, async () => 1), []);
  });
});
