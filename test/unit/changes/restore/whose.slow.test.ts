// Restores and undos spare files that are not the agent's: real git, real files.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UndoResult } from '../../../../src/changes/review/reviewFile';
import { byGit, NEVER, reasonsOf, Stage, silent } from '../../../support/changes/stage';
import { removeScratch, scratchFolder } from '../../../support/scratch';

/** A user's git folder in which an agent works. */
class Folder extends Stage {
  git(...args: string[]): void {
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], { cwd: this.root, stdio: 'ignore' });
  }

  /** Makes files older than git's index, so that it trusts their times. */
  async trustIndex(): Promise<void> {
    const names = ['a.txt', 'packed', 'loose'];
    for (const name of names) await utimes(this.at(name), 1e9, 1e9);
    this.git('update-index', '--refresh', ...names);
  }

  override turn(work: () => Promise<unknown>): Promise<void> {
    return super.turn(async () => {
      // File systems can't order events within one tick.
      await sleep(15);
      await work();
    });
  }

  /** Restores to before the first turn. @returns the skipped files */
  async restored(): Promise<Record<string, string>> {
    const plan = await this.plan();
    const { failed } = await this.restore().run(plan, new Set(), NEVER, silent);
    assert.deepEqual(failed, []);
    return Object.fromEntries(reasonsOf(plan.skipped));
  }

  undoTurn(): Promise<UndoResult> {
    return this.review.undo(this.turnTarget());
  }
}

