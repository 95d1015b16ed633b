// Multi-machine tests: `node scripts/machines.mjs [part of a path …] [-- mocha options]`.
import { reexec } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  process.exitCode = await runSuites({ suites: [{ folder: 'test/machines', jobs: 1 }], args, timeout: 120_000 });
}
