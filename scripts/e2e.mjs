// The end-to-end tests: the packaged VSIX in a real VS Code, driven through a real browser. `node scripts/e2e.mjs [part of a path …] [-- mocha options]`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { reexec, root } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const packaged = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'package'], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode =
    packaged.status === 0
      ? await runSuites({
          suites: [{ folder: 'test/e2e' }],
          args,
          timeout: 90_000,
        })
      : 1;
}
