// Queued messages that are edited in one or two pages: a closed page holds none.

import assert from 'node:assert/strict';
import { EditHolds } from '../../../../src/client/requests/editHolds';
import { PromptQueue } from '../../../../src/session/queue/queue';
import { pluck } from '../../../support/pluck';

describe('a queued message that is being edited', () => {
  let queue: PromptQueue;
  let edits: EditHolds;
  let released: number;
  const panel = { name: 'panel' };
  const view = { name: 'view' };

  beforeEach(() => {
    released = 0;
    queue = new PromptQueue(() => {});
    edits = new EditHolds(queue, () => {
      released += 1;
    });
    queue.add('first', []);
    queue.add('second', []);
    edits.hold('q1', panel);
  });

  it('is not sent, nor is the message after it', () => {
    assert.equal(queue.next(), undefined);
  });

  it('can be sent once its page is closed', () => {
    edits.releaseAll(panel);
    assert.equal(released, 1);
    assert.equal(queue.next()?.id, 'q1');
  });

  it('waits for both pages in which it is edited', () => {
    edits.hold('q1', view);
    edits.releaseAll(view);
    assert.equal(queue.next(), undefined);
    edits.release('q1', panel);
    assert.equal(queue.next()?.id, 'q1');
  });

  it('is not held again by a page that was released before', () => {
    edits.release('q1', view);
    assert.equal(queue.next(), undefined, 'a page that did not hold it releases nothing');
    edits.releaseAll(panel);
    edits.releaseAll(panel);
    assert.equal(released, 1);
  });

  it('is sent next if the user requests it', () => {
    queue.putNext('q1');
    assert.equal(queue.next()?.id, 'q1');
  });
});

describe('a queue that was cleared', () => {
  it('is restored by Undo, before messages queued since', () => {
    const queue = new PromptQueue(() => {});
    for (const text of ['one', 'two']) queue.add(text, []);
    queue.pause('by-user');
    const { paused } = queue;
    const gone = queue.clear();
    queue.add('three', []);
    queue.unclear(gone, paused);
    assert.deepEqual(pluck(queue.items, 'text'), ['one', 'two', 'three']);
    assert.equal(queue.paused, 'by-user');
    assert.equal(queue.next(), undefined, 'nothing is sent that waited');
  });
});
