// How often the window is notified of a streaming session.
import { strict as assert } from 'node:assert';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { ChangeThrottle } from '../../../../src/workbench/sessions/changeThrottle';

describe('changes of sessions', () => {
  const told: string[] = [];
  let throttle: ChangeThrottle;

  beforeEach(() => {
    told.length = 0;
    throttle = new ChangeThrottle((key) => told.push(key));
  });
  afterEach(() => throttle.dispose());

  it('are reported in the next iteration after a pause, and then once for all that follow', async () => {
    for (let times = 0; times < 100; times++) throttle.changed('a');
    assert.deepEqual(told, []);
    await nextIteration();
    assert.deepEqual(told, ['a']);
    for (let times = 0; times < 100; times++) throttle.changed('a');
    await nextIteration();
    assert.deepEqual(told, ['a']);
    await delay(150);
    assert.deepEqual(told, ['a', 'a']);
    await delay(150);
    assert.deepEqual(told, ['a', 'a']);
  });

  it('are reported one session at a time', async () => {
    for (const key of ['a', 'b', 'c']) throttle.changed(key);
    await nextIteration();
    assert.deepEqual(told, ['a']);
    for (let times = 0; times < 4; times++) await nextIteration();
    assert.deepEqual(told, ['a', 'b', 'c']);
  });

  it('are not reported for a removed session', async () => {
    throttle.changed('a');
    throttle.forget('a');
    await delay(5);
    assert.deepEqual(told, []);
  });
});
