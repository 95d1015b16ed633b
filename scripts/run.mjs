// `node scripts/run.mjs NAME [arguments]`: bundles scripts/NAME.ts and runs it with the project's
// Node.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reexec, root } from './lib/node24.mjs';

/** Bundles a script of this folder to `out/scripts/`. @returns the file */
export async function bundleScript(name) {
  const { build } = await import('esbuild');
  await mkdir(join(root, 'out/scripts'), { recursive: true });
  const outfile = join(root, 'out/scripts', `${name}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [`scripts/${name}.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return outfile;
}

if (process.argv[1] === import.meta.filename && !(await reexec(process.argv[1], process.argv.slice(2)))) {
  process.chdir(root);
  process.setSourceMapsEnabled(true);
  const [name, ...args] = process.argv.slice(2);
  const file = await bundleScript(name);
  process.argv.splice(1, process.argv.length, file, ...args);
  await import(pathToFileURL(file).href);
}
