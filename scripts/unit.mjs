// The unit tests: bundled, then run by mocha in plain Node. `node scripts/unit.mjs [part of a path …] [-- mocha options]`.
import { reexec } from './lib/node24.mjs';
import { runSuite } from './lib/suite.mjs';

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  process.exitCode = await runSuite({ folders: ['test/unit', 'test/webview'], args, timeout: 20_000 });
}
