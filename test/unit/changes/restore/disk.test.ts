// Writes a file atomically, and preserves its identity.
import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { type FileOnDisk, readOnDisk, requireRoom, writeOnDisk } from '../../../../src/changes/restore/disk';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { SmallDisk } from '../../../support/smallDisk';

describe('a file that is written', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await scratchFolder();
  });

  afterEach(removeScratch);

  async function write(path: string, text: string | Buffer): Promise<void> {
    const old = (await readOnDisk(fs, path)) as FileOnDisk | undefined;
    await writeOnDisk(fs, path, Buffer.from(text), old?.mode ?? '100644', old);
  }

  it('keeps its exact permissions', async () => {
    const path = join(folder, 'a');
    for (const bits of [0o600, 0o644, 0o664, 0o744, 0o750, 0o654]) {
      await fs.writeFile(path, 'before');
      await fs.chmod(path, bits);
      await write(path, `after ${bits}`);
      assert.equal((await fs.stat(path)).mode & 0o777, bits);
      assert.equal(await fs.readFile(path, 'utf8'), `after ${bits}`);
    }
  });

  it('keeps its hard links, whether it becomes longer or shorter', async () => {
    const [path, other] = [join(folder, 'a'), join(folder, 'b')];
    await fs.writeFile(path, 'one\ntwo\n');
    await fs.link(path, other);
    for (const text of ['one\nmuch longer than before\n', 'x', '']) {
      await write(path, text);
      assert.equal(await fs.readFile(other, 'utf8'), text);
    }
    assert.deepEqual((await fs.readdir(folder)).sort(), ['a', 'b']);
  });

  it('is written atomically by concurrent writes', async () => {
    const path = join(folder, 'a');
    await fs.writeFile(path, 'before');
    const texts = ['b', 'c', 'd', 'e'].map((letter) => letter.repeat(2_000_000));
    const room = texts.map(() => requireRoom(fs, path, Buffer.alloc(1_000_000)));
    await Promise.all([...texts.map((text) => write(path, text)), ...room]);
    assert.ok(texts.includes(await fs.readFile(path, 'utf8')));
    assert.deepEqual(await fs.readdir(folder), ['a']);
  });

  it('keeps its owner', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const path = join(folder, 'a');
    await fs.writeFile(path, 'before');
    await fs.chown(path, 1234, 1234);
    await write(path, 'after');
    const { uid, gid } = await fs.stat(path);
    assert.deepEqual([uid, gid, await fs.readFile(path, 'utf8')], [1234, 1234, 'after']);
  });

  it('stays unchanged if it is read-only, also for root', async () => {
    const path = join(folder, 'a');
    await fs.writeFile(path, 'before');
    await fs.chmod(path, 0o444);
    await assert.rejects(write(path, 'after'), { code: 'EACCES' });
    assert.equal(await fs.readFile(path, 'utf8'), 'before');
  });

  it('stays unchanged if the disk is full, with or without hard links', async function () {
    const small = SmallDisk.mount(folder, 1);
    if (typeof small === 'string') return this.skip();
    try {
      const [path, other] = [join(folder, 'a'), join(folder, 'b')];
      const text = Buffer.alloc(500_000, 'user\n');
      await fs.writeFile(path, text);
      for (const isLinked of [false, true]) {
        if (isLinked) await fs.link(path, other);
        await assert.rejects(write(path, Buffer.alloc(900_000, 'agent\n')), { code: 'ENOSPC' });
        assert.ok(text.equals(await fs.readFile(path)));
        assert.deepEqual(await fs.readdir(folder), isLinked ? ['a', 'b'] : ['a']);
      }
      // A partial write must not lose the rest.
      await fs.writeFile(join(folder, 'c'), Buffer.alloc(300_000));
      await assert.rejects(write(path, Buffer.alloc(700_000, 'agent\n')), { code: 'ENOSPC' });
      assert.ok(text.equals(await fs.readFile(other)));
    } finally {
      small.unmount();
    }
  });
});
