// The end-to-end tests: the packaged VSIX in a real VS Code, driven through a real browser. `node scripts/e2e.mjs [part of a path …] [-- mocha options]`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { reexec, root } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const script = join(root, 'scripts/run.mjs');
  const isPackaged =
    process.env.PARLEY_PACKAGED ||
    spawnSync(process.execPath, [script, 'package'], { cwd: root, stdio: 'inherit' }).status === 0;
  process.exitCode = isPackaged
    ? await runSuites({
        // Two files at a time: each waits for VS Code, an agent or a person's pace most of the time.
        suites: [
          {
            folder: 'test/e2e',
            jobs: 2,
            longest: ['/installTrouble', '/history', '/windowEnd', '/carried', '/reload'],
          },
        ],
        args,
        timeout: 120_000,
      })
    : 1;
}
