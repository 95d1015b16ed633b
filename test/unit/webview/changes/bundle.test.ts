// The panel loads its code about changed files later, as a script of its own.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

/** The sources of each script of the page, by its name. */
async function sourcesOfScripts(): Promise<Readonly<Record<string, readonly string[]>>> {
  const { bundles } = (await import(pathToFileURL('scripts/build.mjs').href)) as {
    bundles(options: { dev: boolean }): readonly BuildOptions[];
  };
  const found: Record<string, readonly string[]> = {};
  for (const options of bundles({ dev: false })) {
    const [name] = Object.keys(options.entryPoints ?? {});
    if (name !== 'main' && name !== 'changes') continue;
    const { metafile } = await build({ ...options, write: false });
    found[name] = Object.keys(metafile?.inputs ?? {});
  }
  return found;
}

describe('the code about changed files', () => {
  it('is not loaded at first, and shares no state with what is', async () => {
    const { main = [], changes = [] } = await sourcesOfScripts();
    const own = (all: readonly string[]) => all.filter((path) => path.startsWith('src/webview/changes/'));
    assert.deepEqual(own(main), ['src/webview/changes/loadPart.ts']);
    assert.ok(own(changes).length > 10);
    const stateful = /^src\/webview\/(?:host|input|entries|transcript|composer)\/|preact/;
    assert.deepEqual(
      changes.filter((path) => stateful.test(path)),
      [],
    );
    assert.ok(!changes.includes('src/webview/text/strings.ts'), 'which has all texts of the panel');
  });
});
