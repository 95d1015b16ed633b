// Packing anew: what comes out is the same, in fewer bytes, and the same each time.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArchive } from '../../../scripts/lib/readArchive';
import { repackVsix } from '../../../scripts/lib/repackVsix';
import { zipOf } from '../../support/archives';
import { noise } from '../../support/noise';

const FILES = [
  { name: 'extension/long.txt', text: readFileSync('LICENSE', 'utf8').repeat(20) },
  { name: 'extension/empty', text: '' },
  { name: 'extension/noise.bin', text: Buffer.from(noise(5_000)) },
  { name: 'extension/Grüße.md', text: 'Grüße' },
];

describe('a package that is packed anew', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-repack-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function packed(name: string): Promise<string> {
    const path = join(folder, name);
    writeFileSync(path, await zipOf(FILES));
    await repackVsix(path);
    return path;
  }

  it('has the same files in the same order, in fewer bytes', async () => {
    const path = await packed('a.vsix');
    const files = [...(await readArchive(path))].map(([name, content]) => [name, content.toString('latin1')]);
    assert.deepEqual(
      files,
      FILES.map(({ name, text }) => [name, Buffer.from(text).toString('latin1')]),
    );
    assert.ok(readFileSync(path).length < (await zipOf(FILES)).length);
  });

  it('has the same bytes each time', async () => {
    assert.deepEqual(readFileSync(await packed('a.vsix')), readFileSync(await packed('b.vsix')));
  });
});
