// The state of a queued message decides what can be changed about it.
import { strict as assert } from 'node:assert';
import { PromptQueue } from '../../../../src/session/queue/queue';

describe('a queued message', () => {
  let queue: PromptQueue;
  const texts = (): string[] => queue.items.map(({ text }) => text);

  beforeEach(() => {
    queue = new PromptQueue(() => {});
  });

  for (const state of ['sending', 'accepted'] as const) {
    it(`keeps its text and position while ${state}`, () => {
      const away = queue.add('one', []);
      queue.add('two', []);
      queue.setState(away, state);
      assert.equal(queue.edit(away.id, 'changed'), false);
      assert.equal(queue.hold(away.id, true), false);
      assert.equal(queue.move(away.id, 1), false);
      queue.putNext(away.id);
      assert.deepEqual(texts(), ['one', 'two']);
      assert.equal(away.held, false);
      assert.equal(away.state, state);
      assert.deepEqual(
        queue.clear().map(({ text }) => text),
        ['two'],
      );
      assert.deepEqual(texts(), ['one']);
    });
  }

  it('does not hold up others after it failed, and is resent only if the user edits or moves it', () => {
    for (const release of [(id: string) => queue.edit(id, 'again'), (id: string) => queue.putNext(id)]) {
      queue = new PromptQueue(() => {});
      const failed = queue.add('one', []);
      const next = queue.add('two', []);
      queue.setState(failed, 'failed', 'in-doubt');
      assert.equal(queue.next(), next);
      release(failed.id);
      assert.equal(queue.next(), failed);
      assert.equal(failed.reason, undefined);
    }
  });

  it('never moves ahead of one that is being sent', () => {
    const away = queue.add('one', []);
    queue.add('two', []);
    const last = queue.add('three', []);
    queue.setState(away, 'sending');
    queue.putNext(last.id);
    assert.deepEqual(texts(), ['one', 'three', 'two']);
  });
});
