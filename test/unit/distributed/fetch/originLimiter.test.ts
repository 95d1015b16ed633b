// Number and order of concurrent requests.
import { strict as assert } from 'node:assert';
import { Deferred } from '../../../../src/base/deferred';
import { OriginLimiter } from '../../../../src/distributed/fetch/originLimiter';

describe('the limiter of requests', () => {
  const open = new Map<string, Deferred<void>>();
  const begun: string[] = [];
  const job = (limiter: OriginLimiter, origin: string, name: string): Promise<void> =>
    limiter.run(origin, () => {
      begun.push(name);
      const done = new Deferred<void>();
      open.set(name, done);
      return done.promise;
    });
  const end = async (name: string): Promise<void> => {
    open.get(name)?.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(() => {
    open.clear();
    begun.length = 0;
  });

  it('starts the longest waiting job of an origin with a free slot', async () => {
    const limiter = new OriginLimiter(3, 2);
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => job(limiter, name[0] ?? '', name));
    assert.deepEqual(begun, ['a1', 'a2', 'b1']);
    await end('b1');
    assert.deepEqual(begun.slice(3), ['b2']);
    await end('a2');
    assert.deepEqual(begun.slice(4), ['a3']);
    await end('b2');
    assert.deepEqual(begun.slice(5), ['c1']);
    for (const name of ['a1', 'c1', 'a3', 'a4']) await end(name);
    await Promise.all(all);
    assert.equal(begun.at(-1), 'a4');
  });

  it('runs 20,000 jobs within the limit', async () => {
    const limiter = new OriginLimiter(8, 4);
    let [now, most, ran] = [0, 0, 0];
    const one = async (): Promise<void> => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      ran++;
    };
    await Promise.all(Array.from({ length: 20_000 }, (_, at) => limiter.run(`origin ${at % 3}`, one)));
    assert.deepEqual([ran, most], [20_000, 8]);
  });
});
