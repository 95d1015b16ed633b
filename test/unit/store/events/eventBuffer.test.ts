// Buffered events: superseded ones are never written.
import { strict as assert } from 'node:assert';
import type { ToolPatch } from '../../../../src/session/events/event';
import { EventBuffer } from '../../../../src/store/events/eventBuffer';

describe('buffered events', () => {
  it('omit updates of a call that later ones replace, even with undefined fields', () => {
    const buffer = new EventBuffer();
    const patches: ToolPatch[] = [
      { title: 'Build', status: 'pending' },
      { title: undefined, content: undefined, status: 'in_progress' },
      { status: 'completed' },
    ];
    for (const [index, patch] of patches.entries())
      buffer.add('s', [{ at: index, event: { type: 'tool_call', toolCallId: 'c', patch, announced: index === 0 } }]);
    assert.deepEqual(
      buffer
        .take()
        .get('s')
        ?.map(({ at }) => at),
      [0, 2],
    );
  });
});
