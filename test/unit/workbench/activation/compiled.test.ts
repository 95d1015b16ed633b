// The code cache of a bundle, reused by later windows.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { build } from 'esbuild';
import { compileAhead, loadCompiled } from '../../../../src/workbench/activation/compiled';
import { removeFolder, removeScratch, scratchFile, scratchFolder } from '../../../support/scratch';
import { repository } from '../../../support/vscode/repository';

interface Bundle {
  readonly answer: () => string;
  readonly file: string;
  readonly separator: string;
}

const text = (answer: string): string =>
  `exports.answer = () => '${answer}'; exports.file = __filename; exports.separator = require('node:path').sep;`;

describe('a bundle loaded with its code cache', () => {
  let folder: string;
  let kept: string;
  let path: string;
  let compiler: string;

  beforeEach(async () => {
    folder = await scratchFolder();
    kept = join(folder, 'compiled');
    path = await scratchFile(folder, 'bundle.js', text('one'));
  });
  afterEach(removeScratch);

  before('build the program of the thread', async function () {
    this.timeout(60_000);
    compiler = join(await mkdtemp(join(tmpdir(), 'parley-compiler-')), 'compiler.js');
    const entryPoints = [join(repository, 'src/workbench/activation/compiler.ts')];
    await build({ entryPoints, outfile: compiler, bundle: true, platform: 'node', format: 'cjs', target: 'node22' });
  });
  after(() => removeFolder(dirname(compiler)));

  const load = () => loadCompiled<Bundle>({ path, folder: kept });

  it('has its exports, its own path and its imports', () => {
    const { exports, wasCompiled } = load();
    assert.equal(exports.answer(), 'one');
    assert.equal(exports.file, path);
    assert.equal(exports.separator, sep);
    assert.equal(wasCompiled, false);
  });

  it('recompiles another bundle of the same length, discarding the old cache', async () => {
    await load().keep();
    await writeFile(path, text('two'));
    const changed = load();
    assert.equal(changed.exports.answer(), 'two');
    assert.equal(changed.wasCompiled, false);
    await changed.keep();
    assert.equal((await readdir(kept)).length, 1);
    const next = load();
    assert.equal(next.exports.answer(), 'two');
    assert.equal(next.wasCompiled, true);
  });

  it('ignores and replaces a damaged or truncated cache', async () => {
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

  it('is compiled once before it is first loaded, in a separate thread', async () => {
    await compileAhead(compiler, { path, folder: kept });
    const { exports, wasCompiled } = load();
    assert.equal(exports.answer(), 'one');
    assert.equal(wasCompiled, true);
    const [name = ''] = await readdir(kept);
    await writeFile(join(kept, name), 'as it was');
    await compileAhead(compiler, { path, folder: kept });
    assert.equal(await readFile(join(kept, name), 'utf8'), 'as it was');
  });

  it('precompiles the functions that run on load, also if they use VS Code', async () => {
    const sizeAhead = async (last: string): Promise<number> => {
      const filler = Array.from({ length: 200 }, (_, index) => `total += Math.sqrt(${index});`).join(' ');
      const work = `const work = () => { let total = 0; ${filler} return total; };`;
      await writeFile(path, `class Item extends require('vscode').TreeItem {} ${work} new Item('one'); ${last}`);
      await compileAhead(compiler, { path, folder: kept });
      const [name = ''] = await readdir(kept);
      return (await readFile(join(kept, name))).length;
    };
    const without = await sizeAhead('');
    assert.ok((await sizeAhead('work();')) > without + 1000);
  });

  it('replaces the precompiled code with what a window has run', async () => {
    await compileAhead(compiler, { path, folder: kept });
    const ahead = await readdir(kept);
    await load().keep();
    const run = await readdir(kept);
    assert.equal(run.length, 1);
    assert.notDeepEqual(run, ahead);
    assert.equal(load().wasCompiled, true);
    await compileAhead(compiler, { path, folder: kept });
    assert.deepEqual(await readdir(kept), run);
  });

  it("is not compiled ahead if it can't be read or the cache can't be stored", async () => {
    await assert.rejects(compileAhead(compiler, { path: join(folder, 'missing.js'), folder: kept }), /ENOENT/);
    await assert.rejects(compileAhead(compiler, { path, folder: join(path, 'below') }), /ENOTDIR/);
  });

  it('fails like the bundle itself', async () => {
    await writeFile(path, 'throw new Error("cannot begin")');
    assert.throws(load, /cannot begin/);
    await mkdir(kept);
    assert.deepEqual(await readdir(kept), []);
  });
});
