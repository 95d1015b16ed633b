// The files of a folder as listed by git, including nested repositories, without deleted ones.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gitFiles } from '../../../src/mentions/gitFiles';
import { git, makePlace, type Place, write } from '../changes/git/folders';

describe('files listed by git', () => {
  let place: Place;
  let folder: string;

  beforeEach(() => {
    place = makePlace();
    ({ folder } = place);
    repository(folder, { '.gitignore': 'built\n', 'a.ts': '', 'lib/b.ts': '' });
  });
  afterEach(() => place.dispose());

  const repository = (at: string, files: Readonly<Record<string, string>>): void => {
    mkdirSync(at, { recursive: true });
    git(place, at, 'init', '-q');
    write(at, files);
    git(place, at, 'add', '-A');
    git(place, at, 'commit', '-q', '-m', 'first');
  };
  const listed = async (): Promise<readonly string[]> =>
    [...((await gitFiles(folder, new AbortController().signal)) ?? assert.fail())].sort();

  it('are those on disk that are not ignored', async () => {
    write(folder, { 'new.ts': '', 'built/out.js': '' });
    rmSync(join(folder, 'lib/b.ts'));
    assert.deepEqual(await listed(), ['.gitignore', 'a.ts', 'new.ts']);
  });

  it('include those of submodules and nested repositories, at any depth', async () => {
    repository(join(folder, 'nested'), { '.gitignore': 'tmp\n', 'c.ts': '' });
    repository(join(folder, 'nested/deep'), { 'd.ts': '' });
    write(folder, { 'nested/tmp/x.ts': '' });
    repository(join(folder, 'module'), { 'e.ts': '' });
    git(place, folder, 'add', 'module'); // a submodule according to the index
    write(folder, { 'module/new.ts': '' });
    assert.deepEqual(await listed(), [
      '.gitignore',
      'a.ts',
      'lib/b.ts',
      'module/e.ts',
      'module/new.ts',
      'nested/.gitignore',
      'nested/c.ts',
      'nested/deep/d.ts',
    ]);
  });

  it('exclude submodules that are missing or lead out of the folder', async () => {
    const outside = join(place.folder, '..', 'outside');
    repository(outside, { 'secret.ts': '' });
    for (const name of ['empty', 'link']) {
      repository(join(folder, name), { 'e.ts': '' });
      git(place, folder, 'add', name);
      rmSync(join(folder, name), { recursive: true });
    }
    mkdirSync(join(folder, 'empty'));
    symlinkSync(outside, join(folder, 'link'), 'dir');
    assert.deepEqual(await listed(), ['.gitignore', 'a.ts', 'lib/b.ts']);
  });
});
