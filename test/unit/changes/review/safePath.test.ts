// Files that a review or restore may read, write or delete.
import { strict as assert } from 'node:assert';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSafePath } from '../../../../src/changes/review/reviewFile';
import { removeScratch, scratchFolder } from '../../../support/scratch';

// Wine has no links.
(process.platform === 'win32' ? describe.skip : describe)('a path in a folder', () => {
  let root: string;
  beforeEach(async () => {
    root = await scratchFolder();
    await mkdir(join(root, 'real/inner'), { recursive: true });
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'real/inner/a.txt'), 'a');
  });
  afterEach(removeScratch);

  it('is safe below real folders, whether the file exists or not', async () => {
    for (const path of ['real/inner/a.txt', 'real/b.txt', 'new/folder/c.txt'])
      assert.equal(await isSafePath(root, path), true, path);
  });

  it('is not safe if a parent folder is a link', async () => {
    await symlink(join(root, 'elsewhere'), join(root, 'link'));
    await symlink(join(root, 'elsewhere'), join(root, 'real/link'));
    for (const path of ['link/a.txt', 'real/link/a.txt', 'link/new/a.txt'])
      assert.equal(await isSafePath(root, path), false, path);
  });

  it('is safe if the file itself is a link', async () => {
    await symlink('/etc/hosts', join(root, 'real/hosts'));
    assert.equal(await isSafePath(root, 'real/hosts'), true);
  });

  it('is not safe outside of the folder or in .git', async () => {
    for (const path of ['', '..', '../a', 'real/../../a', '/etc/hosts', '.git/config', 'real/.GIT/hooks/x', 'git~1/x'])
      assert.equal(await isSafePath(root, path), false, path);
  });
});
