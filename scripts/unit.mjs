// The unit tests in plain Node, and those of the panel in a browser: the fast tier.
// `node scripts/unit.mjs [--slow] [--only FOLDER] [part of a path …] [-- mocha options]`.
// `--slow`: what the fast tier leaves out. `--only unit`, `panel` or `house`: these alone. With
// parts of paths, every file that matches runs, whatever its tier.
import { availableParallelism } from 'node:os';
import { reexec } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

/** Files that take longest begin, so that none of them runs alone at the end. */
const LONGEST = [
  'scripts/release',
  'session/interleavings',
  'conformance/fuzzTurns',
  'changes/randomTurns',
  'changes/hostileTurns',
  'git/storeWindows',
  'conversation/attach',
  'model/memory',
  'store/faults',
];

const SUITES = {
  // The rules of the source: part of `npm run check`.
  house: { folder: 'test/unit/house' },
  // One file more at a time than there are cores, as many of them wait for processes.
  // Processes end early: each file leaves memory behind, and a large process starts others slowly:
  // in one that had run a hundred files, starting git or an agent took most of the time of its
  // test.
  unit: {
    folder: 'test/unit',
    without: 'test/unit/house/',
    jobs: availableParallelism() + 1,
    longest: LONGEST,
    batch: 14,
  },
  // Beside the others. One browser after another: what these tests press must come within half a
  // second.
  // These wait more than they work, as an answer must not count immediately. Each process builds
  // the panel and starts a browser.
  panel: { folder: 'test/webview', jobs: 3, batch: 4 },
};

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const tier = take('--slow') ? 'slow' : 'fast';
  const at = args.indexOf('--only');
  const names = at < 0 ? ['unit', 'panel'] : args.splice(at, 2)[1].split(',');
  process.exitCode = await runSuites({ suites: names.map((name) => SUITES[name]), args, timeout: 60_000, tier });
}

function take(option) {
  const at = args.indexOf(option);
  return at >= 0 && args.splice(at, 1).length === 1;
}
