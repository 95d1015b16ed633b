// Sessions that go from a stdio agent here, shared through a bucket, to an HTTP agent there and to
// the original's server, and back. In each random story is a Stop, a run that fails, a window that
// is killed and links that end. Read as the original client reads, each word that was said is there
// once.
// `PARLEY_STORY=17 npm run test:machines -- stories` plays story 17 alone.
import { strict as assert } from 'node:assert';
import { Stage } from '../support/machines/stage';
import { Storyline, stepsOf, wordsOf } from '../support/machines/storyline';
import type { Weather } from '../support/machines/weather';

const only = Number(process.env.PARLEY_STORY ?? 0);
const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);

/**
 * Plays stories one after another on one stage.
 * @returns what went wrong, with the number of the story
 */
async function play(stage: Stage, seeds: number[], weather?: Weather): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
    const steps = stepsOf(seed);
    const { problems } = await new Storyline(stage, seed).run(steps, weather && { ...weather, seed });
    if (problems.length > 0)
      wrong.push([`story ${seed}: ${steps.map(wordsOf).join(', ')}`, ...problems].join('\n   - '));
  }
  return wrong;
}

async function playAll(seeds: number[], isApart: boolean, weather?: Weather): Promise<void> {
  const stages = await Promise.all([Stage.open(isApart), Stage.open(isApart)]);
  try {
    const wrong = await Promise.all(stages.map((stage) => play(stage, seeds, weather)));
    assert.deepEqual(wrong.flat(), []);
  } finally {
    await Promise.all(stages.map((stage) => stage.close()));
  }
}

describe('a session that moves from machine to machine', function () {
  // A busy machine takes ten times as long as a quiet one.
  this.timeout(600_000);

  it('keeps each message exactly once in 50 random stories', () => playAll(only > 0 ? [only] : range(1, 50), true));

  it('keeps each message exactly once on a slow network that breaks one connection in eight', () =>
    playAll(only > 0 ? [only] : range(61, 4), true, { delayMs: 60, cuts: 12, seed: 0 }));

  it('keeps each message exactly once on loopback addresses', function () {
    if (only > 0) this.skip();
    return playAll(range(51, 2), false);
  });
});
