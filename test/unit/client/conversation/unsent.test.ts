// What goes with the next message.
import { strict as assert } from 'node:assert';
import { Unsent } from '../../../../src/client/conversation/unsent';
import type { QueuedAttachment } from '../../../../src/session/queue/queue';

function selection(id: string, uri: string, text: string): QueuedAttachment {
  return { id, kind: 'selection', label: 'a.ts:1', forms: [{ type: 'resource', uri, text }] };
}

describe('attachments of the next message', () => {
  it('hold the same lines once, as they were attached last', () => {
    const unsent = new Unsent(undefined, () => {});
    unsent.attach(selection('1', 'file:///a.ts#L1', 'old'));
    unsent.attach(selection('2', 'file:///a.ts#L2', 'other'));
    unsent.attach(selection('3', 'file:///a.ts#L1', 'new'));
    assert.deepEqual(
      unsent.attachments.map(({ id }) => id),
      ['2', '3'],
    );
  });

  it('keep pasted files of the same name', () => {
    const unsent = new Unsent(undefined, () => {});
    unsent.attach(selection('1', 'attachment:///a.txt', 'one'));
    unsent.attach(selection('2', 'attachment:///a.txt', 'two'));
    assert.equal(unsent.attachments.length, 2);
  });
});
