// The newest commits of a repository, and the text of one, with the machine's git.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Commit, commitOf, commitText, GitCommits } from '../../../src/mentions/gitCommits';
import { pluck } from '../../support/pluck';
import { git, makePlace, type Place, write } from '../changes/git/folders';

describe("a repository's commits", () => {
  let place: Place;
  let folder: string;
  let commits: GitCommits;

  beforeEach(() => {
    place = makePlace();
    ({ folder } = place);
    commits = new GitCommits();
    run('init', '-q', '-b', 'main');
  });
  afterEach(() => {
    commits.dispose();
    place.dispose();
  });

  const run = (...args: readonly string[]): string => git(place, folder, ...args);
  const commit = (message: string, files: Readonly<Record<string, string>> = {}): string => {
    write(folder, files);
    run('add', '-A');
    run('commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', message);
    return run('rev-parse', 'HEAD').trim();
  };
  const subjects = async (): Promise<readonly string[]> => (await commits.newest(folder)).map(({ subject }) => subject);
  const textOf = async (hash: string): Promise<string> => (await commitText(folder, hash))?.text ?? assert.fail();

  it('are listed from HEAD, newest first', async () => {
    const before = Date.now() - 1000;
    commit('first');
    const hash = commit('second\nover two lines\n\nand more', { 'a.txt': 'a\n' });
    const [newest, root, ...more] = await commits.newest(folder);
    assert.partialDeepStrictEqual(newest, { hash, author: 'A', subject: 'second over two lines' });
    assert.ok(newest && newest.at >= before && newest.at <= Date.now());
    assert.equal(root?.subject, 'first');
    assert.deepEqual(more, []);
  });

  it('are cached until HEAD moves', async () => {
    commit('first');
    const known = await commits.newest(folder);
    assert.equal(await commits.newest(folder), known);
    commit('second');
    assert.deepEqual(await subjects(), ['second', 'first']);
    run('commit', '-q', '--amend', '--allow-empty', '-m', 'amended');
    assert.deepEqual(await subjects(), ['amended', 'first']);
    run('pack-refs', '--all');
    commit('third');
    run('pack-refs', '--all');
    assert.deepEqual(await subjects(), ['third', 'amended', 'first']);
    run('checkout', '-q', '--detach', 'HEAD~1');
    assert.deepEqual(await subjects(), ['amended', 'first']);
    commit('aside');
    assert.deepEqual(await subjects(), ['aside', 'amended', 'first']);
    run('checkout', '-q', 'main');
    assert.deepEqual(await subjects(), ['third', 'amended', 'first']);
  });

  it('are those of the worktree that contains the folder', async () => {
    commit('first', { 'sub/a.txt': 'a' });
    const worktree = join(place.storage, 'w');
    run('worktree', 'add', '-q', worktree, '-b', 'other');
    git(place, worktree, 'commit', '-q', '--allow-empty', '-m', 'in the worktree');
    const other = (await commits.newest(join(worktree, 'sub'))).map(({ subject }) => subject);
    assert.deepEqual(other, ['in the worktree', 'first']);
    git(place, worktree, 'commit', '-q', '--allow-empty', '-m', 'again');
    assert.equal((await commits.newest(worktree))[0]?.subject, 'again');
    assert.deepEqual(await subjects(), ['first']);
  });

  it('are empty without commits or repository, until there are some', async () => {
    assert.deepEqual(await commits.newest(folder), []);
    assert.deepEqual(await commits.newest(place.storage), []);
    assert.deepEqual(await commits.newest(join(folder, 'gone')), []);
    commit('first');
    assert.deepEqual(await subjects(), ['first']);
  });

  it('are limited to 200, and a subject of megabytes does not hide newer ones', async () => {
    let input = '';
    for (let at = 1; at <= 300; at++)
      input += `commit refs/heads/main\ncommitter A <a@example.org> ${at} +0000\ndata <<E\ncommit ${at}\nE\n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, input });
    const many = await subjects();
    assert.equal(many.length, 200);
    assert.deepEqual([many[0], many[199]], ['commit 300', 'commit 101']);
    writeFileSync(join(place.storage, 'long'), 'x'.repeat(3_000_000));
    run('commit', '-q', '--allow-empty', '-F', join(place.storage, 'long'));
    commit('newest');
    const [newest, long, ...more] = await subjects();
    assert.equal(newest, 'newest');
    assert.match(long ?? '', /^x+$/);
    assert.deepEqual(more, []);
  });

  it('are found by hash if they are older', async () => {
    const hash = commit('first');
    const { signal } = new AbortController();
    assert.equal((await commitOf(folder, hash.slice(0, 7), signal))[0]?.hash, hash);
    assert.deepEqual(await commitOf(folder, '0123456789', signal), []);
    const blob = run('hash-object', '-w', '-t', 'blob', '--', join('.git', 'HEAD')).trim();
    assert.deepEqual(await commitOf(folder, blob, signal), []);
  });

  it('stop a hanging git when no longer needed', async function () {
    if (process.platform === 'win32') this.skip();
    commit('first');
    // Git would block until somebody writes to it.
    const pipe = join(folder, '.git', 'pipe');
    execFileSync('mkfifo', [pipe]);
    appendFileSync(join(folder, '.git', 'config'), '[include]\n\tpath = pipe\n');
    const reading = commits.newest(folder);
    const writer = await open(pipe, 'w');
    commits.dispose();
    assert.deepEqual(await reading, []);
    await writer.close();
  });

  describe('as text', () => {
    it('contain message and diff', async () => {
      commit('first', { 'a.txt': 'one\n' });
      const hash = commit('Change a\n\nBecause of b.', { 'a.txt': 'two\n' });
      const found = await commitText(folder, hash);
      assert.match(
        found?.text ?? '',
        new RegExp(
          `^commit ${hash}\nParents: [0-9a-f]{40}\nRefs: HEAD -> main\nAuthor: A <a@example.org>\nDate: \\S+\n\nChange a\n\nBecause of b\\.\n\ndiff --git a/a\\.txt b/a\\.txt\n[\\s\\S]*\n-one\n\\+two$`,
        ),
      );
    });

    it('show the first commit as added files, and an empty one as its message', async () => {
      run('config', 'log.showRoot', 'false');
      const root = commit('first', { 'a.txt': 'one\n' });
      assert.match(await textOf(root), /\nfirst\n\ndiff --git[\s\S]*\n\+one$/);
      assert.match(await textOf(commit('nothing')), /\n\nnothing$/);
    });

    it('show a merge against its first parent', async () => {
      commit('first', { 'a.txt': 'one\n' });
      run('checkout', '-q', '-b', 'side');
      commit('side', { 'b.txt': 'side\n' });
      run('checkout', '-q', 'main');
      commit('main', { 'a.txt': 'two\n' });
      run('merge', '-q', '--no-ff', '-m', 'merged', 'side');
      const text = await textOf(run('rev-parse', 'HEAD').trim());
      assert.match(text, /\nParents: \S+ \S+\n[\s\S]*\nmerged\n[\s\S]*\n\+side$/);
      assert.doesNotMatch(text, /a\.txt/);
    });

    it('contain whole repository changes, whatever the folder and configuration', async () => {
      run('config', 'diff.relative', 'true');
      const hash = commit('both', { 'a.txt': 'one\n', 'sub/b.txt': 'two\n' });
      const text = (await commitText(join(folder, 'sub'), hash))?.text ?? '';
      assert.match(text, /\+one[\s\S]*\+two$/);
    });

    it('are truncated after 256 KB at a line end, with a note', async () => {
      commit('first');
      const hash = commit('huge', { 'a.txt': 'ü'.repeat(99).concat('\n').repeat(10_000) });
      const text = await textOf(hash);
      assert.ok(Buffer.byteLength(text) <= 256 * 1024 + 100);
      assert.ok(text.endsWith('ü\n\n[cut after 256 KB]'));
      assert.doesNotMatch(text, /\ufffd/);
    });

    it('have no diff if a shallow clone lacks the parent', async () => {
      commit('first', { 'a.txt': 'one\n' });
      const hash = commit('second\n\nRefs: none', { 'b.txt': 'two\n' });
      const clone = join(place.storage, 'clone');
      git(place, place.storage, 'clone', '-q', '--depth=1', `file://${folder}`, clone);
      assert.equal((await commits.newest(clone)).length, 1);
      const text = (await commitText(clone, hash))?.text ?? '';
      assert.match(text, /\nsecond\n\nRefs: none\n\n\[no diff in a shallow clone\]$/);
      // The message itself can't claim that.
      assert.match(await textOf(commit('x\n\nRefs: grafted', { 'c.txt': 'c\n' })), /\+c$/);
      git(place, clone, 'fetch', '-q', '--unshallow');
      assert.equal((await commits.newest(clone)).length, 2);
    });

    it("have a note if git can't read everything", async () => {
      commit('first', { 'a.txt': 'one\n' });
      const hash = commit('second', { 'a.txt': 'two\n' });
      const blob = run('rev-parse', 'HEAD:a.txt').trim();
      rmSync(join(folder, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
      assert.match(await textOf(hash), /\nsecond\n\n\[git can't read the rest\]$/);
      assert.equal(await commitText(folder, '0'.repeat(40)), undefined);
    });

    it("name a submodule's commits, and the submodule's folder has its own", async () => {
      const library = join(place.storage, 'library');
      git(place, place.storage, 'init', '-q', '-b', 'main', library);
      git(place, library, 'commit', '-q', '--allow-empty', '-m', 'of the library');
      run('config', 'diff.submodule', 'diff');
      run('submodule', '--quiet', 'add', library, 'lib');
      const hash = commit('with a library');
      assert.match(await textOf(hash), /\n\+Subproject commit [0-9a-f]{40}$/);
      const inside = await commits.newest(join(folder, 'lib'));
      assert.deepEqual(pluck(inside, 'subject'), ['of the library']);
    });

    it("run no program from the repository's configuration", async () => {
      const ran = join(place.storage, 'ran');
      const program = join(place.storage, 'program');
      writeFileSync(program, `#!/bin/sh\necho "$0" >> ${ran}\ncat "$1" 2>/dev/null\n`, { mode: 0o755 });
      commit('first', { 'a.go': 'one\n', '.gitattributes': '*.go diff=go\n' });
      // Git would have verified this signature.
      const tree = run('rev-parse', 'HEAD^{tree}').trim();
      const signed = [
        `tree ${tree}`,
        'author A <a@example.org> 1 +0000',
        'committer A <a@example.org> 1 +0000',
        'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----',
        '\nsigned\n',
      ].join('\n');
      writeFileSync(join(place.storage, 'signed'), signed);
      run('update-ref', 'HEAD', run('hash-object', '-w', '-t', 'commit', join(place.storage, 'signed')).trim());
      const hash = commit('second', { 'a.go': 'two\n' });
      for (const name of ['diff.external', 'diff.go.textconv', 'diff.go.command', 'core.pager', 'core.fsmonitor'])
        run('config', name, program);
      run('config', 'gpg.program', program);
      run('config', 'log.showSignature', 'true');
      run('config', 'core.hooksPath', place.storage);
      const listed: readonly Commit[] = await commits.newest(folder);
      assert.deepEqual(pluck(listed, 'subject'), ['second', 'signed']);
      assert.match(await textOf(hash), /-one\n\+two$/);
      assert.match(await textOf(listed[1]?.hash ?? ''), /\nsigned\n/);
      assert.equal(existsSync(ran), false);
      assert.ok(readdirSync(place.storage).includes('program'));
    });
  });
});
