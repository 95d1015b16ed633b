// Bundles the programs that tests spawn (see scripts/lib/suite.mjs), for suites that do not run in
// mocha's own process.
import { reexec } from './lib/node24.mjs';
import { buildSupport } from './lib/suite.mjs';

if (!(await reexec(process.argv[1], process.argv.slice(2)))) await buildSupport();
