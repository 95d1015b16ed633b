// The stand-in of VS Code on the machines of test/machines has all that the product asks for when it is loaded.
import { strict as assert } from 'node:assert';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { workspace } from '../../support/machines/editor';

describe('the stand-in of VS Code for windows on several machines', function () {
  this.timeout(30_000);

  it('has every export that the product uses', async () => {
    const { outputFiles } = await build({
      entryPoints: ['test/support/machines/windowHost.ts'],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      packages: 'external',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      loader: { '.css': 'empty', '.ttf': 'empty' },
      alias: { vscode: join(process.cwd(), 'test/support/machines/editor.ts') },
      logLevel: 'silent',
    });
    assert.equal(outputFiles.length, 1);
  });

  it('has every event of the workspace that the product listens to', () => {
    const names = globSync('src/workbench/**/*.ts').flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\bworkspace\.(on[A-Z]\w+)/g)].map(([, name]) => name ?? ''),
    );
    assert.ok(names.length > 5);
    assert.deepEqual(
      names.filter((name) => !(name in workspace)),
      [],
    );
  });
});
