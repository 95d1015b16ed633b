// The unit tests: bundled, then run by mocha in plain Node; then those of the webview in a browser. `node scripts/unit.mjs [part of a path …] [-- mocha options]`.
import { availableParallelism } from 'node:os';
import { reexec } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

const LONGEST = ['session/interleavings', 'conformance/fuzzTurns', 'store/faults', 'model/memory', 'house/package'];

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const suites = [
    // One file more at a time than there are cores, as many of them wait for processes.
    { folder: 'test/unit', jobs: availableParallelism() + 1, longest: LONGEST },
    // Beside the others. One browser after another: what these tests press must come within half a second.
    { folder: 'test/webview', jobs: 1 },
  ];
  process.exitCode = await runSuites({ suites, args, timeout: 60_000 });
}
