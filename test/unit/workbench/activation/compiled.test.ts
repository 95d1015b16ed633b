// What the engine compiled of a bundle, kept from one window to the next.
import { strict as assert } from 'node:assert';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { loadCompiled } from '../../../../src/workbench/activation/compiled';
import { removeScratch, scratchFile, scratchFolder } from '../../../support/scratch';

interface Bundle {
  readonly answer: () => string;
  readonly file: string;
  readonly separator: string;
}

const text = (answer: string): string =>
  `exports.answer = () => '${answer}'; exports.file = __filename; exports.separator = require('node:path').sep;`;

describe('a bundle that is loaded with its compiled code', () => {
  let folder: string;
  let kept: string;
  let path: string;

  beforeEach(async () => {
    folder = await scratchFolder();
    kept = join(folder, 'compiled');
    path = await scratchFile(folder, 'bundle.js', text('one'));
  });
  afterEach(removeScratch);

  const load = () => loadCompiled<Bundle>(path, kept);

  it('has its exports, its own path and what it requires', () => {
    const { exports, wasCompiled } = load();
    assert.equal(exports.answer(), 'one');
    assert.equal(exports.file, path);
    assert.equal(exports.separator, sep);
    assert.equal(wasCompiled, false);
  });

  it('uses in the next window what was kept in an earlier one', async () => {
    await load().keep();
    const { exports, wasCompiled } = load();
    assert.equal(exports.answer(), 'one');
    assert.equal(wasCompiled, true);
  });

  it('compiles a bundle of the same length anew, and keeps nothing of the one before', async () => {
    await load().keep();
    const [before] = await readdir(kept);
    await writeFile(path, text('two'));
    const changed = load();
    assert.equal(changed.exports.answer(), 'two');
    assert.equal(changed.wasCompiled, false);
    await changed.keep();
    const after = await readdir(kept);
    assert.equal(after.length, 1);
    assert.notEqual(after[0], before);
  });

  it('uses no code that is damaged or cut off, and replaces it', async () => {
    await load().keep();
    const [name = ''] = await readdir(kept);
    const file = join(kept, name);
    const whole = await readFile(file);
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(200) ^ 1, 200);
    for (const bytes of [damaged, whole.subarray(0, 100), whole.subarray(0, 10), Buffer.alloc(0)]) {
      await writeFile(file, bytes);
      const { exports, wasCompiled, keep } = load();
      assert.equal(exports.answer(), 'one');
      assert.equal(wasCompiled, false);
      await keep();
      assert.equal(load().wasCompiled, true);
    }
  });

  it('fails as the bundle does', async () => {
    await writeFile(path, 'throw new Error("cannot begin")');
    assert.throws(load, /cannot begin/);
    await mkdir(kept);
    assert.deepEqual(await readdir(kept), []);
  });
});
