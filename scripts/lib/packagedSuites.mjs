// Runs suites that drive the packaged VSIX, which is built first unless PARLEY_PACKAGED is set.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { reexec, root } from './node24.mjs';
import { runSuites } from './suite.mjs';

/** @param suites as in `runSuites` @param args parts of paths; mocha options after `--` */
export async function runPackaged(suites, args = process.argv.slice(2)) {
  if (await reexec(process.argv[1], process.argv.slice(2))) return;
  const script = join(root, 'scripts/run.mjs');
  const isPackaged =
    process.env.PARLEY_PACKAGED ||
    spawnSync(process.execPath, [script, 'package'], { cwd: root, stdio: 'inherit' }).status === 0;
  process.exitCode = isPackaged ? await runSuites({ suites, args, timeout: 120_000 }) : 1;
}
