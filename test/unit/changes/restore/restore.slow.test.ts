// Bringing files back to an earlier state, on a real disk.
import { strict as assert } from 'node:assert';
import * as fs from 'node:fs/promises';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { AgentEdits } from '../../../../src/changes/restore/agentEdits';
import type { Disk } from '../../../../src/changes/restore/disk';
import { killedDisk } from '../../../support/changes/killedDisk';
import {
  byGit,
  inMemory,
  listing,
  NEVER,
  type Open,
  reasonsOf,
  type Stage,
  silent,
  stage,
} from '../../../support/changes/stage';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';

/** A turn with every kind of file change. */
async function everything(open: Open = inMemory): Promise<Stage> {
  const files = {
    'a.txt': 'one\r\ntwo\nthree',
    'dir/deep/gone.txt': 'gone\n',
    'file-to-folder': 'file\n',
    'folder-to-file/x': 'x\n',
    'folder-to-link/y': 'y\n',
    'moved/from': 'moved\n',
    'run.sh': '#!\n',
    private: 'secret\n',
    empty: '',
  };
  const s = await stage(files, open);
  await symlink('a.txt', s.at('link'));
  await symlink('a.txt', s.at('link-to-file'));
  await chmod(s.at('private'), 0o600);
  await s.turn(async () => {
    await writeFile(s.at('a.txt'), Buffer.from([0, 1, 2, 255]));
    await rm(s.at('dir'), { recursive: true });
    await rm(s.at('file-to-folder'));
    await mkdir(s.at('file-to-folder/in'), { recursive: true });
    await writeFile(s.at('file-to-folder/in/z'), 'z\n');
    await rm(s.at('folder-to-file'), { recursive: true });
    await writeFile(s.at('folder-to-file'), 'now a file\n');
    await rm(s.at('folder-to-link'), { recursive: true });
    await symlink('new', s.at('folder-to-link'));
    await mkdir(s.at('new/deep'), { recursive: true });
    await rename(s.at('moved/from'), s.at('new/deep/to'));
    await rm(s.at('moved'), { recursive: true });
    await chmod(s.at('run.sh'), 0o755);
    await writeFile(s.at('private'), 'changed\n');
    await rm(s.at('link'));
    await symlink('elsewhere', s.at('link'));
    await rm(s.at('link-to-file'));
    await writeFile(s.at('link-to-file'), 'file\n');
    await rm(s.at('empty'));
  });
  return s;
}

describe('the restore of files', () => {
  afterEach(removeScratch);

  for (const [store, open] of [
    ['in memory', inMemory],
    ['of git', byGit],
  ] as const) {
    it(`restores files, modes, links and folders, and reverts that, from states ${store}`, () => bothWays(open));
  }

  async function bothWays(open: Open): Promise<void> {
    const s = await everything(open);
    const after = await listing(s.root);
    const result = await s.run();
    assert.deepEqual([result.failed, result.isCancelled], [[], false]);
    assert.deepEqual(await s.states.changes(s.turns[0]!.before, await s.states.take()), []);
    assert.equal((await lstat(s.at('private'))).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(s.root)).includes('new'), false);
    const undo = await s.plan(result.now, new AgentEdits().add(result.done));
    assert.deepEqual(undo.skipped, []);
    const undone = await s.restore().run(undo, new Set(), NEVER, silent);
    assert.deepEqual(undone.failed, []);
    assert.deepEqual(await listing(s.root), after);
  }

  it('restores a name that differs only by case, also on case-insensitive file systems', async () => {
    const s = await stage({ 'docs/Readme.md': 'old\n' }, byGit);
    await s.turn(async () => {
      await rename(s.at('docs/Readme.md'), s.at('docs/README.md'));
      await writeFile(s.at('docs/README.md'), 'new\n');
    });
    const { failed } = await s.run();
    assert.deepEqual(failed, []);
    assert.deepEqual(await readdir(s.at('docs')), ['Readme.md']);
    assert.equal(await readFile(s.at('docs/Readme.md'), 'utf8'), 'old\n');
  });

  it('reports files that cannot be written, and restores the rest', async () => {
    const s = await stage({ 'locked/a': 'a\n', b: 'b\n', c: 'c\n' });
    await s.turn(async () => {
      await writeFile(s.at('locked/a'), 'A\n');
      await writeFile(s.at('b'), 'B\n');
      await rename(s.at('c'), s.at('d'));
    });
    // Like a read-only disk, which does not exist for root.
    const unlocked = (path: unknown): void => {
      if (String(path).includes('locked')) throw Object.assign(new Error('locked'), { code: 'EACCES' });
    };
    const disk: Pick<Disk, 'open' | 'writeFile'> = {
      writeFile: async (path, ...rest) => {
        unlocked(path);
        return writeFile(path, ...rest);
      },
      open: async (path, ...rest) => {
        unlocked(path);
        return fs.open(path, ...rest);
      },
    };
    const restore = s.restore({ disk: { ...fs, ...disk } });
    const { failed, done } = await restore.run(await s.plan(), new Set(), NEVER, silent);
    assert.deepEqual(reasonsOf(failed), [['locked/a', 'not-writable']]);
    assert.deepEqual(pluck(done, 'path'), ['b', 'c']);
    assert.deepEqual(await listing(s.root), ['b 644 b\n', 'c 644 c\n', 'locked/', 'locked/a 644 A\n']);
  });

  it('can be finished and reverted after the process was killed at any step', async function () {
    this.timeout(60_000);
    const s = await everything();
    const after = await listing(s.root);
    const plan = await s.plan();
    const copy = await scratchFolder();
    await cp(s.root, copy, { recursive: true, verbatimSymlinks: true });
    const whole = killedDisk(Number.POSITIVE_INFINITY);
    await s.restore({ disk: whole.disk }).run(plan, new Set(), NEVER, silent);
    const before = await listing(s.root);
    const steps = whole.steps();
    assert.ok(steps > 40, `${steps} steps`);
    for (let step = 1; step <= steps; step++) {
      for (const way of ['finish', 'takeBack'] as const) {
        await fs.rm(s.root, { recursive: true });
        await cp(copy, s.root, { recursive: true, verbatimSymlinks: true });
        await rm(s.log, { force: true });
        await s
          .restore({ disk: killedDisk(step).disk })
          .run(plan, new Set(), NEVER, silent)
          .catch(silent);
        const pending = await s.restore().pending();
        const result = await pending?.[way](NEVER, silent);
        const at = `killed at step ${step}, then ${way}`;
        assert.deepEqual(result?.failed ?? [], [], at);
        // Nothing changes before the log is written, and everything has changed once it is removed.
        const isFinished = pending ? way === 'finish' : step > steps / 2;
        assert.deepEqual(await listing(s.root), isFinished ? before : after, at);
        assert.equal(await s.restore().pending(), undefined, at);
      }
    }
  });
});
