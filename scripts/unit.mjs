// The unit tests: bundled, then run by mocha in plain Node; then those of the webview in a browser. `node scripts/unit.mjs [part of a path …] [-- mocha options]`.
import { availableParallelism } from 'node:os';
import { reexec } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

const LONGEST = [
  'house/release',
  'session/interleavings',
  'conformance/fuzzTurns',
  'changes/randomTurns',
  'changes/hostileTurns',
  'git/storeWindows',
  'conversation/attach',
  'model/memory',
  'store/faults',
  'house/package',
];

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const suites = [
    // One file more at a time than there are cores, as many of them wait for processes.
    // Processes end early, as each file leaves memory behind and what is large takes long to start another one:
    // in one that had run a hundred files, starting git or an agent took most of the time of its test.
    { folder: 'test/unit', jobs: availableParallelism() + 1, longest: LONGEST, batch: 8 },
    // Beside the others. One browser after another: what these tests press must come within half a second.
    { folder: 'test/webview', jobs: 1 },
  ];
  process.exitCode = await runSuites({ suites, args, timeout: 60_000 });
}
