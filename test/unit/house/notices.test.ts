// The licences that go with the package are those of what the bundler has put in.
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

  it('name each package once, also a scoped one and one below another', () => {
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

  it('hold the text of each licence', async () => {
    await install('node_modules/zod', 'zod', 'Take it,\r\nand name me.\n');
    const text = await noticesOf([metafile('node_modules/zod/a.js', 'node_modules/zod/b.js')], folder);
    assert.equal(text.match(/zod 1\.2\.3 \(MIT\)\n\nTake it,\nand name me\./g)?.length, 1);
  });

  it('hold a long text once, and a link where the licence allows one', async () => {
    const long = `Long licence\n\n${'words of a licence\n'.repeat(200)}`.trim();
    await install('node_modules/a', 'a', long);
    await install('node_modules/b', 'b', long);
    await install('node_modules/c', 'c', `Attribution 4.0 International\n\n${'words\n'.repeat(900)}`);
    const text = await noticesOf([metafile(...['a', 'b', 'c'].map((name) => `node_modules/${name}/x.js`))], folder);
    assert.equal(text.split('Long licence').length, 2);
    assert.match(text, /b 1\.2\.3 \(MIT\)\n\nThe same text as that of a, above\./);
    assert.match(text, /c 1\.2\.3 \(MIT\)\n\nhttps:\/\/creativecommons\.org\/licenses\/by\/4\.0\/legalcode\n/);
  });

  it('hold the licence that is kept here for a package that brings none', async () => {
    await install('node_modules/@a/b', '@a/b');
    await mkdir(join(folder, 'scripts/licences'), { recursive: true });
    await writeFile(join(folder, 'scripts/licences/@a+b.txt'), 'Take it.\n');
    const text = await noticesOf([metafile('node_modules/@a/b/c.js')], folder);
    assert.match(text, /@a\/b 1\.2\.3 \(MIT\)\n\nTake it\./);
  });

  it('are refused if a package has no licence', async () => {
    await install('node_modules/bare', 'bare');
    await assert.rejects(
      noticesOf([metafile('node_modules/bare/a.js')], folder),
      /bare 1\.2\.3 .*no text of its licence/,
    );
  });
});
