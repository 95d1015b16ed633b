// How keepers and windows hear of each other's folders.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Deferred } from '../../../src/base/deferred';
import type { Disposable } from '../../../src/base/disposable';
import { watchFolder } from '../../../src/keeper/watchFolder';
import { removeScratch, scratchFolder } from '../../support/scratch';

const NEVER_MS = 2 ** 30;

describe('watchFolder', () => {
  let watching: Disposable | undefined;

  afterEach(async () => {
    watching?.dispose();
    await removeScratch();
  });

  /** Resolves at the next change. */
  function next(folder: string, pollMs: number): Promise<void> {
    const changed = new Deferred<void>();
    watching?.dispose();
    watching = watchFolder(folder, pollMs, () => changed.resolve());
    return changed.promise;
  }

  it('tells of files that come and go, and of the end of the folder, without a timer', async () => {
    const folder = await scratchFolder();
    const file = join(folder, 'file');
    for (const change of [() => writeFile(file, ''), () => rm(file), () => rm(folder, { recursive: true })]) {
      const changed = next(folder, NEVER_MS);
      await change();
      await changed;
    }
  });

  it('calls at intervals if the system does not tell', async () => {
    await next(join(await scratchFolder(), 'missing'), 1);
  });
});
