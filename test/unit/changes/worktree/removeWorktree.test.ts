// Removing worktrees, with the git of this machine: nothing is lost without consent.
import { strict as assert } from 'node:assert';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeWorktree } from '../../../../src/changes/worktree/worktree';
import { HARMLESS, LOSSY, lostOf, treasureOf, WorktreeWorld } from '../../../support/changes/worktreeWorld';
import { seeds } from '../../../support/tier';

describe('removing a worktree', () => {
  let world: WorktreeWorld;

  before(async () => {
    world = new WorktreeWorld();
    await world.open();
  });
  beforeEach(() => world.add());
  after(() => world.dispose());

  const isBranch = (name: string): boolean => world.user('branch', '--list', name) !== '';

  it('needs no consent if it is unused, and deletes its branch', async () => {
    assert.deepEqual(await world.remove(), { hasBranch: false });
    assert.deepEqual([existsSync(world.worktree.place), isBranch(world.worktree.branch)], [false, false]);
    assert.ok(!world.listed().includes(world.worktree.place));
  });

  it('asks again about new losses', async () => {
    world.write({ 'new.txt': 'x' });
    const removal = await world.remove();
    assert.ok('losses' in removal);
    world.write({ 'newer.txt': 'x' });
    const again = await world.remove(removal.losses);
    assert.deepEqual('losses' in again && again.losses, [{ kind: 'changes', names: ['new.txt', 'newer.txt'] }]);
  });

  it('keeps its branch if no other branch has its first commit', async () => {
    const first = world.user('rev-parse', 'HEAD').trim();
    world.user('commit', '-q', '--allow-empty', '-m', 'only here');
    await world.add();
    world.user('reset', '-q', '--hard', first);
    assert.deepEqual(await world.remove(), { hasBranch: true });
    assert.ok(isBranch(world.worktree.branch));
  });

  describe('whose folder is missing', () => {
    it('removes only its own entry', async () => {
      const mine = world.worktree;
      await world.add();
      const mounted = world.worktree;
      // A worktree of the user on an unmounted disk.
      world.user('worktree', 'add', '-q', '-b', 'users', join(world.place.home, 'disk'));
      renameSync(join(world.place.home, 'disk'), join(world.place.home, 'away'));
      rmSync(mine.place, { recursive: true });
      assert.deepEqual(await removeWorktree(world.userGit, mine), { hasBranch: false });
      assert.deepEqual([world.listed().includes(mine.place), world.listed().includes(mounted.place)], [false, true]);
      renameSync(join(world.place.home, 'away'), join(world.place.home, 'disk'));
      assert.match(world.user('-C', join(world.place.home, 'disk'), 'status'), /On branch users/);
    });
  });

  it('never loses anything without consent, in random histories', async function () {
    this.timeout(3_600_000);
    let state = 20_260;
    const below = (limit: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * limit);
    };
    const [harmless, lossy] = [Object.entries(HARMLESS), Object.entries(LOSSY)];
    let inRow = 0;
    for (let left = seeds(2, 30); left > 0; left--) {
      if (inRow++ === 100) {
        inRow = 0;
        world.dispose();
        world = new WorktreeWorld();
        await world.open();
      }
      await world.add();
      const titles: string[] = [];
      let mustAsk = false;
      for (let count = below(4); count > 0; count--) {
        const isLossy = below(2) === 0;
        const [title, what] = isLossy ? lossy[below(lossy.length)]! : harmless[below(harmless.length)]!;
        titles.push(title);
        try {
          if (typeof what === 'function') what(world);
          else what[1](world);
          mustAsk ||= isLossy;
        } catch {
          // Git refuses some combinations halfway.
          titles.push('(refused)');
        }
      }
      const treasure = treasureOf(world);
      const removal = await world.remove();
      const wasAsked = 'losses' in removal;
      if (titles.length === 0) assert.ok(!wasAsked);
      if (!wasAsked) assert.deepEqual([titles, lostOf(world, treasure)], [titles, []]);
      if (!mustAsk && !titles.includes('(refused)')) assert.ok(!wasAsked, `${titles} ${JSON.stringify(removal)}`);
      if (wasAsked) assert.ok('hasBranch' in (await world.remove('all')));
      assert.equal(existsSync(world.worktree.place), false, titles.join());
      world.user('config', 'core.trustctime', 'true');
    }
  });
});
