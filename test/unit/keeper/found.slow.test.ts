// Finding keepers from a new window, and cleaning up after dead ones.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log';
import { someone, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom, isAlive } from '../../support/processes';
import { scratchFolder } from '../../support/scratch';

describe("a user's keepers", function () {
  this.timeout(30_000);
  const keepers = TestKeepers.each();

  const silent = 'process.stdin.resume()';
  type Found = Awaited<ReturnType<typeof keepers.all.list>>[0];
  const listed = async (what: (one: Found) => string): Promise<string[]> => (await keepers.all.list()).map(what);

  async function change(id: string, more: Record<string, unknown>): Promise<void> {
    const path = join(keepers.folder, id, 'keeper.json');
    await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...more }));
  }

  it('are all found, with their session and state', async () => {
    const first = await keepers.start(silent);
    await keepers.start(silent, { about: { ...someone, session: 'two', folder: '/work' } });
    await first.detach();
    const found = await keepers.all.list();
    const seen = found.map(({ kind, about, state }) => [about.session, about.folder, kind, state?.isAttached]);
    assert.deepEqual(seen.sort(), [
      ['one', '/', 'alive', false],
      ['two', '/work', 'alive', true],
    ]);
    assert.deepEqual(
      (await keepers.all.list(({ session }) => session === 'two')).map(({ about }) => about.session),
      ['two'],
    );
  });

  it('are limited to one per session: the previous agent is ended', async () => {
    const first = await keepers.start(silent);
    const second = await keepers.start(silent);
    assert.equal((await first.exited).code, 0);
    assert.deepEqual(await listed(({ id }) => id), [second.id]);
  });

  it('end with deleted sessions', async () => {
    const kept = await keepers.start(silent);
    await keepers.start(silent, { about: { ...someone, session: 'two' } });
    await keepers.all.endSessions(['one', 'three']);
    await goneFrom(kept.pid);
    assert.deepEqual(await listed(({ about }) => about.session), ['two']);
  });

  it('end if their session is no longer stored, unless a window has it', async () => {
    const kept = await keepers.start(silent);
    await keepers.start(silent, { about: { ...someone, session: 'shown' } });
    const stored = await keepers.start(silent, { about: { ...someone, session: 'stored' } });
    for (const one of [kept, stored]) await one.detach();
    await keepers.all.collect((session) => session === 'stored');
    assert.deepEqual((await keepers.all.list()).map(({ about }) => about.session).sort(), ['shown', 'stored']);
    await goneFrom(kept.pid);
  });

  it('are not read from files that are malformed, of another kind or too large', async () => {
    const kept = await keepers.start(silent);
    const file = JSON.parse(await readFile(join(keepers.folder, kept.id, 'keeper.json'), 'utf8'));
    const others: Record<string, unknown> = {
      group: { ...file, pid: 0 },
      everyone: { ...file, pid: -1 },
      unmarked: { ...file, mark: '' },
      long: { ...file, host: 'h'.repeat(100_000) },
    };
    for (const [id, content] of Object.entries(others)) {
      await mkdir(join(keepers.folder, id));
      await writeFile(join(keepers.folder, id, 'keeper.json'), JSON.stringify(content));
    }
    await mkdir(join(keepers.folder, 'folder', 'keeper.json'), { recursive: true });
    await mkdir(join(keepers.folder, 'link'));
    await symlink(join(keepers.folder, kept.id, 'keeper.json'), join(keepers.folder, 'link', 'keeper.json'));
    assert.deepEqual(await listed(({ id }) => id), [kept.id]);
    assert.equal(keepers.all.find('one'), kept.id);
  });

  it('are listed if unreachable, and can be ended', async () => {
    const kept = await keepers.start(silent);
    const { socket, pid } = await keepers.place(kept.id);
    await kept.detach();
    await rm(socket);
    assert.deepEqual(await listed(({ kind }) => kind), ['unreachable']);
    assert.equal(await keepers.all.attach('one', { log: silentLog }), undefined);
    await keepers.all.end(kept.id);
    for (const each of [pid, kept.pid]) await goneFrom(each);
    assert.deepEqual(await keepers.left(), []);
  });

  it('are listed but not attached to if started by a newer version', async () => {
    const kept = await keepers.start(silent);
    await kept.detach();
    await change(kept.id, { wire: 99 });
    assert.deepEqual(await listed(({ kind }) => kind), ['newer']);
    assert.equal(keepers.all.find('one'), undefined);
    await change(kept.id, { wire: 1 });
  });

  it('are left alone if they run on another machine', async () => {
    const kept = await keepers.start(silent);
    await kept.detach();
    await change(kept.id, { host: 'another' });
    const [found] = await keepers.all.list();
    assert.deepEqual([found?.kind, found?.host], ['elsewhere', 'another']);
    await keepers.all.end(kept.id);
    assert.ok(isAlive(kept.pid));
    await change(kept.id, { host: hostname() });
  });

  it('are cleaned up if the last shutdown ended them, without affecting other processes', async () => {
    const other = spawn('sleep', ['60']);
    const aside = await scratchFolder();
    await writeFile(join(aside, 'mine'), 'text');
    const folder = join(keepers.folder, 'old');
    await mkdir(folder, { recursive: true });
    const file = {
      wire: 1,
      pid: other.pid,
      identity: 'another boot/1',
      host: hostname(),
      mark: 'none',
      socket: join(aside, 's'),
      socketFolder: aside,
      token: 'x',
      startedAt: 1,
      about: someone,
    };
    await writeFile(join(folder, 'keeper.json'), JSON.stringify(file));
    await mkdir(join(keepers.folder, 'garbage'));
    await writeFile(join(keepers.folder, 'garbage', 'keeper.json'), '{"wire":');
    assert.deepEqual(await keepers.all.list(), []);
    assert.deepEqual(await keepers.left(), ['garbage']);
    assert.deepEqual(await readdir(aside), ['mine']);
    assert.ok(isAlive(other.pid ?? 0));
    other.kill();
  });
});
