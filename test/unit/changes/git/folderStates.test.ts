// The states of folders: what changed between two of them, and the contents of the files.
import { strict as assert } from 'node:assert';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { git, inShort, makePlace, openStates, type Place, write } from './folders';

describe('the states of a folder', () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.dispose());

  for (const kind of ['a repository', 'a folder without a repository'] as const) {
    it(`lists what was added, changed, renamed and deleted in ${kind}`, async () => {
      const { folder } = place;
      const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
      write(folder, { 'a.txt': 'one\ntwo\n', 'sub/b.txt': lines, 'c.txt': 'gone\n', 'd.bin': Buffer.from([0, 1, 2]) });
      if (kind === 'a repository') {
        git(place, folder, 'init', '-q');
        git(place, folder, 'add', '-A');
        git(place, folder, 'commit', '-qm', 'first');
      }
      const states = openStates(place);
      const before = await states.take();
      assert.deepEqual(before.gaps, []);
      write(folder, { 'a.txt': 'one\nTWO\nthree\n', 'new file.txt': 'x\r\n', 'd.bin': Buffer.from([0, 1, 3]) });
      renameSync(join(folder, 'sub/b.txt'), join(folder, 'moved.txt'));
      rmSync(join(folder, 'c.txt'));
      const after = await states.take();
      const changes = await states.changes(before, after);
      assert.deepEqual(inShort(changes), [
        'M a.txt +2 -1',
        'D c.txt +0 -1',
        'M d.bin binary',
        'R sub/b.txt moved.txt +0 -0',
        'A new file.txt +1 -0',
      ]);
      assert.equal((await states.read(folder, changes[0]!.before!)).toString(), 'one\ntwo\n');
      assert.equal((await states.read(folder, changes[4]!.after!)).toString(), 'x\r\n');
      assert.equal(changes[4]!.after!.size, 3);
      assert.deepEqual(await states.changes(after, await states.take()), []);
    });
  }

  it('includes nested repositories and excludes ignored files', async () => {
    const { folder } = place;
    git(place, folder, 'init', '-q');
    write(folder, { '.gitignore': 'out/\n', 'a.txt': 'a\n', 'libs/inner/b.txt': 'b\n', 'out/x': 'x' });
    git(place, join(folder, 'libs/inner'), 'init', '-q');
    const states = openStates(place);
    const before = await states.take();
    write(folder, { 'out/x': 'y', 'libs/inner/b.txt': 'b\nc\n', 'libs/inner/new.txt': 'n\n' });
    const changes = await states.changes(before, await states.take());
    assert.deepEqual(inShort(changes), ['M libs/inner/b.txt +1 -0', 'A libs/inner/new.txt +1 -0']);
  });

  it('replaces some files of a state by those of another state', async () => {
    const { folder } = place;
    write(folder, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'd/e.txt': 'e\n' });
    const states = openStates(place);
    const first = await states.take();
    write(folder, { 'a.txt': 'A\n', 'b.txt': 'B\n', 'c.txt': 'C\n' });
    rmSync(join(folder, 'd'), { recursive: true });
    const second = await states.take();
    const files = ['a.txt', 'c.txt', 'd/e.txt'].map((path) => join(folder, path));
    const mixed = await states.replaced(second, first, files);
    assert.deepEqual(inShort(await states.changes(first, mixed)), ['M b.txt +1 -1']);
  });
});
