// Objects that states borrow from the user's repositories survive their deletion.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { collect } from '../../../../src/changes/git/collect';
import { findGit } from '../../../../src/changes/git/gitProcess';
import type { FolderStates } from '../../../../src/changes/model/fileChange';
import { environment, git, inShort, makePlace, openStates, type Place, write } from './folders';

describe('objects borrowed from a repository', function () {
  this.timeout(240_000);
  let place: Place;
  let states: FolderStates;
  beforeEach(() => {
    place = makePlace();
    states = openStates(place);
    git(place, place.folder, 'init', '-q');
    write(place.folder, { 'packed.txt': 'packed\n' });
    utimesSync(join(place.folder, 'packed.txt'), 1e9, 1e9);
    git(place, place.folder, 'add', '.');
    git(place, place.folder, 'commit', '-qm', 'first');
    git(place, place.folder, 'gc', '-q');
    write(place.folder, { 'loose.txt': 'loose\n' });
    utimesSync(join(place.folder, 'loose.txt'), 1e9, 1e9);
    git(place, place.folder, 'add', '.');
  });
  afterEach(() => {
    states.dispose();
    place.dispose();
  });

  const store = (): string => join(place.storage, readdirSync(place.storage)[0]!);
  const borrowed = (): string[] => {
    const names: string[] = existsSync(join(store(), 'borrowed'))
      ? readdirSync(join(store(), 'borrowed'), { recursive: true, encoding: 'utf8' })
      : [];
    return names.filter((name) => /[0-9a-f]{38}$|\.pack$/.test(name));
  };
  async function collectNow(): Promise<void> {
    const [program, folder] = [await findGit(environment(place)), store()];
    const indexes = join(folder, 'indexes', 'none');
    // Includes changes of this second.
    await collect({ git: program!, folder, format: 'sha1', indexes, alternates: new Set() }, undefined, -5000);
  }

  it('take no space while the repository has them', async () => {
    await states.take();
    const links = borrowed().map((name) => statSync(join(store(), 'borrowed', name)).nlink);
    assert.ok(links.length >= 2);
    assert.deepEqual([...new Set(links)], [2]);
  });

  it('move into the store once the repository deletes them', async () => {
    const before = await states.take();
    await states.hold(before, 'before');
    rmSync(join(place.folder, '.git'), { recursive: true });
    write(place.folder, { 'packed.txt': 'agent\n', 'loose.txt': 'agent\n' });
    await collectNow();
    assert.deepEqual(borrowed(), []);
    const changes = await states.changes(before, await states.take());
    assert.deepEqual(inShort(changes), ['M loose.txt +1 -1', 'M packed.txt +1 -1']);
    const old = await Promise.all(
      changes.map(async ({ root, before: version }) => String(await states.read(root, version!))),
    );
    assert.deepEqual(old, ['loose\n', 'packed\n']);
  });

  it('stay borrowed while the repository has them', async () => {
    await states.hold(await states.take(), 'before');
    const names = borrowed();
    await collectNow();
    assert.deepEqual(borrowed(), names);
  });

  it('reports a state as incomplete if there are more repositories than the limit', async () => {
    for (let n = 0; n < 202; n++) {
      const inside = join(place.folder, 'many', String(1000 + n));
      for (const name of ['objects', 'refs']) mkdirSync(join(inside, '.git', name), { recursive: true });
      write(inside, { '.git/HEAD': 'ref: refs/heads/main\n', f: 'f\n' });
    }
    const before = await states.take();
    assert.deepEqual(before.gaps, [{ root: place.folder, why: 'repositories' }]);
    write(place.folder, { 'many/1000/f': 'g\n', 'many/1201/f': 'g\n' });
    rmSync(join(place.folder, 'many/1001'), { recursive: true });
    const changes = await states.changes(before, await states.take());
    const seen = changes.map(({ path, wasThere }) => [path, wasThere === true]);
    // A repository read only now existed before.
    assert.deepEqual(seen, [
      ['many/1000/f', false],
      ['many/1001/f', false],
      ['many/1200/f', true],
    ]);
  });
});
