// Runs suites that drive the packaged VSIX in VS Code. Packages it first, unless PARLEY_PACKAGED
// says that it is.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { reexec, root } from './node24.mjs';
import { runSuites } from './suite.mjs';

/**
 * @param suites as for `runSuites` @param args parts of paths; after `--` come options for mocha
 */
export async function runPackaged(suites, args = process.argv.slice(2)) {
  if (await reexec(process.argv[1], process.argv.slice(2))) return;
  const script = join(root, 'scripts/run.mjs');
  const isPackaged =
    process.env.PARLEY_PACKAGED ||
    spawnSync(process.execPath, [script, 'package'], { cwd: root, stdio: 'inherit' }).status === 0;
  process.exitCode = isPackaged ? await runSuites({ suites, args, timeout: 120_000 }) : 1;
}
