// Snapshots of folders are removed with their sessions.
import { strict as assert } from 'node:assert';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { openFolderStates } from '../../../../src/changes/folderStates';
import { heldStates } from '../../../../src/changes/git/holds';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { KeptStates } from '../../../../src/workbench/changes/keptStates';
import { removeScratch, scratchFolder } from '../../../support/scratch';

describe('recorded states of sessions', () => {
  let storage: string;
  let texts: FileStore;

  async function held(): Promise<number> {
    const stores = await readdir(storage);
    return (await Promise.all(stores.map((store) => heldStates(join(storage, store))))).flat().length;
  }

  beforeEach('two sessions hold a state each, and have a text', async () => {
    storage = await scratchFolder();
    texts = new FileStore(await scratchFolder());
    const folder = await scratchFolder();
    for (const session of ['one', 'two']) {
      await writeFile(join(folder, 'a.txt'), session);
      const states = openFolderStates({ roots: [folder], storage, session, env: process.env, log: silentLog });
      await states.hold(await states.take(), 'turn');
      states.dispose();
      await texts.write(session, session);
    }
    assert.equal(await held(), 2);
  });
  afterEach(removeScratch);

  const open = (sessions: readonly string[]): KeptStates =>
    new KeptStates({
      storage,
      environment: async () => ({ PATH: process.env.PATH ?? '' }),
      texts: [texts],
      sessions: () => sessions.map((key) => ({ key })),
      maxBytes: () => 1e9,
      log: silentLog,
    });

  it('are released with a deleted session, together with its texts', async () => {
    await open([]).forget(['one']);
    assert.equal(await held(), 1);
    assert.deepEqual([await texts.read('one'), await texts.read('two')], [undefined, 'two']);
  });

  it('are released periodically if their session no longer exists', async () => {
    const sessions = ['two'];
    const kept = open(sessions);
    await kept.collect();
    assert.equal(await held(), 1);
    sessions.length = 0;
    await kept.collect();
    assert.equal(await held(), 1, 'not again at once');
    await open(sessions).collect();
    assert.equal(await held(), 0);
  });
});
