// Unit tests in plain Node, and panel tests in a browser: the fast tier. `node scripts/unit.mjs
// [--slow] [--only FOLDER] [part of a path …] [-- mocha options]`. `--slow`: the rest. `--only
// unit`, `panel` or `house`: only these. Parts of paths select files of all tiers.
import { availableParallelism } from 'node:os';
import { reexec } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

/** Started first, so that none of them runs alone at the end. */
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
  // Rules of the source: part of `npm run check`.
  house: { folder: 'test/unit/house' },
  // More files than cores, as many wait for processes. Processes are replaced early: files leave
  // memory behind, and large processes are slow to start others (git, agents).
  unit: {
    folder: 'test/unit',
    without: 'test/unit/house/',
    jobs: availableParallelism() + 1,
    longest: LONGEST,
    batch: 14,
  },
  // Mostly waiting. One browser each: what these tests press must take effect within half a second.
  // Starting a process is expensive, as it builds the panel and starts a browser.
  panel: { folder: 'test/webview', jobs: 3, batch: 4 },
};

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  const tier = take('--slow') ? 'slow' : 'fast';
  const at = args.indexOf('--only');
  const all = args.length > 0 && args[0] !== '--' ? ['house', 'unit', 'panel'] : ['unit', 'panel'];
  const names = at < 0 ? all : args.splice(at, 2)[1].split(',');
  process.exitCode = await runSuites({ suites: names.map((name) => SUITES[name]), args, timeout: 60_000, tier });
}

function take(option) {
  const at = args.indexOf(option);
  return at >= 0 && args.splice(at, 1).length === 1;
}
