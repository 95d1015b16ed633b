// Files in use on Windows, which can only be replaced later.
import assert from 'node:assert/strict';
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryBusy } from '../../../src/base/retryBusy';
import { removeScratch, scratchFolder } from '../../support/scratch';

describe('a change of a file that is in use', () => {
  afterEach(removeScratch);

  function failing(...codes: readonly string[]): { readonly change: () => Promise<string>; readonly left: string[] } {
    const left = [...codes];
    const change = async (): Promise<string> => {
      const code = left.shift();
      if (code === undefined) return 'done';
      throw Object.assign(new Error(code), { code });
    };
    return { change, left };
  }
  const waits = [0, 0, 0];

  it('is retried on Windows until it succeeds', async () => {
    for (const code of ['EPERM', 'EBUSY', 'EACCES'])
      assert.equal(await retryBusy(failing(code, code, code).change, 'win32', waits), 'done');
  });

  it('fails with the last error if the file stays in use', async () => {
    const { change, left } = failing('EBUSY', 'EBUSY', 'EBUSY', 'EPERM', 'EBUSY');
    await assert.rejects(retryBusy(change, 'win32', waits), { code: 'EPERM' });
    assert.deepEqual(left, ['EBUSY']);
  });

  it('fails immediately for other errors, and on other systems', async () => {
    const full = failing('ENOSPC', 'ENOSPC');
    await assert.rejects(retryBusy(full.change, 'win32', waits), { code: 'ENOSPC' });
    assert.equal(full.left.length, 1);
    const forbidden = failing('EACCES', 'EACCES');
    await assert.rejects(retryBusy(forbidden.change, 'linux', waits), { code: 'EACCES' });
    assert.equal(forbidden.left.length, 1);
  });

  (process.platform === 'win32' ? it : it.skip)('replaces a file once the other program has closed it', async () => {
    const folder = await scratchFolder();
    const [beside, path] = [join(folder, 'new'), join(folder, 'file')];
    await writeFile(beside, 'new');
    await writeFile(path, 'old');
    const attempts: string[] = [];
    const held = await open(path, 'r');
    await retryBusy(async () => {
      attempts.push('one');
      // The third attempt succeeds.
      if (attempts.length === 3) await held.close();
      await rename(beside, path).catch((error: NodeJS.ErrnoException) => {
        attempts.push(error.code ?? '');
        throw error;
      });
    });
    assert.equal(await readFile(path, 'utf8'), 'new');
  });
});
