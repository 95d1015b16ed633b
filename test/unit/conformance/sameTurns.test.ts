// Turns are the same in a conversation, for the caller of a served agent, and in a recording.
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { seeds } from '../../support/tier';
import { isServable, type Played, playBack, playLive, playServed } from '../../support/wires/playWire';
import { randomWire } from '../../support/wires/randomWires';
import { recordedWires } from '../../support/wires/recordedWires';
import { SCRIPTED_WIRES } from '../../support/wires/scriptedWires';
import { shapeOf } from '../../support/wires/shapeOf';
import type { Wire } from '../../support/wires/wire';

const RUNS = seeds(120, 5_000);
const SEED = Number(process.env.WIRES_SEED ?? 901);

const GOLDEN = join(process.cwd(), 'test/golden/turns.txt');

async function expectedShapes(): Promise<ReadonlyMap<string, string>> {
  if (process.env.UPDATE_GOLDEN) {
    const sections: string[] = [];
    for (const [name, wire] of Object.entries(SCRIPTED_WIRES))
      sections.push(`# ${name}\n${shapeOf((await playLive(wire)).model)}\n`);
    writeFileSync(GOLDEN, sections.join('\n'));
  }
  const sections = readFileSync(GOLDEN, 'utf8').split(/^# /m).slice(1);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section.trim()]));
}

/** Plays a wire in all three ways. */
async function assertSameTurns(wire: Wire, expected?: string): Promise<boolean> {
  const live = await playLive(wire);
  const shape = shapeOf(live.model);
  if (expected !== undefined) assert.equal(shape, expected, 'live');
  const playedBack = await playBack(live.recording);
  assert.equal(shapeOf(playedBack.model), shape, 'played back');
  const served = isServable(wire, live) ? await playServed(wire) : undefined;
  if (!served) return false;
  assert.equal(shapeOf(served.model), shape, 'served');
  assertSameEnds(served, live);
  return true;
}

function assertSameEnds(served: Played, live: Played): void {
  for (const [index, outcome] of live.outcomes.entries()) {
    const told = served.outcomes[index];
    if (outcome === 'none' || told === 'stopped') continue;
    const isGood = outcome === 'end_turn' || outcome === 'unknown';
    // The error has its own code.
    if (outcome === 'error') assert.ok(told !== 'none' && told !== 'completed', `message ${index + 1}: ${told}`);
    else assert.equal(told, isGood ? 'completed' : `turn-${outcome}`, `message ${index + 1}`);
  }
}

describe('turns live, served and played back', function () {
  this.timeout(RUNS * 200 + 60_000);

  describe('are the same and correct with an agent that sends', () => {
    let shapes: ReadonlyMap<string, string>;

    before(async () => {
      shapes = await expectedShapes();
    });

    for (const [name, wire] of Object.entries(SCRIPTED_WIRES))
      it(name, async () => {
        const section = shapes.get(name) ?? '';
        await assertSameTurns(wire, section.slice(section.indexOf('\n') + 1));
      });
  });

  it('are the same with recorded agents', async () => {
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
      { numRuns: RUNS, seed: SEED },
    );
    assert.ok(served > RUNS / 10, `runs could do the same with ${served} wires`);
  });
});
