// Builds what ships and packs it: dist/parley.vsix. `--dev` keeps names and source maps out of the way of a debugger.
import { spawnSync } from 'node:child_process';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { repository, vsixPath } from '../test/support/vscode/repository';

const built = spawnSync(process.execPath, [join(repository, 'scripts/build.mjs'), ...process.argv.slice(2)], {
  cwd: repository,
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (built.status !== 0) process.exit(1);

// Packed beside its name and moved there, so that nobody installs half of a package.
const temporary = `${vsixPath}.${process.pid}.vsix`;
await createVSIX({
  cwd: repository,
  packagePath: temporary,
  // Everything is bundled.
  dependencies: false,
  allowMissingRepository: true,
});
renameSync(temporary, vsixPath);
process.stdout.write(`dist/parley.vsix ${(statSync(vsixPath).size / 1000).toFixed(1)} kB\n`);
