// The panel loads its code about changed files, the find widget and the timeline later, as scripts of their own.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

/** The sources of the first script of the page and of another, by their names. */
async function sourcesOfScripts(part: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { bundles } = (await import(pathToFileURL('scripts/build.mjs').href)) as {
    bundles(options: { dev: boolean }): readonly BuildOptions[];
  };
  const found: Record<string, readonly string[]> = {};
  for (const options of bundles({ dev: false })) {
    const [name] = Object.keys(options.entryPoints ?? {});
    if (name !== 'main' && name !== part) continue;
    const { metafile } = await build({ ...options, write: false });
    found[name] = Object.keys(metafile?.inputs ?? {});
  }
  return found;
}

/** The parts, each with its folder, the file of it that is loaded at first, and how many files it has at least. */
const PARTS = [
  { name: 'changes', first: 'loadPart.ts', files: 10 },
  { name: 'find', first: 'loadFind.ts', files: 5 },
  { name: 'timeline', first: 'loadTimeline.ts', files: 5 },
] as const;

describe('code of the panel that is loaded later', () => {
  for (const { name, first, files } of PARTS)
    it(`is not loaded at first, and shares no state with what is: ${name}`, async () => {
      const { main = [], [name]: part = [] } = await sourcesOfScripts(name);
      const own = (all: readonly string[]) => all.filter((path) => path.startsWith(`src/webview/${name}/`));
      assert.deepEqual(own(main), [`src/webview/${name}/${first}`]);
      assert.ok(own(part).length >= files);
      const stateful = /^src\/webview\/(?:host|input|entries|transcript|composer)\/|preact/;
      assert.deepEqual(
        part.filter((path) => stateful.test(path)),
        [],
      );
      assert.ok(!part.includes('src/webview/text/strings.ts'), 'which has all texts of the panel');
    });
});
