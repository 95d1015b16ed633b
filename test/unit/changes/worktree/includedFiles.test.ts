// Ignored files copied to a new worktree, and worktrees that can't be created, with the git of this
// machine.
import { strict as assert } from 'node:assert';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { copyIncluded, includedFiles, patternsOf } from '../../../../src/changes/worktree/includedFiles';
import { addWorktree } from '../../../../src/changes/worktree/worktree';
import { WorktreeWorld } from '../../../support/changes/worktreeWorld';
import { git, write } from '../git/folders';

describe('the ignored files of a new worktree', () => {
  let world: WorktreeWorld;

  beforeEach(async () => {
    world = new WorktreeWorld();
    await world.open();
    write(world.folder, {
      '.env': 'SECRET=1\r\n',
      'web/.env': 'SECRET=2\n',
      'web/other.env': 'SECRET=3\n',
      'cache/deep/x': 'x',
      'local.env': 'SECRET=4\n',
      'new.txt': 'not ignored\n',
    });
  });
  afterEach(() => world.dispose());

  const listed = (...globs: readonly string[]): Promise<readonly string[]> =>
    includedFiles(world.userGit, world.folder, globs);

  it('are not copied unless the user names them', async () => {
    assert.deepEqual(await listed(), []);
    assert.deepEqual(await listed('nowhere'), []);
  });

  it('are copied if .worktreeinclude names them in the syntax of .gitignore', async () => {
    write(world.folder, { '.worktreeinclude': '# comment\n*.env\n!other.env\na.txt\nnew.txt\n/cache/\n' });
    assert.deepEqual(await listed(), ['.env', 'cache/deep/x', 'local.env', 'web/.env']);
  });

  it('are copied if git.worktreeIncludeFiles names them with globs of VS Code', async () => {
    assert.deepEqual(await listed('.env'), ['.env']);
    assert.deepEqual(await listed('**/.env', 'new.txt', 'a.txt'), ['.env', 'web/.env']);
    assert.deepEqual(await listed('{cache,web}/**'), ['cache/deep/x', 'web/.env', 'web/other.env']);
    assert.deepEqual(await listed('cache'), ['cache/deep/x']);
    assert.deepEqual(await listed('web/*.{env,{a,b}}'), ['web/.env', 'web/other.env']);
    write(world.folder, { '.worktreeinclude': '!*.env\n' });
    assert.deepEqual(await listed('.env'), ['.env'], 'each stands alone');
  });

  it('are matched by globs from the top level', () => {
    assert.deepEqual(patternsOf('./!a'), ['/!a']);
    assert.deepEqual(patternsOf('#[^a]{b,} '), ['/#[!a]b\\ ', '/#[!a]\\ ']);
    assert.deepEqual(patternsOf('a\nb'), []);
    assert.ok(patternsOf('{a,b}'.repeat(30)).length <= 1000);
  });

  it('are copied byte for byte, skipping links and existing files', async () => {
    const outside = join(world.place.storage, 'outside');
    write(outside, { 'x.env': 'outside\n' });
    chmodSync(join(world.folder, '.env'), 0o600);
    symlinkSync(join(outside, 'x.env'), join(world.folder, 'link.env'));
    write(world.folder, { 'sub/inner.env': 'i\n' });
    symlinkSync(outside, join(world.folder, 'cache/away'));
    await world.add();
    const { place } = world.worktree;
    // Left by a hook.
    mkdirSync(join(place, 'cache'));
    symlinkSync(outside, join(place, 'cache/deep'));
    writeFileSync(join(place, 'local.env'), 'mine\n');
    const files = await listed('**/*.env', '.env', 'cache/**');
    assert.deepEqual(await copyIncluded(world.worktree, [...files, 'cache/away/x.env', '../a.txt', 'gone.env']), [
      'gone.env',
    ]);
    assert.deepEqual(
      ['.env', 'web/.env', 'local.env', 'sub/inner.env'].map((path) => readFileSync(join(place, path), 'utf8')),
      ['SECRET=1\r\n', 'SECRET=2\n', 'mine\n', 'i\n'],
    );
    assert.equal(lstatSync(join(place, '.env')).mode & 0o777, 0o600);
    assert.deepEqual([existsSync(join(place, 'link.env')), existsSync(join(place, 'cache/away'))], [false, false]);
    assert.deepEqual(readdirSync(outside), ['x.env']);
    assert.equal(git(world.place, place, 'status', '--porcelain'), '');
  });

  describe('of which the creation fails', () => {
    const add = (signal?: AbortSignal): Promise<unknown> =>
      addWorktree(world.userGit, { folder: world.folder, storage: world.worktrees, name: 'x' }, signal);
    const hook = (text: string): void => {
      write(world.folder, { '.git/hooks/post-checkout': `#!/bin/sh\n${text}\n` });
      chmodSync(join(world.folder, '.git/hooks/post-checkout'), 0o755);
    };
    const left = (): readonly string[] => [
      ...readdirSync(world.worktrees),
      ...(existsSync(join(world.folder, '.git/worktrees')) ? readdirSync(join(world.folder, '.git/worktrees')) : []),
      ...world.user('branch', '--list', 'parley/*').split('\n').filter(Boolean),
    ];

    it('leave neither folder nor branch if a hook fails', async () => {
      hook('echo no >&2; exit 3');
      await assert.rejects(add(), /Git failed: worktree/);
      assert.deepEqual(left(), []);
    });

    it('leave neither folder nor branch if the user cancels during a hook', async () => {
      const abort = new AbortController();
      hook('echo > ../begun; while kill -0 $PPID 2>/dev/null; do sleep 0.02; done');
      const adding = add(abort.signal);
      const begun = join(world.worktrees, 'begun');
      while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 5));
      abort.abort();
      await assert.rejects(adding, { code: 'git-aborted' });
      assert.deepEqual(left(), ['begun']);
    });

    it('do not collide with a worktree that another window creates under the same name', async () => {
      const made = await Promise.all([add(), add()]);
      assert.equal(new Set(made.map((one) => (one as { place: string }).place)).size, 2);
      assert.equal(left().length, 6);
    });
  });
});
