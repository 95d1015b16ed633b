// Turns that are hard to undo, with real agent processes and real git: each is undone to the byte,
// or lists what can't be.
import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useChangeSession } from '../../../support/changes/changeSession';
import { differenceOf } from '../../../support/changes/copies';
import { scratchFolder } from '../../../support/scratch';

/** A turn that is undone completely: shell commands, and the files in its list. */
const TURNS: Readonly<Record<string, readonly [shell: string, ...listed: string[]]>> = {
  'a file that became a folder': ['rm a.txt; mkdir -p a.txt/in; echo x > a.txt/in/b', 'a.txt', 'a.txt/in/b'],
  'a folder that became a file': ['rm -r deep; echo x > deep', 'deep', 'deep/d.txt'],
  'a file that became a link': ['rm a.txt; ln -s b.txt a.txt', 'a.txt'],
  'a link that became a file': ['rm link; echo x > link', 'link'],
  'a folder that became a link out of the workspace': ['rm -r deep; ln -s /etc deep', 'deep', 'deep/d.txt'],
  'a link that became a folder': ['rm link; mkdir link; echo x > link/x', 'link', 'link/x'],
  'a name whose case changed': ['mv a.txt A.txt', 'A.txt'],
  'a folder whose case changed': ['mv deep Deep', 'Deep/d.txt'],
  'an executable bit': ['chmod +x a.txt', 'a.txt'],
  'a file that is empty now': [': > a.txt', 'a.txt'],
  'a binary file': ["printf '\\\\0\\\\1' > a.txt; printf '\\\\0' > new.bin", 'a.txt', 'new.bin'],
  'a commit, a branch and a stash': [
    'git -c user.name=T -c user.email=t@t commit -qam x; git switch -qc other; echo y > b.txt; git stash -q; rm a.txt',
    'a.txt',
  ],
  'a repository below': [
    'cd nested; echo x > n.txt; git add .; git -c user.name=T -c user.email=t@t commit -qm x',
    'nested/n.txt',
  ],
  'configuration and attributes that run programs': [
    "git config core.fsmonitor 'touch ran'; git config filter.x.clean 'touch ran'; git config diff.external 'touch ran';" +
      " git config core.hooksPath .; printf '* filter=x diff=x' > .gitattributes; echo x > a.txt",
    '.gitattributes',
    'a.txt',
  ],
};

describe('a turn that is hard to undo', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { git, path, started, turn } = test;

  beforeEach(async () => {
    await mkdir(path('deep'));
    await writeFile(path('deep/d.txt'), 'deep\r\nand more');
    await symlink('b.txt', path('link'));
    await mkdir(path('nested'));
    git('init', '-q', 'nested');
    await writeFile(path('nested/n.txt'), 'n\n');
    await writeFile(path('.gitignore'), 'ignored/\n');
  });

  for (const [what, [shell, ...listed]] of Object.entries(TURNS)) {
    it(`is undone to the byte: ${what}`, async () => {
      const conversation = await started();
      const copy = join(await scratchFolder(), 'copy');
      await cp(test.session.folder, copy, { recursive: true, verbatimSymlinks: true });
      const id = await turn(`run (${shell}) >/dev/null 2>&1`);
      const changes = await conversation.changes.changesOf(id);
      assert.deepEqual(changes.map((change) => change.path).sort(), listed);
      const review = await conversation.changes.loadReview();
      const { conflicts, failed } = await review.undo({ kind: 'all' });
      assert.deepEqual([conflicts, failed], [[], []]);
      assert.deepEqual(
        (await differenceOf(copy, test.session.folder)).filter((one) => !one.includes('/.git/')),
        [],
      );
      assert.equal(existsSync(path('ran')), false);
    });
  }

  it('is undone except for files over 20 MB, which are named and left alone', async () => {
    await writeFile(path('huge.bin'), Buffer.alloc(21_000_000, 1));
    const conversation = await started();
    // A file that grows while it is read is stored with what it contains then, so this one is large
    // from the start.
    await turn(
      'run truncate -s +1 huge.bin; mkdir ignored; truncate -s 22000000 ignored/x; mv ignored/x new.bin; printf x > a.txt',
    );
    const review = await conversation.changes.loadReview();
    const { failed, conflicts } = await review.undo({ kind: 'all' });
    const large = ['huge.bin', 'new.bin'];
    assert.deepEqual(conflicts, []);
    assert.deepEqual(failed.map((one) => one.path).sort(), large);
    assert.deepEqual(review.files.map((one) => one.path).sort(), large);
    assert.equal(existsSync(path('new.bin')), true);
    assert.equal(git('status', '--porcelain', 'a.txt'), '');
  });

  it('neither lists nor undoes files that git ignores', async () => {
    const conversation = await started();
    await turn('run mkdir -p ignored; echo x > ignored/i.txt; echo x > a.txt');
    const review = await conversation.changes.loadReview();
    assert.deepEqual(
      review.files.map((one) => one.path),
      ['a.txt'],
    );
    await review.undo({ kind: 'all' });
    assert.equal(existsSync(path('ignored/i.txt')), true);
  });
});
