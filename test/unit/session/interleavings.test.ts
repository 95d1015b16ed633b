// Random interleavings of everything that can happen in a session, checked against invariants.
import { Interleaving } from '../../support/interleaving';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { openJournal } from '../../support/store/journals';
import { seeded } from '../../support/store/random';
import { seeds } from '../../support/tier';

const RUNS = seeds(25, 1000);
const STEPS = 40;

describe('a session with events in random order', function () {
  this.timeout(300_000);

  afterEach(removeScratch);

  it(`keeps every invariant in ${RUNS} × ${STEPS} random steps`, async () => {
    const journal = openJournal(await scratchFolder());
    try {
      for (let seed = 1; seed <= RUNS; seed++) {
        const run = new Interleaving(journal, `k${seed}`, seeded(seed));
        try {
          for (let step = 0; step < STEPS; step++) await run.step();
          run.finish();
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
    } finally {
      journal.dispose();
    }
  });
});
