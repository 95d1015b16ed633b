// The branch of a folder, as an empty conversation shows it.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { branchOf } from '../../../../src/changes/git/repository';
import { removeScratch, scratchFolder } from '../../../support/scratch';

describe('the branch of a folder', () => {
  afterEach(removeScratch);

  /** A minimal repository with this `HEAD`. */
  async function repository(head: string): Promise<string> {
    const top = await scratchFolder();
    await mkdir(join(top, '.git', 'objects'), { recursive: true });
    await writeFile(join(top, '.git', 'HEAD'), head);
    await mkdir(join(top, 'src'));
    return top;
  }

  it('is the branch of the repository that contains it', async () => {
    const top = await repository('ref: refs/heads/feature/login\n');
    assert.equal(await branchOf(join(top, 'src')), 'feature/login');
  });

  it('is the branch of the worktree if the folder is one', async () => {
    const top = await repository('ref: refs/heads/main\n');
    const gitDir = join(top, '.git', 'worktrees', 'w');
    await mkdir(gitDir, { recursive: true });
    await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/try\n');
    await writeFile(join(gitDir, 'commondir'), '../..\n');
    const worktree = await scratchFolder();
    await writeFile(join(worktree, '.git'), `gitdir: ${gitDir}\n`);
    assert.equal(await branchOf(worktree), 'try');
  });

  it('is undefined with a detached HEAD or without a repository', async () => {
    const top = await repository(`${'0'.repeat(40)}\n`);
    assert.equal(await branchOf(top), undefined);
    assert.equal(await branchOf(await scratchFolder()), undefined);
    assert.equal(await branchOf(join(top, 'gone')), undefined);
  });
});
