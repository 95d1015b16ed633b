// Builds what ships and packs it: dist/parley.vsix. `--dev` leaves names and source maps in, for a debugger.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { repository, vsixPath } from '../test/support/vscode/repository';
import { stagePackage } from './lib/stagePackage';

const built = spawnSync(process.execPath, [join(repository, 'scripts/build.mjs'), ...process.argv.slice(2)], {
  cwd: repository,
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (built.status !== 0) process.exit(1);

const stage = mkdtempSync(join(repository, 'out/package-'));
try {
  stagePackage(stage);
  const packagePath = join(stage, 'parley.vsix');
  // Everything is bundled, so there are no dependencies to collect. The stage has made the links of the README fit.
  await createVSIX({
    cwd: stage,
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  // Moved to its name when it is whole, so that nobody installs half of a package.
  renameSync(packagePath, vsixPath);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
process.stdout.write(`dist/parley.vsix ${(statSync(vsixPath).size / 1000).toFixed(1)} kB\n`);