describe('the owner of a file', function () {
  this.timeout(20_000);
  afterEach(removeScratch);

  async function folder(files: Readonly<Record<string, string>> = {}): Promise<Folder> {
    const made = new Folder(await scratchFolder(), await scratchFolder(), byGit);
    made.git('init', '-q');
    await made.put({
      '.gitignore': '.env\nprivate/\n',
      'a.txt': 'a\n',
      '.env': 'SECRET=1\n',
      'private/b': 'b\n',
      ...files,
    });
    made.git('add', 'a.txt');
    made.git('commit', '-qm', 'first');
    return made;
  }

  const ways: Record<string, (f: Folder) => Promise<unknown>> = {
    'its rule goes': (f) => f.put({ '.gitignore': 'private/\n' }),
    'its rule in info/exclude goes': (f) => f.put({ '.git/info/exclude': '', '.gitignore': 'private/\n' }),
    'it was changed, and its rule goes': (f) => f.put({ '.gitignore': '', '.env': 'SECRET=2\n' }),
    'it was replaced, and its rule goes': async (f) => {
      await f.put({ '.gitignore': '', '.env.new': 'SECRET=2\n' });
      await rename(f.at('.env.new'), f.at('.env'));
    },
    'the repository is made again': async (f) => {
      await rm(f.at('.git'), { recursive: true });
      await rm(f.at('.gitignore'));
      f.git('init', '-q');
    },
  };
  for (const [name, work] of Object.entries(ways)) {
    it(`is the user if it was ignored and ${name}`, async () => {
      const f = await folder();
      let now: string | undefined;
      await f.turn(async () => {
        await work(f);
        await f.put({ 'made.txt': 'agent\n' });
        now = await f.read('.env');
      });
      const undone = await f.undoTurn();
      assert.equal(undone.conflicts.find(({ path }) => path === '.env')?.why, 'was-there');
      assert.deepEqual([await f.read('.env'), await f.read('made.txt')], [now, undefined]);
      await work(f);
      await f.put({ 'made.txt': 'agent\n' });
      const skipped = await f.restored();
      assert.equal(skipped['.env'], 'was-there');
      assert.deepEqual([await f.read('.env'), await f.read('made.txt')], [now, undefined]);
    });
  }

  it('is the user in a folder that was ignored under its old name', async () => {
    const f = await folder();
    await f.turn(async () => {
      await rename(f.at('private'), f.at('public'));
      await f.put({ 'public/made': 'agent\n' });
    });
    assert.equal((await f.undoTurn()).conflicts[0]?.why, 'was-there');
    assert.deepEqual([await f.read('public/b'), await f.read('public/made')], ['b\n', undefined]);
    assert.deepEqual(await f.restored(), { 'public/b': 'was-there' });
    assert.equal(await f.read('public/b'), 'b\n');
  });

  it('is the user if the file was moved in from outside', async () => {
    const f = await folder();
    const elsewhere = await scratchFolder();
    await writeFile(join(elsewhere, 'only'), 'only here\n');
    await f.turn(() => rename(join(elsewhere, 'only'), f.at('brought')));
    assert.deepEqual(await f.restored(), { brought: 'was-there' });
    assert.equal(await f.read('brought'), 'only here\n');
  });

  it('is the user if a repository around the file appears or disappears', async () => {
    const f = await folder();
    await mkdir(f.at('lib'));
    execFileSync('git', ['init', '-q'], { cwd: f.at('lib') });
    await f.put({ 'lib/.git/info/exclude': 'key\n', 'lib/key': 'key\n', 'lib/code': 'code\n', 'sub/.env': 'sub\n' });
    await f.turn(async () => {
      await rm(f.at('lib/.git'), { recursive: true });
      execFileSync('git', ['init', '-q'], { cwd: f.at('sub') });
    });
    assert.deepEqual(await f.restored(), { 'lib/key': 'was-there', 'sub/.env': 'was-there' });
    assert.deepEqual(
      [await f.read('lib/key'), await f.read('lib/code'), await f.read('sub/.env')],
      ['key\n', 'code\n', 'sub\n'],
    );
  });

  it('is the agent after a rename, whatever the age of the file', async () => {
    const f = await folder();
    await f.turn(() => rename(f.at('a.txt'), f.at('b.txt')));
    assert.deepEqual(await f.restored(), {});
    assert.deepEqual([await f.read('a.txt'), await f.read('b.txt')], ['a\n', undefined]);
  });

  it('is the user if the agent deleted a file that the user had moved in', async () => {
    const f = await folder();
    await f.states.take();
    await sleep(15);
    await rename(f.at('private/b'), f.at('mine'));
    await f.turn(() => rm(f.at('mine')));
    assert.deepEqual((await f.undoTurn()).conflicts, []);
    assert.equal(await f.read('mine'), 'b\n');
  });

  it('is the user if the user edited, created or renamed the file between turns', async () => {
    const f = await folder({ x: 'x\n', f: '1\n2\n3\n', d: 'd\n' });
    await f.turn(() => f.put({ x: 'agent\n' }));
    await f.put({ f: '1\nmine\n3\n', g: 'mine\n', d: 'mine\n', r: 'a long text of mine\nand more\n' });
    await f.turn(async () => {
      await f.put({ f: 'agent\nmine\n3\n', g: 'mine\nagent\n' });
      await rm(f.at('d'));
      await rename(f.at('r'), f.at('s'));
    });
    assert.deepEqual(await f.restored(), { d: 'edited', f: 'edited', g: 'edited', s: 'edited' });
    assert.deepEqual(await Promise.all(['x', 'f', 'g', 's'].map((path) => f.read(path))), [
      'x\n',
      'agent\nmine\n3\n',
      'mine\nagent\n',
      'a long text of mine\nand more\n',
    ]);
  });

  it('is the user at the new name if the old name is another file of the user', async () => {
    const f = await folder();
    await f.turn(() => rename(f.at('a.txt'), f.at('b.txt')));
    await f.put({ 'a.txt': 'mine\n' });
    assert.deepEqual(await f.restored(), { 'a.txt': 'edited', 'b.txt': 'edited' });
    assert.deepEqual([await f.read('a.txt'), await f.read('b.txt')], ['mine\n', 'a\n']);
  });

  for (const [name, ruin] of [
    ['deletes the repository', (f: Folder) => rm(f.at('.git'), { recursive: true })],
    [
      'rewrites its history and prunes',
      async (f: Folder) => {
        await f.put({ 'a.txt': 'agent\n' });
        f.git('checkout', '-q', '--orphan', 'other');
        f.git('add', 'a.txt');
        f.git('rm', '-q', '--cached', 'packed', 'loose');
        f.git('commit', '-qm', 'other');
        f.git('branch', '-D', '-q', 'main');
        f.git('reflog', 'expire', '--expire=now', '--all');
        f.git('gc', '-q', '--prune=now');
      },
    ],
  ] as const) {
    it(`allows restoring files after the agent ${name}`, async () => {
      const f = await folder({ packed: 'packed\n' });
      f.git('branch', '-M', 'main');
      f.git('add', 'packed');
      f.git('commit', '-qm', 'second');
      f.git('gc', '-q');
      await f.put({ loose: 'loose\n' });
      f.git('add', 'loose');
      f.git('commit', '-qm', 'third');
      await f.trustIndex();
      await f.states.take();
      await f.turn(async () => {
        await ruin(f);
        await f.put({ 'a.txt': 'agent\n', packed: 'agent\n', loose: 'agent\n' });
      });
      assert.deepEqual(await f.restored(), {});
      assert.deepEqual(
        [await f.read('a.txt'), await f.read('packed'), await f.read('loose')],
        ['a\n', 'packed\n', 'loose\n'],
      );
    });
  }
});
