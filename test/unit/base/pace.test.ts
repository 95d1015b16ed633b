// What many sessions do at the same moment.
import { strict as assert } from 'node:assert';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { Pace } from '../../../src/base/pace';

describe('Pace', () => {
  it('runs the first piece immediately and each other one in an iteration of its own', async () => {
    const pace = new Pace();
    const done: string[] = [];
    for (const name of ['a', 'b', 'c']) pace.run(() => done.push(name));
    assert.deepEqual(done, ['a']);
    await nextIteration();
    assert.deepEqual(done, ['a', 'b']);
    await nextIteration();
    assert.deepEqual(done, ['a', 'b', 'c']);
  });

  it('does not wait in a later iteration', async () => {
    const pace = new Pace();
    assert.equal(pace.turn(), undefined);
    await nextIteration();
    await nextIteration();
    assert.equal(pace.turn(), undefined);
    const second = pace.turn();
    assert.ok(second);
    await second;
  });

  it('continues after a piece that throws', async () => {
    const pace = new Pace();
    assert.throws(() =>
      pace.run(() => {
        throw new Error('broken');
      }),
    );
    const done: string[] = [];
    pace.run(() => done.push('next'));
    await nextIteration();
    assert.deepEqual(done, ['next']);
  });
});
