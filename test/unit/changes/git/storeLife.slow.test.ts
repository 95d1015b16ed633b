// How long a store keeps states, who else uses it, and what a killed process leaves behind.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import { openGitFolder } from '../../../../src/changes/git/gitFolder';
import { findGit } from '../../../../src/changes/git/gitProcess';
import type { FolderStates } from '../../../../src/changes/model/fileChange';
import { environment, inShort, openStates, type Place, useFolder, write } from './folders';

describe('the store of a folder', () => {
  let place: Place;
  let states: FolderStates;
  const { age, turn, store, retention, objects } = useFolder(
    (made) => {
      ({ place, states } = made);
    },
    () => states,
    { 'a.txt': 'a\n' },
  );

  it('keeps states of the last day, even if not held', async () => {
    const first = await states.take();
    write(place.folder, { 'a.txt': 'b\n' });
    const second = await states.take();
    await retention().collect([], 0);
    assert.deepEqual(inShort(await states.changes(first, second)), ['M a.txt +1 -1']);
  });

  it('releases unlisted sessions, and the last listed ones above the size limit', async () => {
    const name = (session: string) => ({ roots: [place.folder], session, storage: place.storage, log: silentLog });
    const all = ['old', 'new', 'deleted'].map((session) =>
      openFolderStates({ ...name(session), env: environment(place) }),
    );
    for (const [index, one] of all.entries()) {
      write(place.folder, { 'a.txt': `${index}\n` });
      await one.hold(await one.take(), 'turn');
    }
    const held = (): readonly string[] => readdirSync(join(store(), 'refs/parley')).sort();
    await retention().collect(['new', 'old'], 1e9);
    assert.deepEqual(held(), ['new', 'old']);
    await retention().collect(['new', 'old'], 1);
    assert.deepEqual(held(), ['new']);
    for (const one of all) one.dispose();
  });

  it('keeps written contents as long as their session holds a state', async () => {
    const version = await states.write(place.folder, Buffer.from('kept\n'), '100644');
    age();
    await retention().collect(['session'], 1e9);
    assert.equal((await states.read(place.folder, version)).toString(), 'kept\n');
    await retention().release('session');
    age();
    await retention().collect(['session'], 1e9);
    states.dispose();
    states = openStates(place);
    await assert.rejects(states.read(place.folder, version), { code: 'state-gone' });
  });

  it('releases no more sessions than the limit requires, and frees their space', async () => {
    const sessions = ['newest', 'newer', 'older', 'oldest'];
    for (const session of sessions) {
      const options = { roots: [place.folder], session, storage: place.storage, log: silentLog };
      const one = openFolderStates({ ...options, env: environment(place) });
      await one.write(place.folder, randomBytes(100_000), '100644');
      one.dispose();
    }
    const size = (): number =>
      readdirSync(join(store(), 'objects'), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
    await retention().collect(sessions, 1e9);
    await retention().collect(sessions, 250_000);
    assert.deepEqual(readdirSync(join(store(), 'refs/parley')).sort(), ['newer', 'newest']);
    age();
    await retention().collect(sessions.slice(0, 2), 250_000);
    assert.equal(size() > 200_000 && size() < 250_000, true, `${size()}`);
  });

  it('keeps the trees of the last state, which later states share', async () => {
    write(place.folder, { 'one/a.txt': 'a\n', 'two/b.txt': 'b\n' });
    await states.take();
    age();
    write(place.folder, { 'two/b.txt': 'c\n' });
    await states.take();
    await retention().collect(['session'], 1e9);
    states.dispose();
    states = openStates(place);
    const { folders } = await states.take();
    const run = ['rev-list', '--objects', '--missing=print', folders[0]!.tree];
    const listed = execFileSync('git', run, { env: { ...process.env, GIT_DIR: store() }, encoding: 'utf8' });
    assert.equal(/^\?/m.test(listed), false);
  });

  it('removes a store that no session and no window uses', async () => {
    await turn('one\n', 'turn');
    await retention().release('session');
    rmSync(join(store(), 'indexes'), { recursive: true });
    age();
    await retention().collect([], 1e9);
    assert.deepEqual(readdirSync(place.storage), []);
  });

  it('can be used by two windows at once', async function () {
    this.timeout(60_000);
    const { folder, storage } = place;
    const program = await findGit(environment(place));
    // Like two processes: each has its own index, and neither waits for the other.
    const windows = await Promise.all(
      ['one', 'two'].map((name) =>
        openGitFolder({
          git: program!,
          env: environment(place),
          folder,
          store: join(storage, 'shared'),
          window: `${process.pid}-${name}`,
          limits: { timeoutMs: 30_000, maxFile: 1e6, maxHashed: 1e6, maxKept: 1e9 },
          maxWithoutRepository: { files: 1000, bytes: 1e9 },
        }),
      ),
    );
    const [one, two] = windows.map((window) => window.folder);
    for (let round = 0; round < 5; round++) {
      const before = await one!.take();
      const files = [`f${round}.txt`, `g${round}.txt`];
      write(folder, Object.fromEntries(files.map((file) => [file, `${round}\n`])));
      const [mine, other] = await Promise.all([one!.take(), two!.take(), one!.collect(), two!.collect()]);
      assert.equal(mine, other);
      assert.deepEqual(
        (await two!.changes(folder, before, mine)).map(({ path }) => path),
        files,
      );
    }
    for (const window of windows) window.dispose();
  });

  it('starts a new window from the index of an earlier one', async () => {
    write(place.folder, Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, `${index}\n`])));
    const before = await states.take();
    const count = objects().length;
    states.dispose();
    const windows = join(store(), 'indexes');
    const [window] = readdirSync(windows);
    execFileSync('mv', [join(windows, window!), join(windows, '999999999-gone')]);
    mkdirSync(join(windows, window!));
    states = openStates(place);
    assert.deepEqual(await states.changes(before, await states.take()), []);
    assert.equal(objects().length, count);
  });

  it('works after a process was killed during a scan', async () => {
    const before = await turn('one\n', 'first');
    const [window] = readdirSync(join(store(), 'indexes'));
    const folder = join(store(), 'indexes', window!);
    for (const index of readdirSync(folder)) writeFileSync(join(folder, `${index}.lock`), 'half');
    for (const index of readdirSync(folder)) writeFileSync(join(folder, `${index}.new`), 'half');
    mkdirSync(join(store(), 'objects/12'), { recursive: true });
    writeFileSync(join(store(), 'objects/12/tmp_obj_abc'), 'half');
    writeFileSync(join(store(), 'objects/pack/tmp_pack_abc'), 'half');
    writeFileSync(join(store(), 'config'), '[core');
    rmSync(join(store(), 'info'), { recursive: true });
    states.dispose();
    states = openStates(place);
    const after = await turn('two\n', 'second');
    assert.deepEqual(inShort(await states.changes(before, after)), ['M a.txt +1 -1']);
    mkdirSync(join(store(), 'collecting'));
    age();
    await retention().collect(['session'], 1e9);
    assert.deepEqual(
      readdirSync(join(store(), 'objects/pack')).filter((name) => name.startsWith('tmp')),
      [],
    );
    assert.deepEqual(inShort(await states.changes(before, after)), ['M a.txt +1 -1']);
  });

  it('reports a read-only store, and recovers afterwards', async () => {
    const before = await states.take();
    // Files in place of the object folders block even root.
    const names = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'));
    const blocked = names.map((name) => join(store(), 'objects', name)).filter((path) => !existsSync(path));
    for (const path of blocked) writeFileSync(path, '');
    write(place.folder, { 'a.txt': 'b\n', 'b.txt': 'c\n', 'c.txt': 'd\n' });
    assert.deepEqual((await states.take()).gaps, [{ root: place.folder, why: 'failed' }]);
    for (const path of blocked) rmSync(path);
    assert.deepEqual(inShort(await states.changes(before, await states.take())), [
      'M a.txt +1 -1',
      'A b.txt +1 -0',
      'A c.txt +1 -0',
    ]);
  });

  it('reads many contents at once, small and large', async () => {
    const contents = Array.from({ length: 60 }, (_, index) => Buffer.alloc(index * index * 500, `${index}\n`));
    const versions = [];
    for (const content of contents) versions.push(await states.write(place.folder, content, '100644'));
    const read = await Promise.all(versions.map((version) => states.read(place.folder, version)));
    assert.equal(
      read.every((content, index) => content.equals(contents[index]!)),
      true,
    );
    const gone = { oid: '0123456789012345678901234567890123456789', mode: '100644', size: 1 } as const;
    await assert.rejects(states.read(place.folder, gone), { code: 'state-gone' });
  });
});
