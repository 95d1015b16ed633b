// Disposables are disposed in order, even if one of them throws.
import { strict as assert } from 'node:assert';
import { DisposableStore } from '../../../src/base/disposable';

describe('DisposableStore', () => {
  it('disposes all items in reverse order although one of them throws', () => {
    const ended: string[] = [];
    const store = new DisposableStore();
    const part = (name: string, fails = false) => ({
      dispose() {
        ended.push(name);
        if (fails) throw new Error(name);
      },
    });
    store.add(part('archive'));
    store.add(part('chat', true));
    store.add(part('server'));
    assert.throws(() => store.dispose(), { message: 'chat' });
    assert.deepEqual(ended, ['server', 'chat', 'archive']);
    store.dispose();
    assert.equal(ended.length, 3);
  });
});
