// Random histories: undo and restore revert everything of the agent and nothing of the user.
import { strict as assert } from 'node:assert';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import { OwnerWorld } from '../../../support/changes/ownerWorld';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { seeds } from '../../../support/tier';

/** Seed of the first history, in which something is reverted. */
const FIRST = 4;

describe('the owner of a file in random histories', () => {
  afterEach(removeScratch);

  for (const [name, hasGit, histories] of [
    ['with git', true, seeds(1, 25)],
    ['without git', false, seeds(2, 25)],
  ] as const) {
    it(`decides that changes of the agent are reverted and those of the user stay, ${name}`, async () => {
      const base = await scratchFolder();
      const [root, storage] = [join(base, 'root'), join(base, 'storage')];
      for (const folder of [root, storage]) await mkdir(folder);
      const env = { PATH: hasGit ? process.env.PATH : '', HOME: storage };
      const states = openFolderStates({ roots: [root], storage, session: 's', env, log: silentLog });
      const world = new OwnerWorld(root, join(storage, 'restore.json'), states, hasGit);
      for (let seed = FIRST; seed < FIRST + histories; seed++) await world.play(seed);
      states.dispose();
      assert.ok(world.counts.kept > 0 && world.counts.undone > 0);
    }).timeout(600_000);
  }
});
