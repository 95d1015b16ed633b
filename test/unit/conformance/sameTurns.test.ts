// Turns are the same for whoever has them: a person in a conversation, the caller of a served agent, and the one who opens a recording of it.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { seeds } from '../../support/tier';
import { isServable, type Played, playBack, playLive, playServed } from '../../support/wires/playWire';
import { randomWire } from '../../support/wires/randomWires';
import { recordedWires } from '../../support/wires/recordedWires';
import { SCRIPTED_WIRES } from '../../support/wires/scriptedWires';
import { shapeOf } from '../../support/wires/shapeOf';
import type { Wire } from '../../support/wires/wire';

const RUNS = seeds(120, 5_000);

/** Plays a wire in all ways. @returns whether runs could do the same */
async function assertSameTurns(wire: Wire): Promise<boolean> {
  const live = await playLive(wire);
  const shape = shapeOf(live.model);
  const playedBack = await playBack(live.recording);
  assert.equal(shapeOf(playedBack.model), shape, 'played back');
  const served = isServable(wire, live) ? await playServed(wire) : undefined;
  if (!served) return false;
  assert.equal(shapeOf(served.model), shape, 'served');
  assertSameEnds(served, live);
  return true;
}

/** What a caller is told of a run is how the turn of the message ended. */
function assertSameEnds(served: Played, live: Played): void {
  for (const [index, outcome] of live.outcomes.entries()) {
    const told = served.outcomes[index];
    if (outcome === 'none' || told === 'stopped') continue;
    const isGood = outcome === 'end_turn' || outcome === 'unknown';
    // The error is told by its own code.
    if (outcome === 'error') assert.ok(told !== 'none' && told !== 'completed', `message ${index + 1}: ${told}`);
    else assert.equal(told, isGood ? 'completed' : `turn-${outcome}`, `message ${index + 1}`);
  }
}

describe('turns live, served and played back', function () {
  this.timeout(RUNS * 200 + 60_000);

  describe('are the same with an agent that sends', () => {
    for (const [name, wire] of Object.entries(SCRIPTED_WIRES))
      it(name, async () => {
        await assertSameTurns(wire);
      });
  });

  it('are the same with the agents that were recorded', async () => {
    for (const [name, wire] of recordedWires())
      await assertSameTurns(wire).catch((error: unknown) => {
        throw new Error(name, { cause: error });
      });
  });

  it(`are the same whatever an agent sends (${RUNS} wires)`, async () => {
    let served = 0;
    await fc.assert(
      fc.asyncProperty(randomWire, async (wire) => {
        if (await assertSameTurns(wire)) served += 1;
      }),
      { numRuns: RUNS },
    );
    assert.ok(served > RUNS / 10, `runs could do the same with ${served} wires`);
  });
});
