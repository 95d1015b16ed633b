// How long a store keeps states, who else uses it, and what a killed process leaves behind.
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import type { FolderStates } from '../../../../src/changes/model/fileChange';
import { openStateRetention } from '../../../../src/changes/stateRetention';
import { inShort, makePlace, openStates, type Place, useFolder, write } from './folders';

describe('the store of a folder', () => {
  let place: Place;
  let states: FolderStates;
  const { age, turn, store, retention } = useFolder(
    (made) => {
      ({ place, states } = made);
    },
    () => states,
    { 'a.txt': 'a\n' },
  );

  it('packs held states and removes everything else', async () => {
    const first = await turn('one\n', 'turn 1/before');
    const second = await turn('two\n', 'turn 1/after');
    write(place.folder, { 'a.txt': 'not held\n' });
    const third = await states.take();
    await states.changes(second, third);
    write(place.folder, { 'a.txt': 'three\n' });
    await states.take();
    const kept = await states.write(place.folder, Buffer.from('kept\n'), '100644');
    age();
    await retention().collect(['session'], 1e9);
    // Folders stay, because another window may be about to write into one.
    const folders = readdirSync(join(store(), 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name));
    assert.ok(folders.length > 0);
    for (const name of folders) assert.deepEqual(readdirSync(join(store(), 'objects', name)), []);
    assert.equal(readdirSync(join(store(), 'objects/pack')).filter((name) => name.endsWith('.pack')).length, 1);
    assert.deepEqual(inShort(await states.changes(first, second)), ['M a.txt +1 -1']);
    assert.equal((await states.read(place.folder, kept)).toString(), 'kept\n');
    await assert.rejects(states.changes(second, third), { code: 'state-gone' });
  });

  it('releases a state by name, or all states of a session', async () => {
    const [first, second] = [await turn('one\n', 'first'), await turn('two\n', 'second')];
    await states.release('first');
    age();
    await retention().collect(['session'], 1e9);
    await assert.rejects(states.changes(first, second), { code: 'state-gone' });
    assert.deepEqual(await states.changes(second, await states.take()), []);
    await retention().release('session');
    write(place.folder, { 'a.txt': 'three\n' });
    await states.take();
    age();
    await retention().collect(['session'], 1e9);
    await assert.rejects(states.changes(second, await states.take()), { code: 'state-gone' });
  });

  it('recovers from a damaged index and from damaged objects', async () => {
    await turn('one\n', 'first');
    const [window] = readdirSync(join(store(), 'indexes'));
    const folder = join(store(), 'indexes', window!);
    for (const index of readdirSync(folder)) writeFileSync(join(folder, index), 'DIRCnoise');
    const before = await states.take();
    assert.deepEqual(before.gaps, []);
    write(place.folder, { 'a.txt': 'two\n' });
    assert.deepEqual(inShort(await states.changes(before, await states.take())), ['M a.txt +1 -1']);
  });

  it('shares a scan between requests, and aborts it when the last request is cancelled', async () => {
    const [first, ...others] = await Promise.all([states.take(), states.take(), states.take()]);
    assert.deepEqual(others, [first, first]);
    const abort = new AbortController();
    const aborted = states.take(abort.signal);
    const other = states.take();
    abort.abort();
    assert.deepEqual((await aborted).gaps, [{ root: place.folder, why: 'failed' }]);
    assert.deepEqual(await other, first);
  });
});

describe('the states of a folder without git', () => {
  let place: Place;
  let states: FolderStates;
  beforeEach(() => {
    place = makePlace();
    states = openStates(place, [place.folder], { PATH: '', HOME: place.home });
  });
  afterEach(() => {
    states.dispose();
    place.dispose();
  });

  it('contain only the files that tools name, and report it', async () => {
    write(place.folder, { 'a.txt': 'a\n', 'b.txt': 'b\r\n', 'other.txt': 'o\n' });
    states.name(join(place.folder, 'a.txt'));
    const before = await states.take();
    assert.deepEqual(before.gaps, [{ root: place.folder, why: 'no-git' }]);
    states.name(join(place.folder, 'b.txt'));
    states.name(join(place.folder, 'new.txt'));
    states.name(join(place.home, 'outside.txt'));
    const named = await states.take();
    write(place.folder, { 'a.txt': 'a\nb\n', 'b.txt': 'B\r\n', 'new.txt': 'n\n', 'other.txt': 'O\n' });
    const after = await states.take();
    const changes = await states.changes(before, after);
    assert.deepEqual(inShort(changes), ['M a.txt +1 -0', 'M b.txt +1 -1', 'A new.txt +1 -0']);
    assert.equal((await states.read(place.folder, changes[1]!.before!)).toString(), 'b\r\n');
    const mixed = await states.replaced(after, named, [join(place.folder, 'a.txt')]);
    assert.deepEqual(inShort(await states.changes(named, mixed)), ['M b.txt +1 -1', 'A new.txt +1 -0']);
    rmSync(join(place.folder, 'a.txt'));
    assert.deepEqual(inShort(await states.changes(after, await states.take())), ['D a.txt +0 -2']);
  });

  it('do not treat unreadable files as missing', async function () {
    if (process.platform === 'win32') return this.skip();
    const way = join(place.folder, 'way');
    symlinkSync('way', way);
    states.name(join(way, 'a.txt'));
    const before = await states.take();
    rmSync(way);
    write(place.folder, { 'way/a.txt': 'a\n' });
    const [change] = await states.changes(before, await states.take());
    assert.equal(change?.before?.isHashOnly, true);
  });

  it('are kept while a session holds them', async () => {
    write(place.folder, { 'a.txt': 'a\n' });
    states.name(join(place.folder, 'a.txt'));
    const before = await states.take();
    await states.hold(before, 'turn');
    write(place.folder, { 'a.txt': 'b\n' });
    const after = await states.take();
    const store = join(place.storage, readdirSync(place.storage)[0]!);
    const old = new Date(Date.now() - 48 * 60 * 60 * 1000);
    for (const kind of ['states', 'contents']) {
      for (const name of readdirSync(join(store, kind))) utimesSync(join(store, kind, name), old, old);
    }
    await openStateRetention({ storage: place.storage, env: { PATH: '' }, log: silentLog }).collect(['session'], 1e9);
    assert.equal(readFileSync(join(store, 'contents', readdirSync(join(store, 'contents'))[0]!), 'utf8'), 'a\n');
    await assert.rejects(states.changes(before, after), { code: 'state-gone' });
    assert.deepEqual(inShort(await states.changes(before, await states.take())), ['M a.txt +1 -1']);
  });
});
