// Files that the user saves over existing ones.
import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Uri } from 'vscode';
import { useFakeDocuments } from '../../../support/fakeEditor';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { SmallDisk } from '../../../support/smallDisk';

describe('saving a file', () => {
  let folder: string;
  let save: (path: string, bytes: Buffer) => Promise<void>;

  beforeEach(async () => {
    folder = await scratchFolder();
    useFakeDocuments();
    const { saveFile } = await import('../../../../src/workbench/editor/saveFile');
    save = (path, bytes) => saveFile({ scheme: 'file', fsPath: path } as Uri, bytes);
  });

  afterEach(removeScratch);

  it('replaces the existing file, through a link and with its permissions', async () => {
    const [path, link] = [join(folder, 'a'), join(folder, 'link')];
    await writeFile(path, 'old', { mode: 0o755 });
    await symlink(path, link);
    await save(link, Buffer.from('new'));
    assert.equal(await readFile(path, 'utf8'), 'new');
    assert.equal((await stat(path)).mode & 0o777, 0o755);
    assert.ok((await lstat(link)).isSymbolicLink());
    await save(join(folder, 'new', 'b'), Buffer.from('b'));
    assert.equal(await readFile(join(folder, 'new', 'b'), 'utf8'), 'b');
  });

  it('leaves the existing file unchanged if the disk is full', async function () {
    const place = join(folder, 'disk');
    await mkdir(place);
    const small = SmallDisk.mount(place, 1);
    if (typeof small === 'string') return this.skip();
    try {
      const text = Buffer.alloc(700_000, 'user\n');
      await writeFile(join(place, 'a'), text);
      await assert.rejects(save(join(place, 'a'), Buffer.alloc(700_000, 'agent\n')), { code: 'ENOSPC' });
      assert.ok(text.equals(await readFile(join(place, 'a'))));
      assert.deepEqual(await readdir(place), ['a']);
    } finally {
      small.unmount();
    }
  });

  it('does not replace a folder', async () => {
    await mkdir(join(folder, 'empty'));
    await assert.rejects(save(join(folder, 'empty'), Buffer.from('x')));
    assert.deepEqual(await readdir(folder), ['empty']);
  });
});
