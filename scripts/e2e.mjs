// The end-to-end tests: the packaged VSIX in a real VS Code, driven through a real browser. `node scripts/e2e.mjs [part of a path …] [-- mocha options]`.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { reexec, root } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

/** Files side by side: a VS Code with its browser keeps more than a core busy while it starts. Each needs about 1 GB of memory. */
const JOBS = Math.min(availableParallelism(), 4);
const LONGEST = ['/history', '/installTrouble', '/manySessions', '/reload', '/windowEnd', '/carried', '/demo'];

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const script = join(root, 'scripts/run.mjs');
  const isPackaged =
    process.env.PARLEY_PACKAGED ||
    spawnSync(process.execPath, [script, 'package'], { cwd: root, stdio: 'inherit' }).status === 0;
  process.exitCode = isPackaged
    ? await runSuites({
        suites: [{ folder: 'test/e2e', jobs: JOBS, longest: LONGEST }],
        args,
        timeout: 120_000,
      })
    : 1;
}
