// The lock of installations and of the user's agents, between windows and within one.
import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { withLock } from '../../../../src/registry/install/installLock';
import { holdLock } from '../../../support/holdLock';
import { removeScratch, scratchFile, scratchFolder } from '../../../support/scratch';

const PATIENCE = { waitMs: 30_000 };

describe('withLock', () => {
  let file: string;

  beforeEach(async () => {
    file = join(await scratchFolder(), 'held', 'lock.db');
  });

  afterEach(removeScratch);

  it('admits one at a time, however many try', async () => {
    let inside = 0;
    const step = async (): Promise<boolean> => {
      inside++;
      assert.equal(inside, 1);
      await setImmediate();
      inside--;
      return true;
    };
    const often = async (): Promise<void> => {
      for (let done = 0; done < 50; )
        if (await withLock(file, step).catch((error) => error.code !== 'install-busy' && Promise.reject(error))) done++;
    };
    await Promise.all([often(), often(), often(), often()]);
  });

  it('is held by another process until it exits or is killed', async () => {
    const other = await holdLock(file);
    await assert.rejects(withLock(file, assert.fail), { code: 'install-busy' });
    const mine = withLock(file, async () => 'mine', PATIENCE);
    await other.end();
    assert.equal(await mine, 'mine');
  });

  it('stays locked for other processes after a refused call of this process', async () => {
    await withLock(file, async () => {
      await assert.rejects(withLock(file, assert.fail), { code: 'install-busy' });
      await assert.rejects(holdLock(file), /locked/);
    });
  });

  it('is released if the function throws', async () => {
    const broken = new Error('broken');
    await assert.rejects(
      withLock(file, () => Promise.reject(broken)),
      broken,
    );
    assert.equal(await withLock(file, async () => 'next'), 'next');
    assert.equal(await readFile(file, 'utf8'), '', 'nothing is kept in it');
  });

  it('reports the system’s error if the lock can’t be created', async () => {
    await mkdir(file, { recursive: true });
    await assert.rejects(withLock(file, assert.fail), { code: 'EISDIR' });
    const other = await scratchFile(file, 'other.db', 'what is not a database');
    await assert.rejects(withLock(other, assert.fail), /not a database/);
  });
});
