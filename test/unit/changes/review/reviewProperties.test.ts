// Invariants of reviews, whatever agent and user do.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Action, actions, ReviewWorld } from '../../../support/changes/reviewWorld';
import { byGit, inMemory, type Open } from '../../../support/changes/stage';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { seeds } from '../../../support/tier';

const RUNS = seeds(6, 40);

async function play(all: readonly Action[], open: Open): Promise<void> {
  const base = await scratchFolder();
  const [root, storage, bench] = ['root', 'storage', 'bench'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [root, storage, bench]) await mkdir(folder);
  const world = new ReviewWorld(root, bench, open(root, storage));
  await world.begin();
  for (const action of all) await world.act(action);
  await removeScratch();
}

describe('every review', () => {
  afterEach(removeScratch);

  for (const [name, hasUser] of [
    ['applies and reverts hunks as git apply does, and undoes all to the same bytes', false],
    ['keeps each line that the user wrote, and brings back none that the user deleted', true],
  ] as const) {
    it(name, () =>
      fc.assert(
        fc.asyncProperty(actions(hasUser, 10), (all) => play(all, inMemory)),
        { numRuns: RUNS },
      ),
    ).timeout(600_000);

    it(`${name}, with states in git`, () =>
      fc.assert(
        fc.asyncProperty(actions(hasUser, 5), (all) => play(all, byGit)),
        { numRuns: Math.ceil(RUNS / 20) },
      )).timeout(600_000);
  }
});
