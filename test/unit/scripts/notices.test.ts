// The licences in the package are those of the bundled packages.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPackages, noticesOf } from '../../../scripts/lib/notices';

describe('the notices of bundled packages', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-notices-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const metafile = (...inputs: string[]) => ({
    outputs: { 'dist/a.js': { inputs: Object.fromEntries(inputs.map((input) => [input, {}])) } },
  });

  async function install(path: string, name: string, licence?: string): Promise<void> {
    await mkdir(join(folder, path), { recursive: true });
    await writeFile(join(folder, path, 'package.json'), JSON.stringify({ name, version: '1.2.3', license: 'MIT' }));
    if (licence !== undefined) await writeFile(join(folder, path, 'License.md'), licence);
  }

  it('name each package once, including scoped and nested ones', () => {
    assert.deepEqual(
      bundledPackages(
        metafile(
          'src/a.ts',
          'node_modules/zod/v4/a.js',
          'node_modules/@a/b/c.js',
          'node_modules/x/node_modules/y/z.js',
        ),
      ),
      ['node_modules/zod', 'node_modules/@a/b', 'node_modules/x/node_modules/y'],
    );
  });

  it('contain the text of each licence', async () => {
    await install('node_modules/zod', 'zod', 'Take it,\nand name me.\n');
    const text = await noticesOf([metafile('node_modules/zod/a.js', 'node_modules/zod/b.js')], folder);
    assert.equal(text.match(/zod 1\.2\.3 \(MIT\)\n\nTake it,\nand name me\./g)?.length, 1);
  });

  it('contain our copy of the licence for a package without one', async () => {
    await install('node_modules/@a/b', '@a/b');
    await mkdir(join(folder, 'scripts/licences'), { recursive: true });
    await writeFile(join(folder, 'scripts/licences/@a+b.txt'), 'Take it.\n');
    const text = await noticesOf([metafile('node_modules/@a/b/c.js')], folder);
    assert.match(text, /@a\/b 1\.2\.3 \(MIT\)\n\nTake it\./);
  });

  it('fail for a package without a licence', async () => {
    await install('node_modules/bare', 'bare');
    await assert.rejects(
      noticesOf([metafile('node_modules/bare/a.js')], folder),
      /bare 1\.2\.3 .*no text of its licence/,
    );
  });
});
