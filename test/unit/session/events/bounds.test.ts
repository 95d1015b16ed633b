// Events within the limits of what is stored.
import { strict as assert } from 'node:assert';
import { boundEvent } from '../../../../src/session/events/bounds';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';

describe('an update of a call within the limits', () => {
  it('clears and keeps the same fields as before', () => {
    for (const patch of [{ content: null, rawInput: null, rawOutput: null }, { title: 'Read' }] satisfies ToolPatch[]) {
      const event: SessionEvent = { type: 'tool_call', toolCallId: 'c', patch, announced: false };
      assert.deepEqual(JSON.parse(JSON.stringify(boundEvent(event))), event);
    }
  });
});
