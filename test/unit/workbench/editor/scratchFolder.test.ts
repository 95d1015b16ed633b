// The folder of sessions in a window without a folder.
import { strict as assert } from 'node:assert';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureScratch } from '../../../../src/workbench/editor/scratchFolder';
import { removeScratch, scratchFolder } from '../../../support/scratch';

describe('the folder of a session without one', () => {
  after(removeScratch);

  it('is created at the wanted path', async () => {
    const wanted = join(await scratchFolder(), 'a', 'b');
    assert.equal(ensureScratch(wanted), wanted);
    assert.deepEqual(readdirSync(wanted), []);
  });

  it("is an empty temporary one if the wanted one can't be created", async () => {
    const file = join(await scratchFolder(), 'file');
    writeFileSync(file, '');
    const made = ensureScratch(join(file, 'no-folder'));
    assert.deepEqual(readdirSync(made), []);
    assert.equal(ensureScratch(join(file, 'no-folder')), made);
  });
});
