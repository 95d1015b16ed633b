// Worktrees of sessions, with the git of this machine: created, filled, applied to the folder and
// committed.
import { strict as assert } from 'node:assert';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../../../../src/changes/git/gitProcess';
import { applyChanges, tryChanges } from '../../../../src/changes/worktree/applyChanges';
import {
  bringAlong,
  filesChangedSince,
  lastSubjects,
  uncommittedDiff,
  uncommittedFiles,
} from '../../../../src/changes/worktree/uncommitted';
import { addWorktree, commitWorktree, findUserGit } from '../../../../src/changes/worktree/worktree';
import type { Worktree } from '../../../../src/changes/worktree/worktreeEntry';
import { NodeFiles } from '../../../support/changes/nodeFiles';
import { environment, git, makePlace, openStates, type Place, write } from '../git/folders';

describe('the worktree of a session', () => {
  let place: Place;
  let userGit: Git;
  let folder: string;
  let worktrees: string;

  beforeEach(async () => {
    place = makePlace();
    ({ folder } = place);
    worktrees = join(place.storage, 'worktrees');
    write(place.home, { '.gitconfig': '[user]\nname = A\nemail = a@example.org\n' });
    userGit = await findUserGit({ ...environment(place), GIT_DIR: '/nowhere' });
    git(place, folder, 'init', '-q', '-b', 'main');
    write(folder, { 'a.txt': 'one\ntwo\nthree\nfour\nfive\n', 'sub/b.txt': 'b\n', '.gitignore': 'ignored\n' });
    git(place, folder, 'add', '-A');
    git(place, folder, 'commit', '-qm', 'first');
  });
  afterEach(() => place.dispose());

  const add = (name = 'Fix the tests!', of = folder): Promise<Worktree> =>
    addWorktree(userGit, { folder: of, storage: worktrees, name });
  const read = (path: string, root = folder): string => readFileSync(join(root, path), 'utf8');

  it('is created beside the others, on a new branch at the commit of the folder', async () => {
    const [first, second] = [await add(), await add()];
    assert.deepEqual(
      [first.branch, second.branch, first.place, first.cwd],
      ['parley/fix-the-tests', 'parley/fix-the-tests-2', join(worktrees, 'folder-fix-the-tests'), first.place],
    );
    assert.equal(read('a.txt', second.place), read('a.txt'));
    assert.equal(git(place, first.place, 'rev-parse', 'HEAD').trim(), first.commit);
    assert.equal(git(place, folder, 'status', '--porcelain'), '');
  });

  it('shows the diff of a commit, including untracked files, without staging', async () => {
    const worktree = await add();
    write(worktree.place, { 'a.txt': 'ONE\n', 'new.txt': 'new\n', ignored: 'x\n' });
    const status = git(place, worktree.place, 'status', '--porcelain');
    const diff = await uncommittedDiff(userGit, worktree);
    assert.deepEqual(diff.match(/^diff --git .*$/gm), ['diff --git a/a.txt b/a.txt', 'diff --git a/new.txt b/new.txt']);
    assert.match(diff, /^\+new$/m);
    assert.equal(git(place, worktree.place, 'status', '--porcelain'), status);
    assert.deepEqual(await lastSubjects(userGit, worktree), ['first']);
    write(worktree.place, { 'large.txt': 'a line of a large file\n'.repeat(500_000) });
    assert.match(await uncommittedDiff(userGit, worktree), /large\.txt +\| 500000 \++/, 'of much, only the files');
  });

  it('can replace a folder below the top level', async () => {
    const { top, cwd, place: at } = await add('x', join(folder, 'sub'));
    assert.deepEqual([top, cwd], [folder, join(at, 'sub')]);
    assert.equal(read('b.txt', cwd), 'b\n');
  });

  it('is refused without a repository or a commit', async () => {
    const bare = join(place.storage, 'bare');
    mkdirSync(bare);
    await assert.rejects(add('x', bare), { code: 'no-repository' });
    git(place, bare, 'init', '-q');
    await assert.rejects(add('x', bare), { code: 'no-commit' });
    assert.equal(existsSync(worktrees), false);
  });

  it('receives uncommitted changes byte for byte, without links that lead out of it', async () => {
    const outside = join(place.storage, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(folder, 'way'));
    git(place, folder, 'add', 'way');
    git(place, folder, 'commit', '-qm', 'a link');
    rmSync(join(folder, 'way'));
    rmSync(join(folder, 'sub'), { recursive: true });
    write(folder, {
      'a.txt': 'mine\r\n',
      sub: 'a file now',
      'new/c.bin': Buffer.from([0, 255]),
      ignored: 'x',
      'way/in': 'in',
    });
    symlinkSync('a.txt', join(folder, 'link'));
    const files = await uncommittedFiles(userGit, folder);
    const worktree = await add();
    await bringAlong(worktree, files);
    assert.deepEqual([...files].sort(), ['a.txt', 'link', 'new/c.bin', 'sub', 'sub/b.txt', 'way', 'way/in']);
    assert.deepEqual(
      ['a.txt', 'sub', 'way/in'].map((path) => read(path, worktree.place)),
      ['mine\r\n', 'a file now', 'in'],
    );
    assert.ok(lstatSync(join(worktree.place, 'link')).isSymbolicLink());
    assert.equal(existsSync(join(outside, 'in')), false);
    assert.equal(existsSync(join(worktree.place, 'ignored')), false);
    assert.equal(git(place, worktree.place, 'status', '--porcelain'), git(place, folder, 'status', '--porcelain'));
  });

  describe('applied to the folder', () => {
    /**
     * Changes of an agent and the result of applying them; `mine`: concurrent changes of the user.
     */
    async function work(theirs: Record<string, string>, mine: Record<string, string>) {
      const worktree = await add();
      const states = openStates(place, [worktree.cwd]);
      const before = await states.take();
      write(worktree.cwd, theirs);
      write(folder, mine);
      const changes = async () => states.changes(before, await states.take());
      const files = new NodeFiles();
      const options = async () => ({ changes: await changes(), states, from: worktree.cwd, to: folder, files });
      return { worktree, files, options };
    }

    it('adds lines, files and renames to those of the user in one step, and only once', async () => {
      const { worktree, files, options } = await work(
        { 'a.txt': 'one\ntwo\nthree\nfour\nFIVE\n', 'new.txt': 'new\n', 'moved.txt': 'b\n' },
        { 'a.txt': 'ONE\ntwo\nthree\nfour\nfive\n', 'mine.txt': 'm\n' },
      );
      rmSync(join(worktree.cwd, 'sub'), { recursive: true });
      assert.deepEqual((await tryChanges(await options())).applied, ['a.txt', 'moved.txt', 'new.txt']);
      assert.equal(existsSync(join(folder, 'new.txt')), false);
      assert.deepEqual(await applyChanges(await options()), {
        applied: ['a.txt', 'moved.txt', 'new.txt'],
        conflicts: [],
        failed: [],
      });
      assert.equal(files.steps.length, 1);
      assert.deepEqual(
        ['a.txt', 'new.txt', 'moved.txt', 'mine.txt'].map((path) => read(path)),
        ['ONE\ntwo\nthree\nfour\nFIVE\n', 'new\n', 'b\n', 'm\n'],
      );
      assert.equal(existsSync(join(folder, 'sub')), false);
      assert.deepEqual((await applyChanges(await options())).applied, []);
    });

    it('skips lines and files that the user has changed, and reports them', async () => {
      const { options } = await work(
        { 'a.txt': 'ONE\ntwo\nthree\nfour\nFIVE\n', 'new.txt': 'theirs\n' },
        { 'a.txt': 'mine\ntwo\nthree\nfour\nfive\n', 'new.txt': 'mine\n' },
      );
      const { applied, conflicts } = await applyChanges(await options());
      assert.deepEqual(
        [applied, conflicts.map(({ path, why }) => [path, why])],
        [
          ['a.txt'],
          [
            ['a.txt', 'edited'],
            ['new.txt', 'edited'],
          ].sort(),
        ],
      );
      assert.deepEqual([read('a.txt'), read('new.txt')], ['mine\ntwo\nthree\nfour\nFIVE\n', 'mine\n']);
    });

    it('keeps a file of the user that the worktree has started to ignore', async () => {
      write(folder, { 'local.txt': 'mine\n', 'notes/a.md': 'mine\n' });
      const worktree = await add();
      await bringAlong(worktree, await uncommittedFiles(userGit, folder));
      const states = openStates(place, [worktree.cwd]);
      const before = await states.take();
      write(worktree.cwd, { '.gitignore': 'ignored\nlocal.txt\nnotes\n', 'a.txt': 'ONE\n' });
      // A new window may start without the previous list.
      const [store = ''] = readdirSync(place.storage).filter((name) => name !== 'worktrees');
      for (const name of readdirSync(join(place.storage, store), { recursive: true, encoding: 'utf8' }))
        if (/indexes.[^/\\]+.[0-9a-f]{16}$/.test(name)) rmSync(join(place.storage, store, name));
      const changes = await states.changes(before, await states.take());
      const { applied, conflicts } = await applyChanges({
        changes,
        states,
        from: worktree.cwd,
        to: folder,
        files: new NodeFiles(),
      });
      assert.deepEqual([read('local.txt'), read('notes/a.md')], ['mine\n', 'mine\n']);
      assert.deepEqual(applied, ['.gitignore', 'a.txt']);
      assert.deepEqual(
        conflicts.map(({ path, why }) => [path, why]),
        [
          ['local.txt', 'was-there'],
          ['notes/a.md', 'was-there'],
        ],
      );
    });
  });

  it('is committed to its branch', async () => {
    const worktree = await add();
    await assert.rejects(commitWorktree(userGit, worktree, 'x'), { code: 'no-changes' });
    write(worktree.cwd, { 'new.txt': 'new\n' });
    await commitWorktree(userGit, worktree, '# Not a comment\n\nWhy.');
    assert.equal(git(place, folder, 'log', '-1', '--format=%B', worktree.branch).trim(), '# Not a comment\n\nWhy.');
  });

  it('lists differences from a commit, committed or not', async () => {
    const worktree = await add();
    write(worktree.cwd, { 'sub/b.txt': 'B\n' });
    await commitWorktree(userGit, worktree, 'x');
    write(worktree.cwd, { 'sub/ä c.txt': 'c', ignored: 'x' });
    assert.deepEqual(await filesChangedSince(userGit, worktree.cwd, worktree.commit), ['sub/b.txt', 'sub/ä c.txt']);
    assert.deepEqual(await filesChangedSince(userGit, join(worktree.cwd, 'sub'), worktree.commit), [
      'b.txt',
      'ä c.txt',
    ]);
  });
});
