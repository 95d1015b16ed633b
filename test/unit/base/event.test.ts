// Events in the style of VS Code.
import { strict as assert } from 'node:assert';
import { Emitter } from '../../../src/base/event';

describe('Emitter', () => {
  it('calls a listener as often as it was added, until it is disposed', () => {
    const emitter = new Emitter<number>();
    const heard: number[] = [];
    const listener = (value: number): unknown => heard.push(value);
    const first = emitter.event(listener);
    emitter.event(listener);
    emitter.fire(1);
    first.dispose();
    first.dispose();
    emitter.fire(2);
    assert.deepEqual(heard, [1, 1, 2]);
  });

  it('does not call a listener that was added while it fires', () => {
    const emitter = new Emitter<void>();
    let calls = 0;
    emitter.event(() => emitter.event(() => calls++));
    emitter.fire();
    assert.equal(calls, 0);
  });

  it('calls the others if a listener throws', () => {
    const errors: unknown[] = [];
    const emitter = new Emitter<void>((error) => errors.push(error));
    let calls = 0;
    emitter.event(() => {
      throw new Error('broken');
    });
    emitter.event(() => calls++);
    emitter.fire();
    assert.equal(calls, 1);
    assert.equal(errors.length, 1);
  });
});
