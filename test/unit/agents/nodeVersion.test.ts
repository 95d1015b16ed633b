// Detecting from an agent's last output that its Node.js is too old.
import { strict as assert } from 'node:assert';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeTooOld } from '../../../src/agents/nodeVersion';
import { removeScratch, scratchFolder } from '../../support/scratch';

describe('a Node.js that is too old', () => {
  afterEach(removeScratch);

  const trace = (file: string, version = '18.19.0'): string =>
    `${file}:3\nimport { styleText } from 'node:util';\n         ^\nSyntaxError: The requested module 'node:util' does not provide an export named 'styleText'\n\nNode.js v${version}`;

  async function script(engines?: string): Promise<string> {
    const folder = await scratchFolder();
    await mkdir(join(folder, 'dist'));
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify(engines === undefined ? {} : { engines: { node: engines } }),
    );
    return join(folder, 'dist', 'cli.mjs');
  }

  it('is detected by the package of the failed script', async () => {
    const file = await script('>=22.19.0');
    assert.deepEqual(await nodeTooOld(trace(file)), { needs: '22.19.0', has: '18.19.0' });
    assert.deepEqual(await nodeTooOld(trace(`file://${file}`)), { needs: '22.19.0', has: '18.19.0' });
  });

  it('is not reported if the version satisfies the package', async () => {
    assert.equal(await nodeTooOld(trace(await script('>=22.19.0'), '22.19.0')), undefined);
    assert.equal(await nodeTooOld(trace(await script('^18.0.0 || >=20'))), undefined);
    assert.equal(await nodeTooOld(trace(await script())), undefined);
  });

  it("is detected by the program's output", async () => {
    for (const words of [
      'kimi requires Node.js >= 22.19.0',
      'Error: Node.js 22.19.0 or newer is needed',
      "npm WARN EBADENGINE   required: { node: '>=22.19.0' },\nnpm WARN EBADENGINE   current: { node: 'v18.19.0', npm: '9.2.0' }",
    ])
      assert.equal((await nodeTooOld(words))?.needs, '22.19.0', words);
  });

  it('is not detected in other output', async () => {
    assert.equal(await nodeTooOld('TypeError: cannot read x of undefined\n\nNode.js v22.19.0'), undefined);
    assert.equal(await nodeTooOld('requires Node.js >= 18\nNode.js v22.19.0'), undefined);
    assert.equal(await nodeTooOld(''), undefined);
  });
});
