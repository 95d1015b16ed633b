// A short soak that kills agents of each kind at random moments. `npm run soak` does it 200 times.
import { strict as assert } from 'node:assert';
import { assertWhole } from '../../../support/faults/faultWindow';
import { removeScratch } from '../../../support/scratch';
import { soak } from '../../../support/soak/soak';
import { seeds } from '../../../support/tier';

const KILLS = seeds(6, 60);

describe('a user whose agent is killed again and again', function () {
  this.timeout(120_000);

  afterEach(removeScratch);

  for (const kind of ['can load', 'can do neither'] as const) {
    it(`has each message delivered once if the agent ${kind}`, async () => {
      const result = await soak(kind, KILLS, 7, ({ conversation }) => assertWhole(conversation.model.state));
      assert.equal(result.recoveries.length, KILLS);
      assert.deepEqual([result.received, result.lost, result.twice], [result.typed, 0, 0]);
    });
  }
});
