// Tests that updates that arrive with the end of a turn belong to it, however soon the next message
// follows.
import { strict as assert } from 'node:assert';
import { playLive } from '../../../support/wires/playWire';
import { shapeOf } from '../../../support/wires/shapeOf';
import { agentSays, type Wire } from '../../../support/wires/wire';

describe('a message that waits for the end of a turn', () => {
  it('gets no updates that arrive together with the end', async () => {
    const wire: Wire = {
      protocol: 1,
      can: {},
      acts: [
        { user: 'prompt', text: 'one' },
        { user: 'prompt', text: 'two' },
        { answers: 1, result: { stopReason: 'end_turn' }, withNext: true },
        { says: agentSays('the tail of one') },
        { says: agentSays('two') },
        { answers: 2, result: { stopReason: 'end_turn' } },
      ],
    };
    const { model } = await playLive(wire);
    assert.deepEqual(shapeOf(model).split('\n').slice(2), [
      '1 user: one',
      '1 end',
      '1 late agent: the tail of one',
      '2 user: two',
      '2 agent: two',
      '2 end',
    ]);
  });
});
