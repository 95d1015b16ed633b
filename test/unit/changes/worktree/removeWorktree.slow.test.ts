// The losses that need consent before a worktree is removed, with the git of this machine.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { HARMLESS, LOSSY, lostOf, treasureOf, WorktreeWorld } from '../../../support/changes/worktreeWorld';

describe('removing a worktree', () => {
  let world: WorktreeWorld;

  before(async () => {
    world = new WorktreeWorld();
    await world.open();
  });
  beforeEach(() => world.add());
  after(() => world.dispose());

  const kinds = async (): Promise<readonly string[]> => {
    const removal = await world.remove();
    return 'losses' in removal ? removal.losses.map(({ kind }) => kind) : [];
  };

  for (const [title, happen] of Object.entries(HARMLESS)) {
    it(`needs no consent with ${title}`, async () => {
      happen(world);
      const treasure = treasureOf(world);
      assert.deepEqual(await kinds(), []);
      assert.equal(existsSync(world.worktree.place), false);
      assert.deepEqual(lostOf(world, treasure), []);
    });
  }

  for (const [title, [kind, happen]] of Object.entries(LOSSY)) {
    it(`reports ${title}, and requires consent`, async () => {
      happen(world);
      const removal = await world.remove();
      assert.ok('losses' in removal && removal.losses.some((loss) => loss.kind === kind), JSON.stringify(removal));
      assert.ok(existsSync(world.worktree.place));
      assert.ok('hasBranch' in (await world.remove(removal.losses)));
      assert.equal(existsSync(world.worktree.place), false);
      assert.ok(!world.listed().includes(world.worktree.place));
      world.user('config', 'core.trustctime', 'true');
    });
  }

  describe('whose folder is missing', () => {
    it('reports commits on no branch and staged versions', async () => {
      LOSSY['a commit on no branch']?.[1](world);
      world.write({ 'a.txt': world.text() });
      world.git('add', 'a.txt');
      rmSync(world.worktree.place, { recursive: true });
      assert.deepEqual((await kinds()).toSorted(), ['changes', 'commits']);
    });

    it('requires consent if the folder of all worktrees is missing too', async () => {
      renameSync(world.worktrees, `${world.worktrees}-away`);
      assert.deepEqual(await kinds(), ['unknown']);
      renameSync(`${world.worktrees}-away`, world.worktrees);
      assert.deepEqual(await kinds(), []);
    });
  });

  it('requires consent if the repository is missing', async () => {
    const away = `${world.folder}-away`;
    renameSync(world.folder, away);
    mkdirSync(world.folder);
    assert.deepEqual(await kinds(), ['unknown']);
    rmSync(world.folder, { recursive: true });
    assert.deepEqual(await kinds(), ['unknown']);
    renameSync(away, world.folder);
  });
});
